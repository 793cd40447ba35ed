"""Claims on cases and classes, properties, latitude and worked examples, in one element type."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.claims.nodes import (
    all_of,
    any_of,
    call,
    element,
    group,
    numbers,
    variables_of,
)
from sonnx_clip.claims.templates import expanded
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.evaluate import readings_of_latitude

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Property

CASES_COMPLETE, CASES_DISJOINT = "cases_complete", "cases_disjoint"
WRITTEN = frozenset({"Clip"})
"""The operators of which a person wrote theories and kernels."""


def _one_of(ids: Sequence[str]) -> str:
    """At least one of these cases or classes."""
    return " or ".join(ids)


def _no_two_of(ids: Sequence[str]) -> str:
    """No two of these cases or classes."""
    return " and ".join(f"not ({a} and {b})" for a, b in combinations(ids, 2))


def case_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and mean what a person wrote of Clip."""
    ids, result = [case.id for case in spec.cases], f"{spec.head.function}({', '.join(spec.head.operands)})"
    yield from expanded(
        spec, etype, "cases", cases=" ".join(ids), one_of=_one_of(ids), no_two_of=_no_two_of(ids),
        results=" and ".join(f"({c.id} implies identical({result}, {c.result}))" for c in spec.cases),
        by_hand=spec.operator in WRITTEN,
    )  # fmt: skip
    for case in spec.cases:
        at = numbers(case.inhabited_by.texts())
        yield from expanded(spec, etype, "inhabited", id=case.id, inhabited_at=at)


def class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes part each case, and each is inhabited."""
    for case in spec.cases:
        classes = spec.classes_of(etype.family, case.id)
        ids = [c.id for c in classes]
        yield from expanded(
            spec, etype, "classes", id=case.id, classes=" ".join(ids), one_of=_one_of(ids),
            no_two_of=_no_two_of(ids),
        )  # fmt: skip
        for c in classes:
            at = numbers(c.inhabited_by.texts())
            yield from expanded(spec, etype, "inhabited", id=c.id, inhabited_at=at)


def property_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property: proved, or refuted at its witness and proved under its condition."""
    for p in spec.properties:
        if etype.family not in p.families:
            continue
        refuted = etype.family not in p.holds_for
        yield from expanded(
            spec, etype, "properties", id=p.id, title=p.title, shown=" ".join((p.id, *p.shows)),
            bound=" ".join(variables_of(spec.head, p.claim)), claim=p.claim,
            refutation="counterexample" if p.ours else "refutation",
            condition=p.repaired[etype.family] if refuted else None,
            refuted_at=numbers(p.refuted_for[etype.family].texts()) if refuted else None,
            met_at=numbers(_numbers_that_meet(spec, etype, p)) if refuted else None,
        )  # fmt: skip


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, str]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in reversed(spec.classes_of(etype.family)):
        texts = c.inhabited_by.texts()
        texts[spec.head.second] = texts[spec.head.operands[0]]
        if ask(p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}):
            return texts
    what = f"no witness of a class meets the condition of {p.id} for {etype.family}: it may be empty"
    raise UserError(what, spec.file, "weaken the condition")


def _narrow(spec: Spec) -> str:
    """What latitude may accept at all: the value of the result, or the NaN of the first operand."""
    return f"A == Y or is_nan(A) and is_nan(Y) or is_nan(A) and is_nan({spec.head.operands[0]})"


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    for entry in spec.latitude if etype.family == "float" else ():
        yield from expanded(
            spec, etype, "latitude", id=entry.id, word=entry.word, when=entry.when, accepts=entry.accepts,
            inhabited_at=numbers(entry.inhabited_by.texts()), narrow=_narrow(spec),
        )  # fmt: skip


def latitude_reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the latitude of a float type has to do with the readings; the other types have none."""
    if etype.family != "float":
        return
    asked = ", ".join((*spec.head.operands, "A"))
    for entry in spec.latitude:
        yield from expanded(
            spec, etype, "latitude and readings", id=entry.id, word=entry.word, when=entry.when,
            accepts=entry.accepts, given_by=" ".join(entry.given_by),
            given_by_words=" or ".join(entry.given_by),
            given=" or ".join(f"{spec.reading(id_).predicate}({asked})" for id_ in entry.given_by),
        )  # fmt: skip
    granted = (group(all_of(group(entry.when), group(entry.accepts))) for entry in spec.latitude)
    accepted = any_of(call("identical", element("A"), element("Y")), *granted)
    for reading in readings_of_latitude(spec):
        yield from expanded(
            spec, etype, "latitude and readings", id=reading.id, word=reading.word, accepted=accepted,
            latitude=" ".join(entry.id for entry in spec.latitude), narrow=_narrow(spec),
            reads_a=f"{reading.predicate}({asked})",
        )  # fmt: skip


def example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            scalars, function = spec.head.scalars, spec.head.function
            rows = range(len(example.X))
            entries = (f"identical({function}({', '.join((f'_X{i}', *scalars))}), _Y{i})" for i in rows)
            yield from expanded(
                spec, etype, "examples", id=example.id, entries=" and ".join(entries),
                scalars=numbers({name: getattr(example, name) for name in scalars}),
                **numbers({f"X{i}": example.X[i] for i in rows}),
                **numbers({f"Y{i}": example.Y[i] for i in rows}),
            )  # fmt: skip
