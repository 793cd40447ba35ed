"""Conversion of a float to another element type, as dialects convert their bounds."""

from __future__ import annotations

from fractions import Fraction
from math import trunc

from sonnx_clip.language.types import ElementType, FloatBits
from sonnx_clip.language.values import (
    Value,
    constant_pattern,
    decode,
    encode,
    float_bits,
    infinity,
    integer_range,
    sign_bit,
)
from sonnx_clip.root.decimals import round_to_format


def convert(value: Value, source: ElementType, to: ElementType) -> Value | None:
    """A float as a value of another type: to a float to nearest, ties to even; to an integer toward zero.

    Returns the bit pattern; of a NaN the quiet one without payload, with its sign. None where no integer is
    the truncated number: for a NaN, an infinity, and what is out of range.
    """
    number = decode(value, source)
    if isinstance(to.bits, FloatBits):
        sign = sign_bit(to.bits) if int(value) & sign_bit(float_bits(source)) else 0
        if isinstance(number, Fraction):
            return min(round_to_format(abs(number), to.bits), infinity(to.bits)) | sign
        return constant_pattern(number.lstrip("-"), to.bits) | sign
    if not isinstance(number, Fraction):
        return None
    low, high = integer_range(to)
    whole = trunc(number)
    return whole % (high - low + 1) if low <= whole <= high else None


def beyond(etype: ElementType, source: ElementType) -> tuple[int, int]:
    """The bit patterns of the two floats between which, strictly, a float truncates into an integer type."""
    low, high = integer_range(etype)
    patterns = []
    for number in (low - 1, high + 1):
        pattern = int(encode(str(number), source))
        nearest = decode(pattern, source)
        assert isinstance(nearest, Fraction)
        patterns.append(pattern + (abs(nearest) < abs(number)))  # away from zero
    return patterns[0], patterns[1]
