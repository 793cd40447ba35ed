"""Which kernel clips under which bounds. The planners are proved together with the kernels.

A planner takes min and max, of shape () and of one element type, and returns the kernel and the bounds to
call it with. It branches on the bounds alone: ``kernel(x, lower, upper, out)`` with what it returned is Clip
for every `x`, under the contract in `sonnx_clip.oracle.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np

from sonnx_clip.oracle import kernels
from sonnx_clip.oracle.float_formats import FORMATS, INT16, UINT16, Array, Format

Kernel: TypeAlias = Callable[[Array, Array, Array, Array], None]


class Plan(NamedTuple):
    """A kernel and the bounds to call it with: ``kernel(x, lower, upper, out)``."""

    kernel: Kernel
    lower: Any
    upper: Any


def plan_integers(lower: Array, upper: Array) -> Plan:
    """Plan for an integer type."""
    if upper < lower:
        return Plan(kernels.fill, lower, upper)
    return Plan(kernels.limit, lower, upper)


def plan_floats(lower: Array, upper: Array) -> Plan:
    """Plan for float32 or float64, by IEEE comparisons; a bound that is NaN becomes an infinity."""
    if np.isnan(lower):
        lower = lower.dtype.type(-np.inf)
    if np.isnan(upper):
        upper = upper.dtype.type(np.inf)
    if upper < lower:
        return Plan(kernels.fill, lower, upper)
    return _limit_floats(lower, upper)


def _limit_floats(lower: Array, upper: Array) -> Plan:
    """The plan for bounds that are no NaN and not inverted."""
    form = FORMATS[lower.dtype]
    low, high = lower.view(form.unsigned), upper.view(form.unsigned)
    if low == form.plus_zero:
        if high == form.minus_zero:
            return Plan(kernels.limit_to_plus_and_minus_zero, lower, upper)
        if lower.dtype in _CLIPPED_AS_INTEGERS:
            kernel = kernels.limit_from_plus_zero_as_integers
            return Plan(kernel, lower.view(form.signed), upper.view(form.signed))
        return Plan(kernels.limit_from_plus_zero, lower, upper)
    if low == form.minus_zero:
        if high == form.plus_zero:
            return Plan(kernels.limit_to_minus_and_plus_zero, lower, upper)
        kernel = kernels.limit_by_minus_zero
    elif high == form.plus_zero:
        kernel = kernels.limit_by_plus_zero
    elif high == form.minus_zero:
        kernel = kernels.limit_by_minus_zero
    else:
        kernel = kernels.limit
    return Plan(kernel, lower, upper)


# Not float64: NumPy has no fast clip of 64-bit integers.
_CLIPPED_AS_INTEGERS = frozenset({np.dtype(np.float32)})


def plan_floats_16(lower: Array, upper: Array) -> Plan:
    """Plan for float16 or bfloat16, on the bits; a bound that is NaN becomes an infinity."""
    form = FORMATS[lower.dtype]
    low, high = lower.view(UINT16), upper.view(UINT16)
    if np.bitwise_and(low, form.magnitude) > form.infinity:
        low = form.minus_infinity
    if np.bitwise_and(high, form.magnitude) > form.infinity:
        high = form.infinity
    if low < form.minus_zero:
        return _from_plus(low, high, form)
    if high < form.minus_zero:
        return _across_zero(low, high, form)
    return Plan(kernels.fill_16 if low < high else kernels.limit_between_minus, low, high)


def _from_plus(low: Any, high: Any, form: Format) -> Plan:
    """The plan for a lower bound with a plus sign."""
    if high < form.minus_zero:
        if high < low:
            return Plan(kernels.fill_16, low, high)
        return Plan(kernels.limit_between_plus, low.view(INT16), high.view(INT16))
    both_zero = low == form.plus_zero and high == form.minus_zero
    return Plan(kernels.limit_to_zeros_16 if both_zero else kernels.fill_16, low, high)


def _across_zero(low: Any, high: Any, form: Format) -> Plan:
    """The plan for a lower bound with a minus sign and an upper one with a plus sign."""
    lower, upper = np.subtract(low, form.first_nan).view(INT16), np.subtract(high, form.first_nan)
    if low == form.minus_zero:
        if high == form.plus_zero:
            return Plan(kernels.limit_to_zeros_16, low, high)
        return Plan(kernels.limit_from_minus_zero, lower, upper)
    if high == form.plus_zero:
        return Plan(kernels.limit_up_to_plus_zero, lower, upper)
    return Plan(kernels.limit_across_zero, lower, upper)


_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

PLANNERS: dict[np.dtype[Any], Callable[[Array, Array], Plan]] = {
    **{np.dtype(name): plan_integers for name in _INTEGERS},
    np.dtype(np.float32): plan_floats,
    np.dtype(np.float64): plan_floats,
    np.dtype(np.float16): plan_floats_16,
    np.dtype(ml_dtypes.bfloat16): plan_floats_16,
}
"""The planner of each element type of the profile."""

ONE_PASS = frozenset({kernels.fill, kernels.fill_16, kernels.limit})
"""The kernels that go over the entries once."""
