"""What findings claim, in each element type that they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.nodes import operator_of
from sonnx_clip.claims.tensor_claims import all_tensors, of_tensors
from sonnx_clip.language.tree import Kind
from sonnx_clip.spec.claim_names import types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding, Theorem


def finding_claims(spec: Spec, etype: ElementType, *, tensors: bool) -> Iterator[Claim]:
    """What is claimed of single elements, or of tensors, in the order of the file."""
    for finding in spec.findings:
        for part in finding.theorems:
            if part.tensors == tensors and etype in types_of_claim(spec, part):
                yield _claim(spec, etype, finding, part)


def obligations_of_theorem(spec: Spec, finding: SourceFinding, part: Theorem) -> tuple[str, ...]:
    """The ids of the obligations that show a theorem of a finding, one for each element type."""
    return tuple(named.of(etype.id, finding.goal(part)) for etype in types_of_claim(spec, part))


def _claim(spec: Spec, etype: ElementType, finding: SourceFinding, part: Theorem) -> Claim:
    holds = of_tensors(spec, part.holds) if part.tensors else part.holds
    elements = (Binder(("F",), Kind.FLOAT), operator_of(spec).every(spec.head.result, "Z"))
    every = (all_tensors(spec),) if part.tensors else elements
    return Claim(
        etype.id, finding.goal(part), "holds", "finding", (finding.id,), part.says, holds, binders=every
    )
