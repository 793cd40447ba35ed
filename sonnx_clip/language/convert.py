"""A number of one element type as one of another, as the dialects convert their bounds."""

from __future__ import annotations

from fractions import Fraction
from math import trunc
from typing import TYPE_CHECKING

from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import (
    Value,
    constant_pattern,
    decode,
    float_bits,
    infinity,
    integer_range,
    round_to_format,
    sign_bit,
)

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType


def convert(value: Value, of: ElementType, to: ElementType) -> Value | None:
    """A float as a value of another type: to a float to nearest, ties to even; to an integer toward zero.

    Args:
        value: a bit pattern of `of`.
        of: a float type.
        to: a float or integer type.

    Returns:
        The bit pattern; of a NaN the quiet one without payload, with its sign. None where no integer is the
        truncated number: for a NaN, an infinity, and what is out of range.
    """
    number = decode(value, of)
    if isinstance(to.bits, FloatBits):
        return _to_float(value, of, to)
    if not isinstance(number, Fraction):
        return None
    low, high = integer_range(to)
    whole = trunc(number)
    return whole % (high - low + 1) if low <= whole <= high else None


def _to_float(value: Value, of: ElementType, to: ElementType) -> int:
    form, number = float_bits(to), decode(value, of)
    sign = sign_bit(form) if int(value) & sign_bit(float_bits(of)) else 0
    if number == "nan":
        return constant_pattern("nan", form) | sign
    if not isinstance(number, Fraction):
        return infinity(form) | sign
    return min(round_to_format(abs(number), form), infinity(form)) | sign


def beyond(etype: ElementType, of: ElementType) -> tuple[int, int]:
    """The patterns of the two floats that, truncated, are just too small and too great for an integer type.

    A float is in range when it lies between them, strictly.
    """
    low, high = integer_range(etype)
    return _away_from_zero(low - 1, of), _away_from_zero(high + 1, of)


def _away_from_zero(number: int, of: ElementType) -> int:
    """The float of the least magnitude that is not less than that of an integer."""
    form = float_bits(of)
    pattern = round_to_format(Fraction(abs(number)), form)
    found = decode(pattern, of)
    assert isinstance(found, Fraction)
    if found < abs(number):
        pattern += 1
    return pattern | sign_bit(form) if number < 0 else pattern
