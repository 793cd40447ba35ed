"""Every claim of a specification, by group, in the order of generated/why3."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from sonnx_clip.claims import meaning_claims as meaning
from sonnx_clip.claims import reading_claims as readings
from sonnx_clip.claims.templates import SUBJECT
from sonnx_clip.spec.findings import SourceFinding, Theorem, types_of_claim
from sonnx_clip.spec.operators import has_written_theory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

MEANING: Final = ("encoding", "cases", "classes", "properties", "latitude", "examples")
READINGS: Final = ("readings", "contrasts", "latitude and readings")
_GROUPS: Mapping[str, Callable[[Spec, ElementType], Iterator[Claim]]] = {
    "encoding": meaning.format_claims,
    "cases": meaning.cases_claims,
    "classes": meaning.classes_claims,
    "properties": meaning.properties_claims,
    "latitude": meaning.latitude_claims,
    "examples": meaning.examples_claims,
    "readings": readings.reading_claims,
    "contrasts": readings.contrast_claims,
    "latitude and readings": meaning.latitude_and_readings_claims,
    "findings": meaning.findings_claims,
    "constraints": meaning.constraints_claims,
    "refuted constraints": meaning.refuted_constraints_claims,
    "dialects": readings.dialect_claims,
    "dialect examples": readings.dialect_example_claims,
    "findings on tensors": partial(meaning.findings_claims, tensors=True),
    "integer route": partial(meaning.format_claims, about="integer route"),
}
_NEED_THEORIES: Final = (
    "constraints",
    "refuted constraints",
    "dialects",
    "dialect examples",
    "findings on tensors",
    "integer route",
)
"""The groups whose claims use the theory that is written by hand for the operator, if there is one."""


def claims_of(spec: Spec, subject: str, *groups: str) -> tuple[Claim, ...]:
    """The claims of some groups, by default of all, on an element type (its id) or on ``restrictions``."""
    # Theories, pages, checks and mutants ask for the same claims: each group is made once.
    known: dict[str, tuple[Claim, ...]] = spec.memo.setdefault(("claims", subject), {})
    if subject == SUBJECT:  # in one group, which needs no name
        if not known:
            known[""] = tuple(meaning.restrictions_claims(spec))
        return known[""]
    skipped = () if has_written_theory(spec) else _NEED_THEORIES
    # In the order that is asked for: that of goals in a theory.
    claims: list[Claim] = []
    for name in groups or _GROUPS:
        if name in skipped:
            continue
        if name not in known:
            known[name] = tuple(_GROUPS[name](spec, spec.element_type(subject)))
        claims += known[name]
    return tuple(claims)


def every_claim(spec: Spec) -> Iterator[Claim]:
    """Every claim on every subject."""
    for subject in (*(etype.id for etype in spec.element_types), SUBJECT):
        yield from claims_of(spec, subject)


def obligations_of_theorem(spec: Spec, finding: SourceFinding, part: Theorem) -> tuple[str, ...]:
    """The ids of the obligations that show a theorem of a finding, one for each element type."""
    return tuple(f"{etype.id}.{finding.goal(part)}" for etype in types_of_claim(spec, part))


def unclaimed(spec: Spec) -> tuple[str, ...]:
    """The entries without claims, because no theory of tensors and dialects is written for the operator."""
    if has_written_theory(spec):
        return ()
    unclaimed_ids = []
    for section in (spec.restrictions, spec.constraints, spec.dialects, spec.dialect_examples):
        unclaimed_ids += [entry.id for entry in section]
    for finding in spec.findings:
        if any(part.tensors for part in finding.theorems):
            unclaimed_ids.append(finding.id)
    return tuple(unclaimed_ids)
