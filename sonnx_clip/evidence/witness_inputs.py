"""The inputs of the witnesses of findings, as the address of the explorer holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from sonnx_clip.language import encode, show_bits
from sonnx_clip.spec.findings import Stands

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import FindingWitness


def witness_inputs(spec: Spec, others: Iterable[Spec] = ()) -> dict[str, list[str]]:
    """By finding, the fragment of each of its witnesses; empty where a witness is a line of a text.

    The ids of findings of the `others` begin with the name of their operator, as they do on the page.
    """
    inputs = {}
    for finding in spec.findings:
        inputs[finding.id] = [_fragment(spec, witness) for witness in finding.witnesses]
    for other in others:
        name = other.signature.function
        for finding in other.findings:
            fragments = [_fragment(other, witness, name) for witness in finding.witnesses]
            inputs[f"{name}:{finding.id}"] = fragments
    return inputs


def _fragment(spec: Spec, witness: FindingWitness, operator: str = "") -> str:
    if isinstance(witness, Stands):
        return ""
    etype = spec.element_type(witness.type)
    texts = witness.texts()
    # The explorer begins with the operator of the page, which needs no name.
    parts = [("operator", operator)] if operator else []
    parts.append(("type", etype.id))
    for operand in spec.signature.operands:
        text = texts.get(operand.id, "")
        # The bits of machine types: they name a NaN exactly.
        if text and etype.width is not None:
            text = show_bits(encode(text, etype), etype)
        parts.append((operand.key, text))
    return urlencode(parts)
