"""Values as text for people."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from sonnx_clip.language.types import ElementType, FloatBits
from sonnx_clip.language.values import Value, decode, float_bits, sign_bit
from sonnx_clip.root.decimals import decimal_text, exact_decimal


def show(value: Value, etype: ElementType) -> str:
    """A decimal that `encode` turns back into the value: ``9.5``, ``-0``, ``65504``, ``1e-45``.

    An integer below 10**16 is exact, any other float the shortest such decimal. NaNs are ``nan`` or ``-nan``
    whatever their payload. A number of ``real`` without a finite decimal is a quotient, ``1/3``.
    """
    number = decode(value, etype)
    if isinstance(etype.bits, FloatBits):
        # By the bit: the number 0 has no sign, and "nan" has lost it.
        sign = "-" if int(value) & sign_bit(etype.bits) else ""
        if isinstance(number, str):
            return sign + number.lstrip("-")
        return sign + decimal_text(abs(number), etype.bits)
    assert isinstance(number, Fraction)
    if number.denominator == 1:
        return str(number.numerator)
    # A finite decimal has a denominator of twos and fives alone; 2000 is the precision of `exact_decimal`.
    is_decimal = 10**2000 % number.denominator == 0
    return f"{exact_decimal(number):f}" if is_decimal else str(number)


def show_bits(value: Value, etype: ElementType) -> str:
    """The bit pattern of a machine type's value, all digits: ``0x7fc00000``; ValueError for ``real``."""
    if etype.width is None:
        raise ValueError(f"{etype.id} has no bit patterns")
    return f"0x{value:0{etype.width // 4}x}"


def hex_float(value: Value, etype: ElementType) -> str:
    """A float as C prints it by ``%a``: ``0x1.8p+1``, ``-0x0p+0``, ``inf``; ValueError for other types.

    Every number of a type of at most 64 bits is a double.
    """
    form = float_bits(etype)
    number = decode(value, etype)
    if isinstance(number, str):
        return show(value, etype)
    is_negative = int(value) & sign_bit(form)  # which `decode` drops from a zero
    text = math.copysign(number, -1 if is_negative else 1).hex()
    # Python writes all 13 digits of a double, C's %a no zeros at the end.
    return re.sub(r"\.?0*p", "p", text)
