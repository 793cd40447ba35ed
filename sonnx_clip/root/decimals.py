"""Decimal text of numbers in binary formats, shared by all commands that print them."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

EXACT = Context(prec=2000)  # a float64 has at most 767 significant digits
_PLAIN_DIGITS = 16  # the most digits before the point that are written without an exponent


class BinaryFormat(Protocol):
    """A format of IEEE 754: its bits of exponent, and of significand with the hidden one."""

    @property
    def exponent(self) -> int: ...  # noqa: D102

    @property
    def significand(self) -> int: ...  # noqa: D102


def round_to_format(magnitude: Fraction, form: BinaryFormat) -> int:
    """The pattern nearest to a number >= 0, ties to even; at least that of infinity when it overflows.

    The pattern of a positive float is (exponent - least exponent) * 2**(significand - 1) + the significand
    as an integer, hidden bit included. The formula covers subnormals, and a carry out of rounding.
    """
    if magnitude == 0:
        return 0
    # The exponent of the least normal number: 1 - bias.
    least = 2 - (1 << (form.exponent - 1))
    # The difference of the lengths is the exponent, or one more.
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, least)  # subnormal numbers share the unit of the least normal ones
    unit = Fraction(2) ** (exponent - form.significand + 1)
    significand = round(magnitude / unit)  # of a Fraction: exactly, ties to even
    return (exponent - least) * (1 << (form.significand - 1)) + significand


def exact_decimal(number: Fraction) -> Decimal:
    """A number that has a finite decimal."""
    numerator = Decimal(number.numerator)
    denominator = Decimal(number.denominator)
    return EXACT.divide(numerator, denominator)


# The page and the text of the vectors show each special value many times.
@lru_cache(maxsize=1 << 16)
def decimal_text(number: Fraction, form: BinaryFormat) -> str:
    """A number >= 0 of a format as a decimal that rounds to it.

    An integer below 10**16 is written exactly: ``65504``. Any other number is the shortest decimal that
    rounds to it, and of those the nearest: ``0.1``, ``3.4028235e+38``.
    """
    if number.denominator == 1 and number < 10**_PLAIN_DIGITS:
        return str(number.numerator)
    return _plain(_shortest(number, form))


def _shortest(number: Fraction, form: BinaryFormat) -> Decimal:
    """The shortest decimal that rounds to a number > 0, and of those the nearest."""
    pattern = round_to_format(number, form)
    exact = exact_decimal(number)
    # 36 digits do for a significand of 113 bits, the longest that an element type may have.
    for digits in range(1, 40):
        # At a power of two the gap below is half the gap above: the nearest decimal may miss where
        # the next one fits.
        for rounding in (ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR):
            candidate = Context(prec=digits, rounding=rounding).create_decimal(exact)
            if round_to_format(Fraction(candidate), form) == pattern:
                return candidate
    raise AssertionError("39 digits distinguish the values of every format")


def _plain(number: Decimal) -> str:
    """Without exponent where that is short, else as ``3.4e+38``."""
    number = number.normalize(EXACT)  # without zeros at the end
    if -5 <= number.adjusted() < _PLAIN_DIGITS:
        return f"{number:f}"
    first, *others = map(str, number.as_tuple().digits)
    fraction = "".join(others)
    digits = f"{first}.{fraction}" if fraction else first
    return f"{digits}e{number.adjusted():+d}"
