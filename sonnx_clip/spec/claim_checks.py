"""Checks of the claims of findings: element types, names, and what computes those about texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Call, Use, subtrees
from sonnx_clip.spec.claims import claim_names, types_of_claim
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.findings import Theorem, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec


def check_claims(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about claims that name what is not there in one of their types, or that nothing computes."""
    for index, entry in enumerate(spec.findings):
        kinds = {key_of(witness) for witness in entry.witnesses}
        for position, part in enumerate(entry.claim):
            way = ("findings", index, "claim", position)
            if isinstance(part, Theorem):
                yield from _types(spec, way, part)
            elif part.checked not in kinds:
                what = f"no witness of this finding is of the kind `{part.checked}`"
                yield Diagnostic((*way, "checked"), what, "it is computed by its witnesses alone")


def _types(spec: Spec, way: Way, part: Theorem) -> Iterator[Diagnostic]:
    """A claim names no dialect in a type that it does not take, and no conversion where there is none."""
    known = claim_names(spec)
    used = {node.id for node in subtrees(part.holds) if isinstance(node, Use)}
    converts = any(isinstance(node, Call) and node.function == "becomes" for node in subtrees(part.holds))
    for etype in types_of_claim(spec, part):
        for name in sorted(used & known.keys()):
            dialect = known[name].dialect
            if dialect is not None and etype.id not in spec.dialect(dialect).element_types:
                yield Diagnostic(
                    (*way, "holds"), f"`{dialect}` does not take {etype.id}, and `{name}` speaks of it"
                )
        for entry in (p for p in spec.properties if p.id in used and etype.family not in p.families):
            yield Diagnostic((*way, "holds"), f"`{entry.id}` does not speak of {etype.id}")
        for constraint in (c for c in spec.constraints if c.id in used and etype.family not in c.families):
            yield Diagnostic((*way, "holds"), f"`{constraint.id}` does not speak of {etype.id}")
        taking = [d for d in spec.whole_dialects if etype.id in d.element_types]
        if converts and not any(d.converts_to(etype.id) for d in taking):
            yield Diagnostic((*way, "holds"), f"no dialect converts a FLOAT to {etype.id}")
