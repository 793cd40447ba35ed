"""Conversions of operands that runtimes make on the way: other types, low bits, no subnormals, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.root.dtypes import Array, bits_type, from_bits, numpy_type

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_WITHOUT_SUBNORMALS = "without subnormals"
_FINITE = "finite"


def flushed(values: Array, etype: ElementType) -> Array:
    """Floats whose subnormals are zeros of their sign."""
    normal = constant_array("smallest_normal", etype)
    sign_bit = (etype.width or 0) - 1
    sign = np.array(1 << sign_bit, bits_type(etype.id))
    bits = values.view(sign.dtype)
    zeros = bits & sign
    with np.errstate(invalid="ignore"):  # signalling NaNs
        is_subnormal = np.abs(values) < normal
    result = np.where(is_subnormal, zeros, bits)
    return result.astype(sign.dtype).view(values.dtype)


def converted(
    spec: Spec,
    etype: ElementType,
    conversion: str,
    values: Array,
) -> tuple[ElementType, Array]:
    """Values after a conversion of the specification, and their element type."""
    if conversion == _WITHOUT_SUBNORMALS:
        return etype, flushed(values, etype)
    # "low 16 bits", "signed integers", "unsigned integers", or an element type.
    kind, _, operand = conversion.partition(" ")
    if kind == "low":
        width = int(operand.split()[0])
        return etype, _low_bits(values, width)
    if operand == "integers":
        prefix = "u" if kind == "unsigned" else ""
        integers = spec.element_type(f"{prefix}int{etype.width}")
        return integers, values.view(numpy_type(integers.id))
    other = spec.element_type(conversion)
    with np.errstate(all="ignore"):  # overflow, and NaNs
        return other, values.astype(numpy_type(other.id))


def _low_bits(values: Array, width: int) -> Array:
    """Integers of which the lowest bits alone are left, with the sign that these have."""
    if values.dtype.itemsize * 8 <= width:
        return values
    size = width // 8
    narrow = np.dtype(f"{values.dtype.kind}{size}")
    low_bits = values.astype(narrow)  # NumPy cuts the high ones off
    return low_bits.astype(values.dtype)


def limited(spec: Spec, etype: ElementType, limitation: str, values: Array) -> Array:
    """Values, each replaced by the nearest number in a range of the specification."""
    low, high = _limits(spec, etype, limitation)
    with np.errstate(invalid="ignore"):  # NaNs, which have no nearest number
        not_above = np.where(values > high, high, values)
        within = np.where(not_above < low, low, not_above)
    return within.astype(values.dtype)


def _limits(spec: Spec, etype: ElementType, limitation: str) -> tuple[Array, Array]:
    """The least and the greatest number of a limitation, as values of the element type."""
    if limitation == _FINITE:
        return constant_array("lowest", etype), constant_array("highest", etype)
    narrow = spec.element_type(limitation.removeprefix("range of "))
    lowest = constant_array("lowest", narrow)
    highest = constant_array("highest", narrow)
    dtype = numpy_type(etype.id)
    if etype.family != "int":
        with np.errstate(over="ignore"):
            return lowest.astype(dtype), highest.astype(dtype)

    # Ends that the type does not have are cut off: a cast would wrap around.
    least, greatest = integer_range(etype)
    low = max(_whole(lowest), least)
    high = min(_whole(highest), greatest)
    return np.array(low, dtype), np.array(high, dtype)


def _whole(value: Array) -> int:
    """The integer of a value; a bfloat16 becomes one by way of a float."""
    if value.dtype.kind in "iu":
        return int(value)
    return int(float(value))


def constant_array(text: str, etype: ElementType) -> Array:
    """A number or a named constant in an element type, of shape ()."""
    pattern = encode(text, etype)
    return from_bits(int(pattern), etype.id)


# --- Conversions back ---------------------------------------------------------------------------------------


def saturated(values: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as another type: what is too large becomes the greatest integer."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    numbers = values.astype(np.float64)
    # The greatest integer of 64 bits is no float64: 2 ** 63 or 2 ** 64 takes its place.
    is_high = numbers >= float(info.max)
    is_low = numbers <= float(info.min)
    # What C leaves undefined is not converted: NumPy would give what the processor does.
    convertible = np.where(is_high | is_low, 0, numbers)
    converted_values = convertible.astype(dtype)
    not_low = np.where(is_low, info.min, converted_values)
    not_high = np.where(is_high, info.max, not_low)
    return not_high.astype(dtype)


def least_on_overflow(values: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as another type: what is too large becomes the least integer, as on x86."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    numbers = values.astype(np.float64)
    is_high = numbers >= float(info.max)
    is_low = numbers < float(info.min)
    is_outside = is_high | is_low
    convertible = np.where(is_outside, 0, numbers)
    converted_values = convertible.astype(dtype)

    # x86 gives the pattern of the least signed integer for unsigned ones, too.
    least = info.min
    if dtype.kind == "u":
        least = 1 << (info.bits - 1)
    result = np.where(is_outside, least, converted_values)
    return result.astype(dtype)
