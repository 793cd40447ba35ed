"""Whether everything that the YAML states has obligations: a statement that nobody proves must not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.render.obligation import Kind, Obligation
    from sonnx_clip.spec import ElementType, Spec
    from sonnx_clip.spec.entries import Constraint, Property

Wanted: TypeAlias = "tuple[str, str, Kind]"  # what is shown, of which subject, by which kind of obligation


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each statement of the YAML that lacks an obligation, and each theory without a smoke test.

    Args:
        spec: what is stated.
        obligations: all that there are, whether they are asked about or not.
    """
    known = tuple(obligations)
    there = {(id_, o.subject, o.kind) for o in known for id_ in o.shows}
    lacking = [
        f"no {kind} about {subject} shows {id_}"
        for id_, subject, kind in _wanted(spec)
        if (id_, subject, kind) not in there
    ]
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"no smoke test of {file} {theory}" for file, theory in asked if (file, theory) not in tested
    ]


def _wanted(spec: Spec) -> Iterator[Wanted]:
    for r in spec.restrictions:
        yield r.id, "restrictions", "equivalence"
        yield r.id, "restrictions", "theorem"
    for etype in spec.element_types:
        yield from _of_type(spec, etype)


def _of_type(spec: Spec, etype: ElementType) -> Iterator[Wanted]:
    subject, family = etype.id, etype.family
    every: tuple[Kind, ...] = ("instance", "theorem", "equivalence")
    # Reals are Why3's own, and integers compare as they are: only of floats is the encoding to be shown.
    for kind in every[: {"real": 1, "int": 2, "float": 3}[family]]:
        yield etype.id, subject, kind
    for case in spec.cases:
        yield case.id, subject, "theorem"
        yield case.id, subject, "equivalence"
    yield from ((c.id, subject, "theorem") for c in spec.classes_of(family))
    entries: list[Property | Constraint] = [*spec.properties, *spec.constraints]
    for entry in entries:
        if family in entry.families:
            yield entry.id, subject, "theorem"
        if family in entry.refuted_for:
            yield entry.id, subject, "refutation"
    yield from ((c.id, subject, "equivalence") for c in spec.constraints if family in c.families)
    if family == "float":
        yield from ((latitude.id, subject, "theorem") for latitude in spec.latitude)
    for example in spec.examples:
        if example.family == family and subject not in example.not_representable_in:
            yield example.id, subject, "theorem"
