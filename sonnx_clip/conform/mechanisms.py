"""What a runtime may compute in the place of Clip: each candidate decides whether it gives an answer.

Candidates are the readings, orders of two comparisons, the mechanisms and the wrong operators of the
specification, and readings and orders of operands without subnormals. A candidate that explains deviations
must also give the right answers beside them: see `causes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.conform.evaluated_oracle import ArrayEvaluator
from sonnx_clip.conform.operand_orders import operand_orders
from sonnx_clip.language.show import show
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.root.dtypes import Array, bits_type, from_bits, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.conform.answers import Answers
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.spec.entries import Mechanism

    Allows: TypeAlias = Callable[[Answers], Array]

_NO_SUBNORMALS = "without subnormals"


@dataclass(frozen=True)
class Candidate:
    """A possible cause of deviations.

    Args:
        words: what it is, as a report says it.
        allows: whether it gives each of some answers.
        reading: the id, if it is a reading.
        is_mechanism: whether it is a mechanism of the specification.
    """

    words: str
    allows: Allows
    reading: str = ""
    is_mechanism: bool = False


def candidates(
    of: CheckedOperator, etype: ElementType, form: ModelForm | None = None
) -> Sequence[Candidate]:
    """The candidates for an element type, the likeliest first; in a form of a model without a bound, more."""
    found = list(_of_type(of, etype))
    if form is not None and form.given != "both":
        found = [*_of_absent_bounds(of, etype, form), *found]
    return found


@cache
def _of_type(of: CheckedOperator, etype: ElementType) -> tuple[Candidate, ...]:
    return (
        *_of_readings(of, etype),
        *_of_mechanisms(of, etype),
        *_of_orders(etype),
        *_of_wrong_operators(of, etype),
        *_without_subnormals(of, etype),
    )


# --- Readings, orders of two comparisons, wrong operators ---------------------------------------------------


def _of_readings(of: CheckedOperator, etype: ElementType) -> Iterator[Candidate]:
    for id_, allows in of.oracle.READINGS[etype.family].items():
        yield Candidate(f"the reading {id_}", partial(_allowed, allows), reading=id_)


def _allowed(allows: Callable[..., Any], answers: Answers) -> Array:
    with np.errstate(all="ignore"):
        return np.broadcast_to(allows(*answers.values, answers.result), answers.got.shape)


def _of_orders(etype: ElementType) -> Iterator[Candidate]:
    for words, function in operand_orders(etype):
        yield Candidate(words, partial(_gives, function))


def _gives(function: Callable[..., Array], answers: Answers) -> Array:
    with np.errstate(all="ignore"):  # NaNs are compared
        return answers.are(function(*answers.values))


def _of_wrong_operators(of: CheckedOperator, etype: ElementType) -> Iterator[Candidate]:
    """The wrong operators of the specification that are no variant of a definition."""
    evaluator = ArrayEvaluator(of.spec, etype)
    for wrong in of.spec.wrong_clips:
        if wrong.of is None:
            words = f"the wrong operator {wrong.id}: {wrong.title}"
            yield Candidate(words, partial(_gives, partial(evaluator.element, wrong.is_)))


def _without_subnormals(of: CheckedOperator, etype: ElementType) -> Iterator[Candidate]:
    """Readings and orders whose operands lose their subnormals: what processors do that flush them."""
    if not isinstance(etype.bits, FloatBits):
        return
    for candidate in (*_of_readings(of, etype), *_of_orders(etype)):
        if candidate.reading != "cases":  # a mechanism of the specification
            words = f"as if subnormals were zeros, with {candidate.words}"
            yield Candidate(words, partial(_of_flushed, candidate.allows))


def _of_flushed(allows: Allows, answers: Answers) -> Array:
    flushed = [flush(operand, answers.etype) for operand in answers.values]
    bits = tuple(operand.view(answers.got.dtype) for operand in flushed)
    return allows(replace(answers, operands=bits))


# --- Mechanisms ---------------------------------------------------------------------------------------------


def _of_mechanisms(of: CheckedOperator, etype: ElementType) -> Iterator[Candidate]:
    for mechanism in of.spec.mechanisms:
        if etype.family in mechanism.families and mechanism.absent is None:
            for allows in _functions_of(of, etype, mechanism):
                yield Candidate(mechanism.title, allows, is_mechanism=True)


def _functions_of(
    of: CheckedOperator, etype: ElementType, mechanism: Mechanism
) -> Iterator[Allows]:
    """Ways to compute a mechanism: more than one where a conversion back may overflow in several ways."""
    evaluator = ArrayEvaluator(of.spec, etype)
    if mechanism.is_ is not None:
        yield partial(_gives, partial(evaluator.element, mechanism.is_))
    elif mechanism.returns is not None:
        yield partial(_fulfils, evaluator, mechanism.returns)
    elif mechanism.bounds is not None:
        yield partial(_gives, partial(_with_limited_bounds, of, etype, mechanism.bounds))
    elif mechanism.compares is not None:
        yield partial(_gives, partial(_compared_as, of, etype, mechanism.compares))
    elif mechanism.computes in _ELEMENT_TYPES:
        for back in (_saturated, _least_on_overflow):
            function = partial(_computed_in, of, of.spec.element_type(mechanism.computes), back)
            yield partial(_gives, function)
    elif mechanism.computes is not None:
        yield partial(_gives, partial(_computed_on, of, etype, mechanism.computes))


def _fulfils(evaluator: ArrayEvaluator, returns: Any, answers: Answers) -> Array:
    names = (*evaluator.spec.head.operands, evaluator.spec.head.result)
    found = evaluator.all_hold((returns,), names, (*answers.values, answers.result))
    return np.broadcast_to(found, answers.got.shape)


def _with_limited_bounds(
    of: CheckedOperator, etype: ElementType, limitation: str, *operands: Array
) -> Array:
    """The result with bounds that are limited: each to the nearest number in a range."""
    low, high = _limits(of, etype, limitation)
    tensors = len(of.spec.head.tensors)
    limited = [np.where(operand > high, high, operand) for operand in operands[tensors:]]
    limited = [np.where(operand < low, low, operand).astype(low.dtype) for operand in limited]
    return np.asarray(of.result(*operands[:tensors], *limited))


def _limits(of: CheckedOperator, etype: ElementType, limitation: str) -> tuple[Array, Array]:
    """The least and the greatest number of a limitation, as values of the element type."""
    if limitation == "finite":
        ends = [int(encode(text, etype)) for text in ("lowest", "highest")]
        return from_bits(ends[0], etype.id), from_bits(ends[1], etype.id)
    narrow = of.spec.element_type(limitation.rpartition(" ")[2])
    dtype = numpy_type(etype.id)
    with np.errstate(over="ignore"):
        values = [from_bits(int(encode(text, narrow)), narrow.id) for text in ("lowest", "highest")]
        if narrow.family == "int" and etype.family == "int":
            least, greatest = integer_range(etype)
            numbers = [min(max(int(value), least), greatest) for value in values]
            return np.array(numbers[0], dtype), np.array(numbers[1], dtype)
        if etype.family == "int":  # floats limit integers of up to 64 bits only if they are narrow
            least, greatest = integer_range(etype)
            numbers = [min(max(int(float(value)), least), greatest) for value in values]
            return np.array(numbers[0], dtype), np.array(numbers[1], dtype)
        return values[0].astype(dtype), values[1].astype(dtype)


def read_as(of: CheckedOperator, violations: Answers) -> Iterator[Candidate]:
    """A bound that is read as another number: the greatest or the least of some wrong answers."""
    if not len(violations) or of.scalars != 2 or of.tensors != 1:
        return
    numbers = violations.result[violations.result == violations.result]
    for value in dict.fromkeys([*np.sort(numbers)[-1:].tolist(), *np.sort(numbers)[:1].tolist()]):
        number = np.array(value, numbers.dtype)
        shown = show(int(number.view(violations.got.dtype)), violations.etype)
        reads_max = partial(_with_bounds, of, None, number)
        reads_min = partial(_with_bounds, of, number, None)
        yield Candidate(f"max is read as {shown}", partial(_gives, reads_max), is_mechanism=True)
        yield Candidate(f"min is read as {shown}", partial(_gives, reads_min), is_mechanism=True)


def _with_bounds(
    of: CheckedOperator, low: Array | None, high: Array | None, x: Array, l: Array, m: Array
) -> Array:
    """The result with another lower or upper bound."""
    lower = l if low is None else np.broadcast_to(low, l.shape)
    upper = m if high is None else np.broadcast_to(high, m.shape)
    return np.asarray(of.result(x, lower, upper))


# --- Conversions of operands --------------------------------------------------------------------------------

_ELEMENT_TYPES = ("float16", "bfloat16", "float32", "float64")


def flush(values: Array, etype: ElementType) -> Array:
    """Floats whose subnormals are zeros of their sign."""
    normal = from_bits(int(encode("smallest_normal", etype)), etype.id)
    sign = np.array(1 << ((etype.width or 0) - 1), bits_type(etype.id))
    bits = values.view(sign.dtype)
    with np.errstate(invalid="ignore"):
        subnormal = np.abs(values) < normal
    flushed: Array = np.where(subnormal, bits & sign, bits).astype(sign.dtype).view(values.dtype)
    return flushed


def _converted(
    of: CheckedOperator, etype: ElementType, conversion: str, values: Array
) -> tuple[ElementType, Array]:
    """Values after a conversion, and their element type."""
    if conversion == _NO_SUBNORMALS:
        return etype, flush(values, etype)
    if conversion.startswith("low "):
        return etype, _low_bits(values, int(conversion.split()[1]), etype)
    if conversion.endswith(" integers"):
        prefix = "u" if conversion.startswith("unsigned") else ""
        other = of.spec.element_type(f"{prefix}int{etype.width}")
        return other, values.view(numpy_type(other.id))
    other = of.spec.element_type(conversion)
    with np.errstate(all="ignore"):
        return other, values.astype(numpy_type(other.id))


def _low_bits(values: Array, width: int, etype: ElementType) -> Array:
    """Integers of which the lowest bits alone are left, with the sign that these have."""
    if (etype.width or 0) <= width:
        return values
    narrow = np.dtype(f"{'u' if values.dtype.kind == 'u' else 'i'}{width // 8}")
    return values.astype(narrow).astype(values.dtype)


def _computed_on(
    of: CheckedOperator, etype: ElementType, conversion: str, *operands: Array
) -> Array:
    """The result of converted operands of the same element type."""
    return np.asarray(
        of.result(*(_converted(of, etype, conversion, operand)[1] for operand in operands))
    )


def _compared_as(
    of: CheckedOperator, etype: ElementType, conversion: str, *operands: Array
) -> Array:
    """The operand that the cases select for converted operands, as it was before the conversion."""
    pairs = [_converted(of, etype, conversion, operand) for operand in operands]
    evaluator = ArrayEvaluator(of.spec, pairs[0][0])
    names = of.spec.head.operands
    chosen = np.zeros(operands[0].shape, bits_type(etype.id))
    for case in of.spec.cases:
        if case.result in names:
            held = evaluator.all_hold((case.when,), names, [converted for _, converted in pairs])
            original = operands[names.index(case.result)].view(chosen.dtype)
            chosen = np.where(held, original, chosen).astype(chosen.dtype)
    return chosen.view(operands[0].dtype)


def _computed_in(
    of: CheckedOperator,
    other: ElementType,
    back: Callable[[Array, np.dtype[Any]], Array],
    *operands: Array,
) -> Array:
    """The result of operands in another element type, converted back."""
    with np.errstate(all="ignore"):
        there = [operand.astype(numpy_type(other.id)) for operand in operands]
        return back(np.asarray(of.result(*there)), operands[0].dtype)


def _saturated(values: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as another type: what is too large becomes the greatest integer."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    numbers = values.astype(np.float64)
    # The greatest integer of 64 bits is no float64: its place is taken by 2 ** 63 or 2 ** 64.
    high = numbers >= float(info.max)
    low = numbers <= float(info.min)
    inside = np.where(high | low, 0, numbers).astype(dtype)
    return np.where(high, info.max, np.where(low, info.min, inside)).astype(dtype)


def _least_on_overflow(values: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as another type: what is too large becomes the least integer, as on x86."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    numbers = values.astype(np.float64)
    outside = (numbers >= float(info.max)) | (numbers < float(info.min))
    inside = np.where(outside, 0, numbers).astype(dtype)
    least = 1 << (8 * dtype.itemsize - 1) if dtype.kind == "u" else info.min
    return np.where(outside, least, inside).astype(dtype)


# --- Absent bounds ------------------------------------------------------------------------------------------


def _of_absent_bounds(
    of: CheckedOperator, etype: ElementType, form: ModelForm
) -> Iterator[Candidate]:
    """What an absent bound may be read as, with the comparisons of the dialect."""
    called = {operand.id: operand.onnx for operand in of.spec.operands}
    names = zip(of.spec.head.scalars, ("l", "m"), strict=True)
    absent = [scalar for scalar, name in names if name in form.missing_bounds]
    for mechanism in of.spec.mechanisms:
        read = {
            scalar: text for scalar, text in (mechanism.absent or {}).items() if scalar in absent
        }
        if not read or etype.family not in mechanism.families:
            continue
        places = {
            of.spec.head.operands.index(scalar): from_bits(int(encode(text, etype)), etype.id)
            for scalar, text in read.items()
        }
        subject = " and an absent ".join(called[scalar] for scalar in read)
        words = mechanism.title.replace("an absent bound", f"an absent {subject}")
        yield Candidate(
            words, partial(_gives, partial(_with_absent_read, of, places)), is_mechanism=True
        )


def _with_absent_read(of: CheckedOperator, read: dict[int, Array], *operands: Array) -> Array:
    replaced = [
        np.broadcast_to(read[place], operand.shape) if place in read else operand
        for place, operand in enumerate(operands)
    ]
    return np.asarray(of.result(*replaced))
