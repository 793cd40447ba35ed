"""What must be claimed of each entry of the YAML: the roles without which it would be stated and not shown.

It says nothing of names: a claim that is forgotten where claims are made is missed here by its role.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.claims.tensor_claims import speaking
from sonnx_clip.claims.written_claims import WRITTEN
from sonnx_clip.spec.claims import types_of_claim
from sonnx_clip.spec.evaluate import DECLARED_WORDS, readings_of_latitude
from sonnx_clip.spec.reading_classes import reading_classes
from sonnx_clip.spec.readings import differing, leaves_values_open, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Aspect, Claim, Role
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Constraint, Property, Reading


@dataclass(frozen=True)
class Demand:
    """So many claims on a subject must be about the first of these entries, and show all, in these roles."""

    subject: str
    about: tuple[str, ...]
    roles: tuple[Role, ...]
    aspect: Aspect = ""
    count: int = 1

    def __str__(self) -> str:
        """One line for people."""
        of = f" ({self.aspect})" if self.aspect else ""
        too_few = "no claim is" if self.count == 1 else f"fewer than {self.count} claims are"
        return f"{self.subject}: {' and '.join(self.about)}: {too_few} {' or '.join(self.roles)}{of}"


def unmet(spec: Spec, claims: Iterable[Claim]) -> list[Demand]:
    """The demands that too few claims meet."""
    return [demand for demand, found in meeting(spec, claims) if len(found) < demand.count]


def meeting(spec: Spec, claims: Iterable[Claim]) -> Iterator[tuple[Demand, list[Claim]]]:
    """Every demand, in the order of the file, with the claims that meet it."""
    there: dict[tuple[str, tuple[str, ...], Role, Aspect], list[Claim]] = {}
    for claim in claims:
        for aspect in {claim.aspect, ""}:
            there.setdefault((claim.subject, claim.shows[:1], claim.role, aspect), []).append(claim)
    known = spec.memo.setdefault(("demanded", ""), [])
    if not known:
        known += demanded(spec)
    for demand in known:
        ways = [(demand.subject, demand.about[:1], role, demand.aspect) for role in demand.roles]
        found = [claim for way in ways for claim in there.get(way, ())]
        yield demand, [claim for claim in found if set(demand.about) <= set(claim.shows)]


def demanded(spec: Spec) -> Iterator[Demand]:
    """Every demand, in the order of the file."""
    yield from _of_restrictions(spec)
    for etype in spec.element_types:
        yield from _of_meaning(spec, etype)
        yield from _of_statements(spec, etype)
        if etype.family == "float":
            yield from _of_latitude(spec, etype)
        yield from _of_readings(spec, etype)
        yield from _of_dialects(spec, etype)


_CASES: tuple[Role, ...] = ("complete", "disjoint", "results", "written")
_WITHOUT: tuple[Role, ...] = ("without bounds", "without min", "without max")
# How many claims a person has written: of the bits of a float without and with a definition of their own,
# and of conversions of bounds. A row that is lost there is missed here.
_BITS_OF_FLOATS, _BITS_OF_ROUTE, _BITS_DEFINED = (
    5,
    9,
    frozenset({"is_signed_zero", "is_infinite", "is_subnormal"}),
)
_CONVERTED = {"int": 9, "float64": 6, "float": 8}


def _of_restrictions(spec: Spec) -> Iterator[Demand]:
    """Each restriction; all together; and each word in which they are stated, as often as it is spoken of."""
    if not spec.restrictions:
        return
    for r in spec.restrictions:
        yield Demand("restrictions", (r.id,), ("written",))
        yield Demand("restrictions", (r.id,), ("independent",))
    yield Demand("restrictions", tuple(r.id for r in spec.restrictions), ("consistent",))
    spoken = Counter(speaking(spec, word) for word in (*DECLARED_WORDS, "is_scalar"))
    for ids, count in spoken.items():
        yield Demand("restrictions", ids, ("worded",), count=count)


def _of_meaning(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """The element type, its cases and their classes."""
    if etype.family != "real":
        defined = len(_BITS_DEFINED & {d.id for d in spec.definitions})
        by_hand = _BITS_OF_ROUTE if spec.operator in WRITTEN else 0
        count = 1 if etype.family == "int" else _BITS_OF_FLOATS + by_hand + defined
        yield Demand(etype.id, (etype.id,), ("encoding",), count=count)
    ids = tuple(case.id for case in spec.cases)
    roles = _CASES if spec.operator in WRITTEN else _CASES[:-1]
    yield from (Demand(etype.id, ids, (role,)) for role in roles)
    for case in spec.cases:
        yield Demand(etype.id, (case.id,), ("inhabited",))
        classes = spec.classes_of(etype.family, case.id)
        for c in classes:
            yield Demand(etype.id, (c.id,), ("inhabited",))
            parted: tuple[Role, ...] = ("complete", "disjoint") if len(classes) > 1 else ("complete",)
            yield from (Demand(etype.id, (case.id, c.id), (role,)) for role in parted)


def _of_statements(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Properties, constraints, examples and findings."""
    for p in spec.properties:
        if etype.family in p.families:
            yield from _proved_or_refuted(etype, p)
            if etype.family in p.refuted_for:
                yield Demand(etype.id, (p.id,), ("repaired inhabited",))
    for c in spec.constraints:
        if etype.family in c.families:
            yield Demand(etype.id, (c.id,), ("written",))
            yield from _proved_or_refuted(etype, c)
            yield from _of_tensors(etype, c)
    for id_ in _examples(spec, etype):
        yield Demand(etype.id, (id_,), ("example",))
    for finding in spec.findings:
        count = sum(etype in types_of_claim(spec, part) for part in finding.theorems)
        if count:
            yield Demand(etype.id, (finding.id,), ("holds",), count=count)


def _of_tensors(etype: ElementType, c: Constraint) -> Iterator[Demand]:
    if c.id == "C2":  # inverted and ordered bounds; the entry that refutes
        yield Demand(etype.id, (c.id,), ("step",), count=3 if etype.family in c.refuted_for else 2)
    if c.id == "C3":  # of the tags, and of the entries
        yield Demand(etype.id, (c.id,), ("holds",), count=2)


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
        yield Demand(etype.id, (reading.id, *(entry.id for entry in spec.latitude)), ("accepted",))


def _of_readings(spec: Spec, etype: ElementType) -> Iterator[Demand]:
    """Each reading answers, agrees with the cases where it says, and does or does not in each class."""
    for r in spec.readings:
        yield Demand(etype.id, (r.id,), ("answers",))
        yield from _beside_cases(spec, etype, r)
    for one, other in pairs(spec, etype.family):
        for aspect in _ASPECTS:
            yield Demand(etype.id, (one.id, other.id), ("agrees with", "differs from"), aspect)
        if differing(spec, etype, one, other, bitwise=True) is None:
            yield Demand(etype.id, (one.id, other.id), ("agrees with",), "back")


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
    dialects = [d for d in spec.whole_dialects if etype.id in d.element_types]
    yield from _by_hand(etype, dialects)
    for d in dialects:
        yield Demand(etype.id, (d.id,), ("agrees",), "values")
        yield Demand(etype.id, (d.id,), ("agrees",), "bits")
        reading = spec.reading(d.reading)
        if etype.family in reading.agrees and leaves_values_open(spec, etype, reading):
            yield Demand(etype.id, (d.id,), ("nowhere else",), "values")
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
        own = d.missing.of == "element" or not d.converts_to(etype.id)
        yield "defaults are limits" if own else "defaults convert"
        if etype.family == "float":
            yield "infinities"
        if d.printed_default is not None and d.bound_type == etype.id:
            yield "printed default"


def _by_hand(etype: ElementType, dialects: list[Dialect]) -> Iterator[Demand]:
    """What a person wrote of conversions of bounds, and of ScaleBias; each shows all dialects with it."""
    converting = tuple(d.id for d in dialects if d.converts_to(etype.id))
    if converting:
        count = _CONVERTED.get(etype.id, _CONVERTED[etype.family])
        yield Demand(etype.id, converting, ("converts",), count=count)
    scaled = tuple(d.id for d in dialects if d.scale_bias)
    if scaled and etype.family == "float":
        yield Demand(etype.id, scaled, ("scales",), count=5 if etype.id == "float16" else 4)


def _after(d: Dialect, before: Dialect, etype: ElementType) -> Iterator[Role]:
    yield "after"
    if etype.family in d.widens:
        yield "widened"
    if etype.id in d.changes:
        yield "changed"
    elif d.missing is not None and before.missing is not None:
        yield "after, without bounds"
