"""Values as text for people."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from sonnx_clip.language.types import ElementType, FloatBits
from sonnx_clip.language.values import Value, decode, float_bits, round_to_format, sign_bit

_EXACT = Context(prec=2000)  # a float64 has at most 767 significant digits


def show(value: Value, etype: ElementType) -> str:
    """The shortest decimal that `encode` turns back into the value: ``9.5``, ``-0``, ``1e-45``.

    NaNs are ``nan`` or ``-nan`` whatever their payload. A number of ``real`` without a finite decimal is
    a quotient, ``1/3``.
    """
    number = decode(value, etype)
    if isinstance(etype.bits, FloatBits):
        sign = "-" if int(value) & sign_bit(etype.bits) else ""
        return sign + (number.lstrip("-") if isinstance(number, str) else _shortest(abs(number), etype.bits))
    assert isinstance(number, Fraction)
    if number.denominator == 1:
        return str(number.numerator)
    is_decimal = 10**2000 % number.denominator == 0
    return f"{_decimal(number):f}" if is_decimal else str(number)


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


@lru_cache(maxsize=1 << 16)  # the page and the text of the vectors show each special value many times
def _shortest(number: Fraction, form: FloatBits) -> str:
    """The shortest decimal that rounds to a number >= 0, and of those the nearest."""
    if number == 0:
        return "0"
    wanted, exact = round_to_format(number, form), _decimal(number)
    for digits in range(1, 40):
        # At a power of two the gap below is half the gap above: the nearest decimal may miss where
        # the next one fits.
        for rounding in (ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR):
            candidate = Context(prec=digits, rounding=rounding).create_decimal(exact)
            if round_to_format(Fraction(candidate), form) == wanted:
                return _plain(candidate)
    raise AssertionError("39 digits distinguish the values of every format")


def _plain(number: Decimal) -> str:
    """Without exponent where that is short, else as ``3.4e+38``."""
    number = number.normalize(_EXACT)
    if -5 <= number.adjusted() < 16:
        return f"{number:f}"
    first, *rest = map(str, number.as_tuple().digits)
    return f"{first}{'.' if rest else ''}{''.join(rest)}e{number.adjusted():+d}"


def show_bits(value: Value, etype: ElementType) -> str:
    """The bit pattern of a machine type's value, all digits: ``0x7fc00000``; ValueError for ``real``."""
    if etype.width is None:
        raise ValueError(f"{etype.id} has no bit patterns")
    return f"0x{value:0{etype.width // 4}x}"


def hex_float(value: Value, etype: ElementType) -> str:
    """A float as C prints it by ``%a``: ``0x1.8p+1``, ``-0x0p+0``, ``inf``; ValueError for other types.

    Every number of a type of at most 64 bits is a double.
    """
    form, number = float_bits(etype), decode(value, etype)
    if isinstance(number, str):
        return show(value, etype)
    text = math.copysign(number, -1 if int(value) & sign_bit(form) else 1).hex()
    return re.sub(r"\.?0*p", "p", text)
