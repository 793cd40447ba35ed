"""What findings claim, in each element type that they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.tensor_claims import ALL_TENSORS, of_tensors
from sonnx_clip.language.tree import Kind
from sonnx_clip.spec.claim_names import types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding, Theorem

_EVERY = (Binder(("F",), Kind.FLOAT), Binder(("X", "L", "M", "Y", "Z")))


def finding_claims(spec: Spec, etype: ElementType, *, tensors: bool) -> Iterator[Claim]:
    """What is claimed of single elements, or of tensors, in the order of the file."""
    for finding in spec.findings:
        for part in finding.theorems:
            if part.tensors == tensors and etype in types_of_claim(spec, part):
                yield _claim(etype, finding, part)


def obligations_of_theorem(spec: Spec, finding: SourceFinding, part: Theorem) -> tuple[str, ...]:
    """The ids of the obligations that show a theorem of a finding, one for each element type."""
    return tuple(named.of(etype.id, finding.goal(part)) for etype in types_of_claim(spec, part))


def _claim(etype: ElementType, finding: SourceFinding, part: Theorem) -> Claim:
    holds, every = (of_tensors(part.holds), (ALL_TENSORS,)) if part.tensors else (part.holds, _EVERY)
    return Claim(
        etype.id, finding.goal(part), "holds", "finding", (finding.id,), part.says, holds, binders=every
    )
