"""Every claim, in the order of the modules that are printed of them; the last are those of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.dialect_claims import dialect_claims, dialect_example_claims
from sonnx_clip.claims.meaning_claims import (
    WRITTEN,
    case_claims,
    class_claims,
    example_claims,
    latitude_claims,
    latitude_reading_claims,
    property_claims,
)
from sonnx_clip.claims.nodes import tensor_result_of
from sonnx_clip.claims.reading_claims import reading_claims
from sonnx_clip.claims.tensor_claims import (
    SUBJECT,
    constraint_claims,
    refutation_claims,
    restriction_claims,
)
from sonnx_clip.claims.written_claims import encoding_claims, integer_route_claims
from sonnx_clip.language.tree import Kind, Let
from sonnx_clip.spec.claims import types_of_claim

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
    return tuple(f"{etype.id}.{finding.goal(part)}" for etype in types_of_claim(spec, part))


def _claim(spec: Spec, etype: ElementType, finding: SourceFinding, part: Theorem) -> Claim:
    head = spec.head
    holds = Let(head.result, tensor_result_of(head), part.holds) if part.tensors else part.holds
    elements = (Binder(("F",), Kind.FLOAT), Binder((*head.all, "Z")))
    every = (Binder(head.operands, Kind.TENSOR),) if part.tensors else elements
    return Claim(
        etype.id, finding.goal(part), "holds", "finding", (finding.id,), part.says, holds, binders=every
    )


# --- Every claim, in the order of the modules that are printed of them --------------------------------------


def meaning_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What is claimed of the operator on single elements: the module `Meaning`."""
    yield from encoding_claims(spec, etype)
    yield from case_claims(spec, etype)
    yield from class_claims(spec, etype)
    yield from property_claims(spec, etype)
    yield from latitude_claims(spec, etype)
    yield from example_claims(spec, etype)


def claims_of(spec: Spec, subject: str) -> tuple[Claim, ...]:
    """Every claim on an element type, or on the restrictions, in the order of generated/why3.

    Args:
        spec: the specification.
        subject: the id of an element type, or ``restrictions``.
    """
    known = spec.memo.setdefault(("claims", ""), {})
    if subject not in known:
        of_type = () if subject == SUBJECT else tuple(_of_type(spec, spec.element_type(subject)))
        known[subject] = tuple(restriction_claims(spec)) if subject == SUBJECT else of_type
    found: tuple[Claim, ...] = known[subject]
    return found


def every_claim(spec: Spec) -> Iterator[Claim]:
    """Every claim on every subject."""
    for etype in spec.element_types:
        yield from claims_of(spec, etype.id)
    yield from claims_of(spec, SUBJECT)


def _of_type(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    yield from meaning_claims(spec, etype)
    yield from constraint_claims(spec, etype)
    yield from refutation_claims(spec, etype)
    yield from reading_claims(spec, etype)
    yield from latitude_reading_claims(spec, etype)
    yield from dialect_claims(spec, etype)
    yield from dialect_example_claims(spec, etype)
    yield from finding_claims(spec, etype, tensors=False)
    yield from finding_claims(spec, etype, tensors=True)
    if spec.operator in WRITTEN:
        yield from integer_route_claims(spec, etype)
