"""Every claim, in the order of the modules that are printed of them; the last are those of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.meaning_claims import (
    WRITTEN,
    case_claims,
    class_claims,
    encoding_claims,
    example_claims,
    integer_route_claims,
    latitude_claims,
    latitude_reading_claims,
    property_claims,
)
from sonnx_clip.claims.nodes import tensor_result_of
from sonnx_clip.claims.reading_claims import dialect_claims, dialect_example_claims, reading_claims
from sonnx_clip.claims.tensor_claims import (
    SUBJECT,
    constraint_claims,
    refutation_claims,
    restriction_claims,
)
from sonnx_clip.language.tree import Kind, Let
from sonnx_clip.spec.findings import types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding, Theorem


def meaning_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What is claimed of the operator on single elements: the module `Meaning`."""
    yield from encoding_claims(spec, etype)
    yield from case_claims(spec, etype)
    yield from class_claims(spec, etype)
    yield from property_claims(spec, etype)
    yield from latitude_claims(spec, etype)
    yield from example_claims(spec, etype)


def finding_claims(spec: Spec, etype: ElementType, *, tensors: bool) -> Iterator[Claim]:
    """What findings claim of single elements, or of tensors, in the order of the file."""
    of_elements = (Binder(("F",), Kind.FLOAT), Binder((*spec.head.all, "Z")))
    every = (Binder(spec.head.operands, Kind.TENSOR),) if tensors else of_elements
    for finding in spec.findings:
        for part in finding.theorems:
            if part.tensors == tensors and etype in types_of_claim(spec, part):
                result = tensor_result_of(spec.head)
                holds = Let(spec.head.result, result, part.holds) if tensors else part.holds
                name, shows = finding.goal(part), (finding.id,)
                yield Claim(etype.id, name, "holds", "finding", shows, part.says, holds, binders=every)


def obligations_of_theorem(spec: Spec, finding: SourceFinding, part: Theorem) -> tuple[str, ...]:
    """The ids of the obligations that show a theorem of a finding, one for each element type."""
    return tuple(f"{etype.id}.{finding.goal(part)}" for etype in types_of_claim(spec, part))


def claims_of(spec: Spec, subject: str) -> tuple[Claim, ...]:
    """Every claim on an element type, or on the restrictions, in the order of generated/why3.

    Args:
        spec: the specification.
        subject: the id of an element type, or ``restrictions``.
    """
    known = spec.memo.setdefault(("claims", ""), {})
    if subject not in known:
        of_type = subject != SUBJECT
        made = _of_type(spec, spec.element_type(subject)) if of_type else restriction_claims(spec)
        known[subject] = tuple(made)
    found: tuple[Claim, ...] = known[subject]
    return found


def every_claim(spec: Spec) -> Iterator[Claim]:
    """Every claim on every subject."""
    for subject in (*(etype.id for etype in spec.element_types), SUBJECT):
        yield from claims_of(spec, subject)


def _of_type(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    yield from meaning_claims(spec, etype)
    yield from reading_claims(spec, etype)
    yield from latitude_reading_claims(spec, etype)
    yield from finding_claims(spec, etype, tensors=False)
    if spec.operator in WRITTEN:
        yield from constraint_claims(spec, etype)
        yield from refutation_claims(spec, etype)
        yield from dialect_claims(spec, etype)
        yield from dialect_example_claims(spec, etype)
        yield from finding_claims(spec, etype, tensors=True)
        yield from integer_route_claims(spec, etype)


def unclaimed(spec: Spec) -> tuple[str, ...]:
    """The entries of which nothing is claimed: only of Clip has why3/ theories of tensors and dialects."""
    if spec.operator in WRITTEN:
        return ()
    findings = (f for f in spec.findings if any(part.tensors for part in f.theorems))
    sections = (spec.restrictions, spec.constraints, spec.dialects, spec.dialect_examples, findings)
    return tuple(entry.id for section in sections for entry in section)


def unshown(spec: Spec, claims: Iterable[Claim]) -> Iterator[str]:
    """A line for each entry without a claim in one of its element types."""
    shown, left = {(claim.subject, id_) for claim in claims for id_ in claim.shows}, unclaimed(spec)
    expected = [(SUBJECT, entry.id) for entry in spec.restrictions]
    for etype in spec.element_types:
        entries = (*spec.cases, *spec.readings, *(spec.latitude if etype.family == "float" else ()))
        of_family: tuple[Any, ...] = (*spec.classes, *spec.properties, *spec.constraints)
        findings = (f for f in spec.findings if any(etype in types_of_claim(spec, p) for p in f.theorems))
        examples = (e for e in spec.examples if etype.id not in e.not_representable_in)
        found = [
            *((etype,) if etype.width is not None else ()),
            *entries,
            *(entry for entry in (*of_family, *examples) if etype.family in entry.families),
            *(dialect for dialect in spec.dialects if etype.id in dialect.element_types),
            *(example for example in spec.dialect_examples if example.type == etype.id),
            *findings,
        ]
        expected += [(etype.id, entry.id) for entry in found]
    for subject, id_ in expected:
        if (subject, id_) not in shown and id_ not in left:
            yield f"{subject}: no claim shows {id_}"
