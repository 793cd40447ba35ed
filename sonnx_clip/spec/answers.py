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


def result_value(spec: Spec, etype: ElementType, *values: Value) -> Value:
    """What the cases say for one element of each operand; ValueError if none applies."""
    return evaluator(spec, etype).result(*values)


def case_of(spec: Spec, etype: ElementType, *values: Value) -> Case:
    """The case in which values of the operands lie."""
    return evaluator(spec, etype).case(*values)


def class_of(spec: Spec, etype: ElementType, *values: Value) -> ValueClass:
    """The class in which values of the operands lie; ValueError if there is not exactly one."""
    found = evaluator(spec, etype).classes(*values)
    if len(found) != 1:
        raise ValueError(f"{len(found)} classes hold {values} in {etype.id}: {[klass.id for klass in found]}")
    return found[0]


def latitudes_of(spec: Spec, etype: ElementType, *values: Value, answer: Value) -> tuple[Latitude, ...]:
    """The latitudes that accept an answer; an answer identical to the result needs none."""
    return tuple(evaluator(spec, etype).latitudes(values, answer))


def readings_of_latitude(spec: Spec) -> tuple[Reading, ...]:
    """The readings that some latitude names, in the order of the file."""
    named = {id_ for entry in spec.latitude for id_ in entry.given_by}
    return tuple(reading for reading in spec.readings if reading.id in named)
