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
        is_negative = int(value) & sign_bit(float_bits(source))
        sign = sign_bit(to.bits) if is_negative else 0
        if not isinstance(number, Fraction):  # an infinity, or a NaN, whose payload need not fit
            return constant_pattern(number.lstrip("-"), to.bits) | sign
        magnitude = round_to_format(abs(number), to.bits)
        # What is too large for the format rounds to infinity, and not to a pattern behind it: a NaN.
        return min(magnitude, infinity(to.bits)) | sign
    if not isinstance(number, Fraction):
        return None
    low, high = integer_range(to)
    integer = trunc(number)
    if not low <= integer <= high:
        return None
    # The pattern in two's complement.
    return integer % (high - low + 1)


def beyond(etype: ElementType, source: ElementType) -> tuple[int, int]:
    """The bit patterns of the two floats between which, strictly, a float truncates into an integer type."""
    # Truncation is toward zero: a float fits while it is closer to zero than low - 1 or high + 1.
    low, high = integer_range(etype)
    patterns = []
    for number in (low - 1, high + 1):
        pattern = int(encode(str(number), source))
        nearest = decode(pattern, source)
        assert isinstance(nearest, Fraction)
        if abs(nearest) < abs(number):
            pattern += 1  # the next one away from zero, whatever the sign
        patterns.append(pattern)
    return patterns[0], patterns[1]
