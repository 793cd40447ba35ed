"""What the specification says of one triple: result, case, class, latitude."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.spec.evaluate import Evaluator

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.entries import Case, Latitude, Reading, ValueClass
    from sonnx_clip.spec.model import Spec


def evaluator(spec: Spec, etype: ElementType) -> Evaluator:
    """The evaluator of a specification in an element type, made once for each."""
    found: Evaluator | None = spec.memo.get(("evaluator", etype.id))
    if found is None:
        found = spec.memo["evaluator", etype.id] = Evaluator(spec, etype)
    return found


def clip_value(spec: Spec, etype: ElementType, x: Value, l: Value, m: Value) -> Value:
    """What the cases say for one element; ValueError if none applies."""
    return evaluator(spec, etype).clip(x, l, m)


def case_of(spec: Spec, etype: ElementType, x: Value, l: Value, m: Value) -> Case:
    """The case in which three values lie."""
    return evaluator(spec, etype).case(x, l, m)


def class_of(spec: Spec, etype: ElementType, x: Value, l: Value, m: Value) -> ValueClass:
    """The class in which three values lie; ValueError if there is not exactly one."""
    found = evaluator(spec, etype).classes(x, l, m)
    if len(found) != 1:
        raise ValueError(
            f"{len(found)} classes hold {(x, l, m)} in {etype.id}: {[klass.id for klass in found]}"
        )
    return found[0]


def latitudes_of(
    spec: Spec, etype: ElementType, x: Value, l: Value, m: Value, *, answer: Value
) -> tuple[Latitude, ...]:
    """The latitudes that accept an answer; an answer identical to the result needs none."""
    return tuple(evaluator(spec, etype).latitudes(x, l, m, answer))


def readings_of_latitude(spec: Spec) -> tuple[Reading, ...]:
    """The readings that some latitude names, in the order of the file."""
    named = {id_ for entry in spec.latitude for id_ in entry.given_by}
    return tuple(reading for reading in spec.readings if reading.id in named)
