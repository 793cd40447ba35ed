"""The inputs of the witnesses of findings, as the address of the explorer holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from sonnx_clip.language import encode, show_bits
from sonnx_clip.spec.findings import Stands

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import FindingWitness


def witness_inputs(spec: Spec) -> dict[str, list[str]]:
    """By finding, the fragment of each of its witnesses; empty where a witness is a line of a text."""
    return {
        finding.id: [_fragment(spec, witness) for witness in finding.witnesses]
        for finding in spec.findings
    }


def _fragment(spec: Spec, witness: FindingWitness) -> str:
    if isinstance(witness, Stands):
        return ""
    etype, texts = spec.element_type(witness.type), witness.texts()
    parts = [("type", etype.id)]
    for operand in spec.operands:
        text = texts.get(operand.id, "")
        if text and etype.width is not None:
            text = show_bits(encode(text, etype), etype)
        parts.append((operand.key, text))
    return urlencode(parts)
