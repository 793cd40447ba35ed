"""Orders of operands: a maximum and a minimum, in C or by the names of Arm's instructions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.language.values import float_bits, quiet_bit, sign_bit
from sonnx_clip.root.dtypes import Array, bits_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.language.types import ElementType

    Function: TypeAlias = "Callable[..., Array]"

End: TypeAlias = Literal["max", "min"]
_ARM = " (capitals: instructions of Arm)"
_COMPARISONS: dict[str, Callable[..., Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True)
class OrderStep:
    """A maximum or a minimum of a value and a bound.

    Args:
        text: the expression, with ``{value}`` and ``{bound}``.
        apply: computes it from the value and the bound.
        is_instruction: whether it is an instruction of Arm.
    """

    text: str
    apply: Function
    is_instruction: bool = False


def operand_orders(etype: ElementType) -> Iterator[tuple[str, Function]]:
    """Every maximum with every minimum, in both orders, in C or by the names of Arm's instructions."""
    for maximum, minimum in product(_steps("max", etype), _steps("min", etype)):
        lower_first = _words(maximum, "L", minimum, "M")
        # Both orders: with inverted bounds the one that comes last wins.
        yield lower_first, partial(_lower_bound_first, maximum, minimum)
        upper_first = _words(minimum, "M", maximum, "L")
        yield upper_first, partial(_upper_bound_first, maximum, minimum)


def _words(first: OrderStep, first_bound: str, second: OrderStep, second_bound: str) -> str:
    inner = first.text.format(value="X", bound=first_bound)
    outer = second.text.format(value="v", bound=second_bound)
    words = f"`v = {inner}; Y = {outer}`"
    if first.is_instruction or second.is_instruction:
        words += _ARM
    return words


def _lower_bound_first(
    maximum: OrderStep,
    minimum: OrderStep,
    x: Array,
    l: Array,
    m: Array,
) -> Array:
    not_below = maximum.apply(x, l)
    return minimum.apply(not_below, m)


def _upper_bound_first(
    maximum: OrderStep,
    minimum: OrderStep,
    x: Array,
    l: Array,
    m: Array,
) -> Array:
    not_above = minimum.apply(x, m)
    return maximum.apply(not_above, l)


def _steps(end: End, etype: ElementType) -> Iterator[OrderStep]:
    """The ways to compute a maximum or a minimum; integers have one, since all give the same."""
    # The bound replaces the value where `value outside bound` holds.
    outside, inside = "<", ">"
    if end == "min":
        outside, inside = inside, outside
    yield _takes_bound(outside)
    if etype.family == "float":
        # These differ in ties, where zeros may have other signs, and for NaNs, where no comparison holds.
        yield _keeps_value(inside)  # the order of SSE
        yield _takes_bound(f"{outside}=")
        yield _keeps_value(f"{inside}=")
        yield _instruction(end, etype, number=False)
        yield _instruction(end, etype, number=True)


def _takes_bound(sign: str) -> OrderStep:
    compare = _COMPARISONS[sign]

    def apply(value: Array, bound: Array) -> Array:
        return np.asarray(np.where(compare(value, bound), bound, value))

    return OrderStep(f"{{value}} {sign} {{bound}} ? {{bound}} : {{value}}", apply)


def _keeps_value(sign: str) -> OrderStep:
    compare = _COMPARISONS[sign]

    def apply(value: Array, bound: Array) -> Array:
        return np.asarray(np.where(compare(value, bound), value, bound))

    return OrderStep(f"{{value}} {sign} {{bound}} ? {{value}} : {{bound}}", apply)


# --- Instructions of Arm ------------------------------------------------------------------------------------


def _instruction(end: End, etype: ElementType, *, number: bool) -> OrderStep:
    name = f"F{end.upper()}"
    if number:
        name += "NM"
    apply = partial(_computed_by_arm, end, etype, number=number)
    return OrderStep(f"{name}({{value}}, {{bound}})", apply, is_instruction=True)


def _computed_by_arm(
    end: End,
    etype: ElementType,
    value: Array,
    bound: Array,
    *,
    number: bool,
) -> Array:
    """FMAX and FMIN pass a NaN on; FMAXNM and FMINNM take a number before a quiet NaN; -0 is below +0."""
    # By bits: which NaN is passed on, and whether it signals, tells these instructions apart.
    bits = bits_type(etype.id)
    value_bits = value.view(bits)
    bound_bits = bound.view(bits)
    value_is_nan = np.isnan(value)
    bound_is_nan = np.isnan(bound)

    # Of two numbers: the greater or the lesser one.
    is_before = _is_before(value, bound, etype)
    takes_bound = is_before == (end == "max")
    if number:
        takes_bound = value_is_nan | (takes_bound & ~bound_is_nan)
    chosen = np.where(takes_bound, bound_bits, value_bits)

    # Whether the result is a NaN at all.
    quiet = bits.type(quiet_bit(float_bits(etype)))
    value_is_quiet = (value_bits & quiet) != 0
    bound_is_quiet = (bound_bits & quiet) != 0
    value_signals = value_is_nan & ~value_is_quiet
    bound_signals = bound_is_nan & ~bound_is_quiet
    gives_nan = value_is_nan | bound_is_nan
    if number:  # a quiet NaN beside a number is ignored
        both_are_nan = value_is_nan & bound_is_nan
        gives_nan = value_signals | bound_signals | both_are_nan

    # A signalling NaN comes before a quiet one, then the first operand; the result is quiet.
    takes_value = value_signals | (value_is_nan & ~bound_signals)
    nan_bits = np.where(takes_value, value_bits, bound_bits) | quiet
    result = np.where(gives_nan, nan_bits, chosen)
    return result.astype(bits).view(value.dtype)


def _is_before(value: Array, bound: Array, etype: ElementType) -> Array:
    """Whether a value is less than a bound, -0 before +0."""
    bits = bits_type(etype.id)
    sign = bits.type(sign_bit(float_bits(etype)))
    value_bits = value.view(bits)
    is_negative = (value_bits & sign) != 0
    is_equal = value == bound
    before: Array = (value < bound) | (is_equal & is_negative)
    return before
