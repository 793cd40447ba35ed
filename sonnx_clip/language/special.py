"""Special values of an element type, at which implementations break; claims, vectors and calls use them."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import gcd
from typing import TYPE_CHECKING

from sonnx_clip.language.types import ElementType, FamilyId, FloatBits
from sonnx_clip.language.values import (
    Value,
    constant_pattern,
    encode,
    infinity,
    integer_range,
    sign_bit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


FEW: dict[FamilyId, tuple[str, ...]] = {
    "real": ("0", "1", "2"),
    "int": ("lowest", "0", "1", "highest"),
    "uint": ("0", "1", "2", "highest"),
    "float": ("nan", "-nan", "snan", "-inf", "-0", "0", "1", "inf"),
}
"""The fewest values that distinguish every two readings, and every region from one that is a point larger."""


def sampled(etype: ElementType, count: int) -> Iterator[tuple[Value, ...]]:
    """Every combination of that many of the few values."""
    few = [encode(text, etype) for text in FEW[etype.family]]
    return product(few, repeat=count)


def spread_choices(size: int, count: int, most: int) -> Iterator[tuple[int, ...]]:
    """About `most` of all choices of `count` places among `size`, evenly spread, the first varying fastest.

    A choice is a number whose digits are the places.
    """
    # Where `most` is no bound, every choice is there.
    choices = size**count
    step = max(1, choices // most)
    while gcd(step, size) != 1:  # else the sample would miss places of the first digit
        step += 1
    for choice in range(0, choices, step):
        digits = []
        left = choice
        for _ in range(count):
            left, digit = divmod(left, size)
            digits.append(digit)
        yield tuple(digits)


@cache
def special_patterns(etype: ElementType) -> tuple[int, ...]:
    """The special values of a machine type, each bit pattern once, in a fixed order.

    Floats: both signs of zero, the least and greatest subnormal, the least normal and its neighbour, one and
    its neighbours, a few ordinary numbers, the greatest finite number and infinity, and five NaNs: quiet,
    negative, with payload, signalling of both signs. Integers: the extremes and their neighbours, numbers
    near zero, powers of two, and some that the next narrower float or integer cannot hold.
    """
    if isinstance(etype.bits, FloatBits):
        return _floats(etype, etype.bits)
    return _integers(etype)


def _floats(etype: ElementType, form: FloatBits) -> tuple[int, ...]:
    sign = sign_bit(form)
    infinite = infinity(form)
    normal = constant_pattern("smallest_normal", form)
    one = int(encode("1", etype))
    magnitudes = [0, 1]  # zero and the least subnormal
    magnitudes += [normal - 1, normal, normal + 1]
    magnitudes += [one - 1, one, one + 1]
    magnitudes += [int(encode(text, etype)) for text in ("0.1", "2", "3", "10")]
    magnitudes += [infinite - 1, infinite]  # the greatest finite number, and infinity
    signed: list[int] = []
    for magnitude in magnitudes:
        signed += [magnitude, magnitude | sign]
    quiet = constant_pattern("nan", form)
    signalling = [infinite | 1, (infinite + 2) | sign]  # behind infinity, without the quiet bit
    return (*signed, quiet, quiet | sign, quiet | 0x15, *signalling)


def _integers(etype: ElementType) -> tuple[int, ...]:
    assert etype.width is not None
    # One list for all types, of which each takes the numbers that it has.
    low, high = integer_range(etype)
    numbers = [low, low + 1, -2, -1, 0, 1, 2, 3, 10, high - 1, high]
    # Two powers for each byte of the width.
    for power in range(3, etype.width, 4):
        numbers += [2**power - 1, 2**power, -(2**power)]
    numbers += [2**24 + 1, 2**53 + 1, -(2**53) - 1]  # not exact in float32 and in float64
    fitting = dict.fromkeys(number for number in numbers if low <= number <= high)  # each once
    modulus = 1 << etype.width  # a pattern is the number in two's complement
    return tuple(number % modulus for number in fitting)
