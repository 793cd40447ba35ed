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
from sonnx_clip.oracle.kernels import Array

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
    return Plan(_kernel_of_floats(lower, upper), lower, upper)


def _kernel_of_floats(lower: Array, upper: Array) -> Kernel:
    """The kernel for bounds that are no NaN and not inverted."""
    form = kernels.FORMATS[lower.dtype]
    low, high = lower.view(form.unsigned), upper.view(form.unsigned)
    if low == form.plus_zero:
        return kernels.limit_to_zeros if high == form.minus_zero else kernels.limit_by_plus_zero
    if low == form.minus_zero:
        return kernels.limit_to_zeros if high == form.plus_zero else kernels.limit_by_minus_zero
    if high == form.plus_zero:
        return kernels.limit_by_plus_zero
    if high == form.minus_zero:
        return kernels.limit_by_minus_zero
    return kernels.limit


def plan_floats_16(lower: Array, upper: Array) -> Plan:
    """Plan for float16 or bfloat16, on the bits; a bound that is NaN becomes an infinity."""
    form = kernels.FORMATS[lower.dtype]
    low, high = lower.view(form.unsigned), upper.view(form.unsigned)
    if np.bitwise_and(low, form.magnitude) > form.infinity:
        low = np.bitwise_or(form.infinity, form.minus_zero)
    if np.bitwise_and(high, form.magnitude) > form.infinity:
        high = form.infinity
    return Plan(_kernel_of_floats_16(low, high, form), low, high)


def _kernel_of_floats_16(low: Any, high: Any, form: kernels.Format) -> Kernel:
    """The kernel for the bits of two bounds that are no NaN."""
    if low < form.minus_zero and high < form.minus_zero:
        return kernels.fill_16 if high < low else kernels.limit_between_plus
    if low >= form.minus_zero and high >= form.minus_zero:
        return kernels.fill_16 if low < high else kernels.limit_between_minus
    if low < form.minus_zero:
        both = low == form.plus_zero and high == form.minus_zero
        return kernels.limit_to_zeros_16 if both else kernels.fill_16
    if low == form.minus_zero:
        return kernels.limit_to_zeros_16 if high == form.plus_zero else kernels.limit_from_minus_zero
    return kernels.limit_up_to_plus_zero if high == form.plus_zero else kernels.limit_across_zero


_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

PLANNERS: dict[np.dtype[Any], Callable[[Array, Array], Plan]] = {
    **{np.dtype(name): plan_integers for name in _INTEGERS},
    np.dtype(np.float32): plan_floats,
    np.dtype(np.float64): plan_floats,
    np.dtype(np.float16): plan_floats_16,
    np.dtype(ml_dtypes.bfloat16): plan_floats_16,
}
"""The planner of each element type of the profile."""
