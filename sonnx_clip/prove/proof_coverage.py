"""Whether everything that the YAML states has its obligations: what nobody proves must not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.backends.cast_goals import cast_names
from sonnx_clip.backends.integer_route import INTEGER_ROUTE
from sonnx_clip.backends.numpy_kernels import goal_name, kernels_of
from sonnx_clip.backends.scale_goals import PROVED_OF_SCALE, REFUTED_OF_CAST, REFUTED_OF_SCALE
from sonnx_clip.claims.goal_names import class_goal
from sonnx_clip.spec.answers import readings_of_latitude
from sonnx_clip.spec.claim_names import obligations_of_theorem
from sonnx_clip.spec.reading_classes import reading_classes
from sonnx_clip.spec.readings import leaves_values_open, pairs
from sonnx_clip.trace.tracing import traced_kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.obligation import Kind, Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Constraint, Property

Wanted: TypeAlias = "tuple[str, str, Kind]"  # a goal, the statement that it has to show, its kind


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each statement of the YAML that lacks an obligation, and each theory without a smoke test.

    Args:
        spec: what is stated.
        obligations: all that there are, whether they are asked about or not.
    """
    known = tuple(obligations)
    there = {(o.id, shown, o.kind) for o in known for shown in o.shows}
    lacking = [
        f"{id_}: {shown} is stated, and no {kind} of this id shows it"
        for id_, shown, kind in _wanted(spec)
        if (id_, shown, kind) not in there
    ]
    lacking += _pairs(spec, there)
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"{file} {theory}: no smoke test" for file, theory in asked if (file, theory) not in tested
    ]


def _wanted(spec: Spec) -> Iterator[Wanted]:
    for r in spec.restrictions:
        yield f"restrictions.{r.id}_is_written", r.id, "equivalence"
        yield f"restrictions.{r.id}_independent", r.id, "theorem"
        yield "restrictions.consistent", r.id, "theorem"
    for etype in spec.element_types:
        for goal, shown, kind in (*_of_meaning(spec, etype), *_of_statements(spec, etype)):
            yield f"{etype.id}.{goal}", shown, kind
    yield from _of_findings(spec)
    yield from _of_numpy(spec)


def _of_findings(spec: Spec) -> Iterator[Wanted]:
    """Each theorem that a finding claims, in each element type that it names."""
    for finding in spec.findings:
        for part in finding.theorems:
            for id_ in obligations_of_theorem(spec, finding, part):
                yield id_, finding.id, "finding"


def _of_numpy(spec: Spec) -> Iterator[Wanted]:
    """Each kernel that a planner of NumPy chooses, that no way is forgotten, and that none is dead."""
    for traced in traced_kernels(tuple(spec.element_types)):
        etype = traced.etype
        for what in (*kernels_of(traced), "ways_complete", "ways_inhabited"):
            for shown in (etype.id, *(case.id for case in spec.cases)):
                yield f"{etype.id}.{goal_name(traced, what)}", shown, "refinement"
    for etype in spec.types_of("float"):
        for name in INTEGER_ROUTE:
            yield f"{etype.id}.integer_route_{name}", etype.id, "theorem"


def _of_meaning(spec: Spec, etype: ElementType) -> Iterator[Wanted]:
    """The element type, its cases, classes and latitude."""
    yield "total", etype.id, "instance"
    if etype.family != "real":
        yield "extremes", etype.id, "theorem"
    if etype.family == "float":
        yield from ((f"encoding_{name}", etype.id, "equivalence") for name in ("nan", "le", "lt", "eq"))
        yield from _of_latitude(spec)
    for case in spec.cases:
        if etype.c is not None:
            yield "c_clip", case.id, "refinement"
        for goal in ("cases_complete", "cases_disjoint", "cases_results", f"{case.id}_inhabited"):
            yield goal, case.id, "theorem"
        yield "clip_is_cases", case.id, "equivalence"
        classes = spec.classes_of(etype.family, case.id)
        for c in classes:
            yield f"{c.id}_inhabited", c.id, "theorem"
            yield f"classes_of_{case.id}_complete", c.id, "theorem"
            if len(classes) > 1:
                yield f"classes_of_{case.id}_disjoint", c.id, "theorem"


def _of_latitude(spec: Spec) -> Iterator[Wanted]:
    """Each latitude is used, narrow, and what the readings that it names give, with nothing else."""
    for entry in spec.latitude:
        for goal in ("inhabited", "is_narrow", "is_given"):
            yield f"{entry.word}_{goal}", entry.id, "theorem"
        for reading in readings_of_latitude(spec):
            yield f"{reading.word}_is_accepted", entry.id, "theorem"


def _of_statements(spec: Spec, etype: ElementType) -> Iterator[Wanted]:
    """Properties, constraints and examples."""
    for p in spec.properties:
        if etype.family in p.families:
            yield from _proved_or_refuted(p, etype.family)
    for c in spec.constraints:
        if etype.family in c.families:
            yield f"{c.id}_is_written", c.id, "equivalence"
            yield from _proved_or_refuted(c, etype.family)
    yield from _of_readings(spec, etype)
    yield from _of_dialects(spec, etype)
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            yield f"example_{example.id}", example.id, "theorem"
    for of_dialect in spec.dialect_examples:
        if of_dialect.type == etype.id:
            yield f"example_{of_dialect.id}", of_dialect.id, "theorem"


def _proved_or_refuted(entry: Property | Constraint, family: FamilyId) -> Iterator[Wanted]:
    if family in entry.refuted_for:
        yield f"{entry.id}_refuted", entry.id, "refutation"
        yield f"{entry.id}_repaired", entry.id, "theorem"
    else:
        yield entry.id, entry.id, "theorem"


def _pairs(spec: Spec, there: set[Wanted]) -> Iterator[str]:
    """Each two that are compared are the same function or not: by value and by bits, one is an obligation."""
    for etype in spec.element_types:
        for one, other in pairs(spec, etype.family):
            for kind in ("values", "bits"):
                name = f"{etype.id}.{one.word}_and_{other.word}"
                same: Wanted = (f"{name}_same_{kind}", one.id, "equivalence")
                differ: Wanted = (f"{name}_other_{kind}", one.id, "theorem")
                back: Wanted = (f"{name}_same_bits_back", one.id, "equivalence")
                if not {same, differ} & there or (kind == "bits" and same in there and back not in there):
                    yield f"{name}: whether they allow the same {kind} is not said"


def _of_readings(spec: Spec, etype: ElementType) -> Iterator[Wanted]:
    """Each reading answers, agrees with the cases where it says, and does or does not in each class."""
    for r in spec.readings:
        for goal in ("answers", "agrees", "agrees_bitwise"):
            yield f"{r.word}_{goal}", r.id, "theorem"
        if etype.family in r.agrees:
            yield f"{r.word}_differs", r.id, "theorem"
            if leaves_values_open(spec, etype, r):
                yield f"{r.word}_agrees_nowhere_else", r.id, "theorem"
        if etype.family in r.agrees_bitwise:
            yield f"{r.word}_agrees_bitwise_nowhere_else", r.id, "theorem"
            yield f"{r.word}_differs_bitwise", r.id, "theorem"
    named = {r.id: r for r in spec.readings}
    for found in reading_classes(spec, etype.family):
        for bitwise in (False, True):
            yield (
                class_goal(named[found.reading], etype.family, found, bitwise=bitwise),
                found.reading,
                "theorem",
            )


def _of_dialects(spec: Spec, etype: ElementType) -> Iterator[Wanted]:
    """Each dialect beside SONNX, without bounds, after the one before it, and what its conversions do."""
    before: dict[str, Dialect] = {}
    for d in (d for d in spec.whole_dialects if etype.id in d.element_types):
        yield f"{d.word}_is_sonnx", d.id, "theorem"
        yield f"{d.word}_is_sonnx_bitwise", d.id, "theorem"
        if d.answers != d.reading:
            yield f"{d.word}_allows_its_oracle", d.id, "theorem"
        yield from _equivalence(spec, d, etype)
        if d.missing is not None:
            yield from _without_bounds(d, etype)
        if d.after in before:
            yield from _after(d, before[d.after], etype)
        if d.converts_to(etype.id):
            yield from ((f"cast_{name}", d.id, "theorem") for name in cast_names(etype))
        if d.scale_bias and etype.family == "float":
            yield from ((f"scale_{name}", d.id, "theorem") for name in PROVED_OF_SCALE)
            yield from ((f"scale_{name}", d.id, "refutation") for name in REFUTED_OF_SCALE)
            if d.converts_to(etype.id):
                yield f"scale_{REFUTED_OF_CAST}", d.id, "refutation"
        before[d.id] = d


def _equivalence(spec: Spec, d: Dialect, etype: ElementType) -> Iterator[Wanted]:
    if d.equivalence is not None:
        name = f"{d.word}_is_{spec.reading(d.equivalence.to).word}"
        if etype.family not in d.equivalence.where:
            yield name, d.id, "theorem"
            return
        yield f"{name}_refuted", d.id, "refutation"
        yield f"{name}_repaired", d.id, "theorem"
        yield f"{name}_nowhere_else", d.id, "theorem"


def _without_bounds(d: Dialect, etype: ElementType) -> Iterator[Wanted]:
    yield from ((f"{d.word}_without_{what}", d.id, "theorem") for what in ("bounds", "min", "max"))
    if d.missing is not None and (d.missing.of == "element" or not d.converts_to(etype.id)):
        yield f"{d.word}_defaults_are_limits", d.id, "theorem"
    if etype.family == "float":
        yield f"{d.word}_infinities", d.id, "theorem"
    if d.printed_default is not None and d.bound_type == etype.id:
        yield f"{d.word}_printed_default", d.id, "refutation"


def _after(d: Dialect, before: Dialect, etype: ElementType) -> Iterator[Wanted]:
    name = f"{d.word}_after_{before.word}"
    yield name, d.id, "theorem"
    if etype.family in d.widens:
        yield f"{name}_widened", d.id, "theorem"
    if etype.id in d.changes:
        yield f"{name}_changed", d.id, "refutation"
    elif d.missing is not None and before.missing is not None:
        yield f"{name}_without_bounds", d.id, "theorem"
