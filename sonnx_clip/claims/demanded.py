"""What must be claimed of each entry of the YAML: the roles without which it would be stated and not shown.

It says nothing of names: a claim that is forgotten where claims are made is missed here by its role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.spec.answers import readings_of_latitude
from sonnx_clip.spec.claim_names import types_of_claim
from sonnx_clip.spec.reading_classes import reading_classes
from sonnx_clip.spec.readings import leaves_values_open, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Aspect, Claim, Role
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Constraint, Property, Reading


@dataclass(frozen=True)
class Demand:
    """Some claim on a subject must show all of these entries, in one of these roles."""

    subject: str
    about: tuple[str, ...]
    roles: tuple[Role, ...]
    aspect: Aspect = ""

    def __str__(self) -> str:
        """One line for people."""
        of = f" ({self.aspect})" if self.aspect else ""
        return f"{self.subject}: {' and '.join(self.about)}: no claim is {' or '.join(self.roles)}{of}"


def unmet(spec: Spec, claims: Iterable[Claim]) -> list[Demand]:
    """The demands that no claim meets."""
    there: dict[tuple[str, Role, Aspect], list[frozenset[str]]] = {}
    for claim in claims:
        for aspect in {claim.aspect, ""}:
            there.setdefault((claim.subject, claim.role, aspect), []).append(frozenset(claim.shows))
    return [
        demand
        for demand in demanded(spec)
        if not any(
            shown.issuperset(demand.about)
            for role in demand.roles
            for shown in there.get((demand.subject, role, demand.aspect), ())
        )
    ]


def demanded(spec: Spec) -> Iterator[Demand]:
    """Every demand, in the order of the file."""
    for r in spec.restrictions:
        for role in _RESTRICTION:
            yield Demand("restrictions", (r.id,), (role,))
    for etype in spec.element_types:
        yield from _of_meaning(spec, etype)
        yield from _of_statements(spec, etype)
        if etype.family == "float":
            yield from _of_latitude(spec, etype)
        yield from _of_readings(spec, etype)
        yield from _of_dialects(spec, etype)


_RESTRICTION: tuple[Role, ...] = ("written", "independent", "consistent")
_CASE: tuple[Role, ...] = ("complete", "disjoint", "results", "written", "inhabited")
_WITHOUT: tuple[Role, ...] = ("without bounds", "without min", "without max")


def _of_meaning(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """The element type, its cases and their classes."""
    if etype.family != "real":
        yield Demand(etype.id, (etype.id,), ("encoding",))
    for case in spec.cases:
        yield from (Demand(etype.id, (case.id,), (role,)) for role in _CASE)
        classes = spec.classes_of(etype.family, case.id)
        for c in classes:
            roles: tuple[Role, ...] = ("inhabited", "complete", *(("disjoint",) if len(classes) > 1 else ()))
            yield from (Demand(etype.id, (c.id,), (role,)) for role in roles)


def _of_statements(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Properties, constraints, examples and findings."""
    for p in spec.properties:
        if etype.family in p.families:
            yield from _proved_or_refuted(etype, p)
    for c in spec.constraints:
        if etype.family in c.families:
            yield Demand(etype.id, (c.id,), ("written",))
            yield from _proved_or_refuted(etype, c)
    for id_ in _examples(spec, etype):
        yield Demand(etype.id, (id_,), ("example",))
    for finding in spec.findings:
        if any(etype in types_of_claim(spec, part) for part in finding.theorems):
            yield Demand(etype.id, (finding.id,), ("holds",))


def _examples(spec: Spec, etype: ElementType) -> Iterator[str]:
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            yield example.id
    yield from (of_dialect.id for of_dialect in spec.dialect_examples if of_dialect.type == etype.id)


def _proved_or_refuted(etype: ElementType, entry: Property | Constraint) -> Iterator[Demand]:
    roles: tuple[Role, ...] = ("refuted", "repaired") if etype.family in entry.refuted_for else ("holds",)
    yield from (Demand(etype.id, (entry.id,), (role,)) for role in roles)


def _of_latitude(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Each latitude is used, narrow, and what the readings that it names give, with nothing else."""
    for entry in spec.latitude:
        yield Demand(etype.id, (entry.id,), ("used",))
        yield Demand(etype.id, (entry.id,), ("narrow",))
        yield Demand(etype.id, (entry.id, *entry.given_by), ("given",))
        for reading in readings_of_latitude(spec):
            yield Demand(etype.id, (reading.id, entry.id), ("accepted",))


def _of_readings(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Each reading answers, agrees with the cases where it says, and does or does not in each class."""
    for r in spec.readings:
        yield Demand(etype.id, (r.id,), ("answers",))
        yield from _beside_cases(spec, etype, r)
    for one, other in pairs(spec, etype.family):
        for aspect in _ASPECTS:
            yield Demand(etype.id, (one.id, other.id), ("agrees with", "differs from"), aspect)


_ASPECTS: tuple[Aspect, ...] = ("values", "bits")


def _beside_cases(spec: Spec, etype: ElementType, r: Reading) -> Iterator[Demand]:
    for aspect in _ASPECTS:
        yield Demand(etype.id, (r.id,), ("agrees",), aspect)
        if etype.family not in r.regions(bitwise=aspect == "bits"):
            continue
        yield Demand(etype.id, (r.id,), ("differs",), aspect)
        if aspect == "bits" or leaves_values_open(spec, etype, r):
            yield Demand(etype.id, (r.id,), ("nowhere else",), aspect)
        for role in _in_classes(spec, etype.family, r, aspect):
            yield Demand(etype.id, (r.id,), (role,), aspect)


def _in_classes(spec: Spec, family: FamilyId, r: Reading, aspect: Aspect) -> Iterator[Role]:
    bitwise = aspect == "bits"
    found = [f.difference(bitwise=bitwise) for f in reading_classes(spec, family) if f.reading == r.id]
    if None in found:
        yield "agrees in classes"
    if any(difference is not None for difference in found):
        yield "differs in classes"


def _of_dialects(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Each dialect beside SONNX, without bounds, after the one before it, and what its conversions do."""
    before: dict[str, Dialect] = {}
    for d in (d for d in spec.whole_dialects if etype.id in d.element_types):
        yield Demand(etype.id, (d.id,), ("agrees",), "values")
        yield Demand(etype.id, (d.id,), ("agrees",), "bits")
        if d.answers != d.reading:
            yield Demand(etype.id, (d.id,), ("allows its oracle",))
        for role in _of_dialect(d, etype):
            yield Demand(etype.id, (d.id,), (role,))
        if d.equivalence is not None:
            refuted: tuple[Role, ...] = ("refuted", "repaired", "nowhere else")
            roles = refuted if etype.family in d.equivalence.where else ("equals",)
            yield from (Demand(etype.id, (d.id, d.equivalence.to), (role,)) for role in roles)
        if d.after in before:
            about = (d.id, d.after)
            yield from (Demand(etype.id, about, (role,)) for role in _after(d, before[d.after], etype))
        before[d.id] = d


def _of_dialect(d: Dialect, etype: ElementType) -> Iterator[Role]:
    if d.missing is not None:
        yield from _WITHOUT
        if d.missing.of == "element" or not d.converts_to(etype.id):
            yield "defaults are limits"
        if etype.family == "float":
            yield "infinities"
        if d.printed_default is not None and d.bound_type == etype.id:
            yield "printed default"
    if d.converts_to(etype.id):
        yield "converts"
    if d.scale_bias and etype.family == "float":
        yield "scales"


def _after(d: Dialect, before: Dialect, etype: ElementType) -> Iterator[Role]:
    yield "after"
    if etype.family in d.widens:
        yield "widened"
    if etype.id in d.changes:
        yield "changed"
    elif d.missing is not None and before.missing is not None:
        yield "after, without bounds"
