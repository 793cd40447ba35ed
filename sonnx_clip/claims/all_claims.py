"""Every claim, in the order of the modules that are printed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.case_claims import case_claims, class_claims
from sonnx_clip.claims.dialect_claims import dialect_claims
from sonnx_clip.claims.dialect_example_claims import dialect_example_claims
from sonnx_clip.claims.encoding_claims import encoding_claims
from sonnx_clip.claims.example_claims import example_claims
from sonnx_clip.claims.finding_claims import finding_claims
from sonnx_clip.claims.integer_route_claims import integer_route_claims
from sonnx_clip.claims.property_claims import latitude_claims, latitude_reading_claims, property_claims
from sonnx_clip.claims.reading_claims import reading_claims
from sonnx_clip.claims.reading_class_claims import reading_class_claims
from sonnx_clip.claims.restriction_claims import SUBJECT, restriction_claims
from sonnx_clip.claims.tensor_claims import constraint_claims, refutation_claims
from sonnx_clip.claims.written_claims import WRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec


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
    yield from reading_class_claims(spec, etype)
    yield from dialect_claims(spec, etype)
    yield from dialect_example_claims(spec, etype)
    yield from finding_claims(spec, etype, tensors=False)
    yield from finding_claims(spec, etype, tensors=True)
    if spec.operator in WRITTEN:
        yield from integer_route_claims(etype)
