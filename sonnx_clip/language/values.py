"""Exact values of the element types: text -> value, and comparison.

A value of a machine type is its bit pattern, an ``int`` in ``range(2**width)``; a value of ``real`` is a
`Fraction`. Nothing here goes through a double: text becomes a rational number, and the rational number is
rounded once, to nearest with ties to even, straight into the format.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from sonnx_clip.language.types import ElementType, FloatBits, IntegerBits
from sonnx_clip.root.decimals import round_to_format
from sonnx_clip.root.errors import UserError

Value: TypeAlias = int | Fraction
"""A bit pattern of a machine type, or a number of ``real``."""

CONSTANTS = {
    "real": frozenset[str](),
    "int": frozenset({"lowest", "highest"}),
    "uint": frozenset({"lowest", "highest"}),
    "float": frozenset(
        {"nan", "snan", "inf", "lowest", "highest", "smallest_normal", "smallest_subnormal"}
    ),
}
"""The named constants of each family."""

# At most four digits of exponent: beyond it a typing error is likelier than a number.
_DECIMAL = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_HEX_FLOAT = re.compile(
    r"0[xX](?P<whole>[0-9a-fA-F]*)\.?(?P<part>[0-9a-fA-F]*)[pP](?P<exponent>[+-]?\d{1,4})"
)
_BITS = re.compile(r"0[xX](?P<digits>[0-9a-fA-F]+)")
_LONGEST = 4000  # characters of a number
_HOW = "write a decimal number (-6.1), a hex float (0x1.8p+1), a bit pattern (0x7fc00000) or a constant"


# --- Formats ------------------------------------------------------------------------------------------------


def float_bits(etype: ElementType) -> FloatBits:
    """The IEEE 754 format of a float type; ValueError for any other type."""
    if isinstance(etype.bits, FloatBits):
        return etype.bits
    raise ValueError(f"{etype.id} is not a float type")


def infinity(form: FloatBits) -> int:
    """The pattern of plus infinity: also the greatest magnitude that is not a NaN."""
    return ((1 << form.exponent) - 1) << (form.significand - 1)


def sign_bit(form: FloatBits) -> int:
    """The pattern of minus zero."""
    return 1 << (form.exponent + form.significand - 1)


def quiet_bit(form: FloatBits) -> int:
    """The first bit of the fraction, which distinguishes a quiet NaN from a signalling one."""
    return 1 << (form.significand - 2)


def constant_pattern(name: str, form: FloatBits) -> int:
    """The bit pattern of a named constant in a float format; ``nan`` is quiet, ``snan`` signalling."""
    top = infinity(form)
    return {
        "inf": top,
        "nan": top | quiet_bit(form),
        "snan": top | 1,
        "highest": top - 1,
        "lowest": sign_bit(form) | (top - 1),
        "smallest_normal": 1 << (form.significand - 1),
        "smallest_subnormal": 1,
    }[name]


def integer_range(etype: ElementType) -> tuple[int, int]:
    """The least and the greatest number of an integer type; ValueError for any other type."""
    if not isinstance(etype.bits, IntegerBits) or etype.width is None:
        raise ValueError(f"{etype.id} is not an integer type")
    low = -(1 << (etype.width - 1)) if etype.bits.signed else 0
    return low, low + (1 << etype.width) - 1


# --- Text -> value ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)  # the same few texts are encoded again and again
def encode(text: str, etype: ElementType) -> Value:
    """The value of a text in an element type.

    Args:
        text: ``-6.1``, ``1e-3``, ``-0``, ``nan``, ``-nan``, ``snan``, ``inf``, ``lowest``, ``highest``,
            ``smallest_normal``, ``smallest_subnormal``, a hex float (``0x1.8p+1``), or a bit pattern
            of exactly the type's width (``0x7fc00000``).
        etype: the element type.

    Raises:
        UserError: the text is no number, or the type has no such value. Floats round to nearest even and
            may not overflow; integers must be exact and in range.
    """
    text = text.strip()
    # Before numbers, since a bit pattern may look like a hex float without its exponent.
    if match := _BITS.fullmatch(text):
        return _from_pattern(match["digits"], etype)
    negative = text.startswith("-")
    body = text[1:] if text[:1] in ("-", "+") else text
    # All names, so that the error of a type which lacks one lists those that it has.
    if body in CONSTANTS["float"]:
        return _from_constant(body, negative, etype)
    magnitude = _magnitude(body)
    if magnitude is None:
        raise UserError(f"`{text}` is not a number", todo=_HOW)
    if isinstance(etype.bits, FloatBits):
        pattern = round_to_format(magnitude, etype.bits)
        # A number that becomes an infinity is a mistake of whoever wrote it.
        if pattern >= infinity(etype.bits):
            raise UserError(f"{text} is too large for {etype.id}", todo="write inf for infinity")
        # By the bit, since the rational number 0 has no sign.
        return pattern | sign_bit(etype.bits) if negative else pattern
    number = -magnitude if negative else magnitude
    if isinstance(etype.bits, IntegerBits):
        return _to_integer(number, etype, text)
    return number


def _from_pattern(digits: str, etype: ElementType) -> int:
    if etype.width is None:
        message = f"0x{digits} is a bit pattern; {etype.id} has no bit patterns"
        raise UserError(message, todo="write a decimal number")
    # All digits are required: one that is left out would be another value, and no error.
    width = 4 * len(digits)
    if width != etype.width:
        message = f"0x{digits} has {width} bits, {etype.id} has {etype.width}"
        needed = etype.width // 4
        todo = f"{etype.id} takes {needed} hex digits; a hex float has an exponent: 0x1p+0"
        raise UserError(message, todo=todo)
    return int(digits, 16)


def _from_constant(name: str, negative: bool, etype: ElementType) -> Value:
    known = CONSTANTS[etype.family]
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise UserError(f"{etype.id} has no `{name}`", todo=f"constants of {etype.id}: {listed}")
    if isinstance(etype.bits, FloatBits):
        pattern = constant_pattern(name, etype.bits)
        # Exclusive or, since `lowest` has the sign already: -lowest is highest.
        return pattern ^ sign_bit(etype.bits) if negative else pattern
    lowest, highest = integer_range(etype)
    number = highest if name == "highest" else lowest
    if negative:  # -lowest of a signed type is out of range
        return _to_integer(Fraction(-number), etype, f"-{name}")
    return number % (highest - lowest + 1)


@lru_cache(maxsize=4096)  # the same few texts, in every element type
def _magnitude(body: str) -> Fraction | None:
    """The rational number of an unsigned decimal or hex float; None if it is neither."""
    if len(body) > _LONGEST:
        return None
    if _DECIMAL.fullmatch(body):
        return Fraction(body)
    match = _HEX_FLOAT.fullmatch(body)
    if match is None:
        return None
    digits = match["whole"] + match["part"]
    if not digits:  # the pattern allows either to be empty
        return None
    exponent = int(match["exponent"]) - 4 * len(match["part"])  # a hex digit has four bits
    return int(digits, 16) * Fraction(2) ** exponent


def _to_integer(number: Fraction, etype: ElementType, text: str) -> int:
    """The pattern of a number in two's complement; UserError if the type does not have it exactly."""
    low, high = integer_range(etype)
    todo = f"{etype.id} holds {low} … {high}"
    if number.denominator != 1:
        raise UserError(f"{text} is not an integer", todo=todo)
    if not low <= number <= high:
        raise UserError(f"{text} is not in the range of {etype.id}", todo=todo)
    return int(number) % (high - low + 1)


# --- Value -> number ----------------------------------------------------------------------------------------


def comparison_key(value: Value, etype: ElementType) -> Value | float:
    """A number whose ``<``, ``<=`` and ``==`` are those of the type's values.

    For floats they are those of IEEE 754: -0 equals +0, and a NaN, which becomes Python's, is neither less
    than anything nor equal to anything.
    """
    match etype.bits:
        case FloatBits() as form:
            sign = sign_bit(form)
            # Patterns of one sign are ordered as their numbers are, subnormal ones and infinity
            # too.
            magnitude = int(value) & ~sign
            if magnitude > infinity(form):
                return math.nan
            return -magnitude if int(value) & sign else magnitude
        case IntegerBits(signed=True):
            low, high = integer_range(etype)
            return value + 2 * low if value > high else value  # minus 2**width
        case _:
            return value


def decode(value: Value, etype: ElementType) -> Fraction | str:
    """The number of a value, or ``"nan"``, ``"inf"``, ``"-inf"``; ``-0`` decodes to 0."""
    key = comparison_key(value, etype)
    if not isinstance(etype.bits, FloatBits):
        return Fraction(key)
    if is_nan(value, etype):
        return "nan"
    magnitude = abs(int(key))
    if magnitude == infinity(etype.bits):
        return "-inf" if key < 0 else "inf"
    digits = etype.bits.significand - 1  # those that are stored
    hidden = 1 << digits
    field = magnitude >> digits  # of the exponent, 0 for subnormal numbers and zero
    significand = magnitude & (hidden - 1)
    exponent = 2 - (1 << (etype.bits.exponent - 1)) - digits  # of subnormal numbers
    if field:
        significand |= hidden
        exponent += field - 1
    number = Fraction(significand) * Fraction(2) ** exponent
    return -number if key < 0 else number


def is_nan(value: Value, etype: ElementType) -> bool:
    """Whether a value is a NaN: never for integers and ``real``."""
    key = comparison_key(value, etype)
    return key != key  # noqa: PLR0124 - true of the key of a NaN alone


def is_signalling(value: Value, etype: ElementType) -> bool:
    """Whether a value is a signalling NaN: a NaN whose first bit of the fraction is 0 (IEEE 754, 6.2.1)."""
    return is_nan(value, etype) and not int(value) & quiet_bit(float_bits(etype))


def opposite(value: Value, etype: ElementType) -> Value:
    """The value of the other sign.

    Of a float the sign bit is changed, of a NaN too; an integer is negated modulo 2^width, so that the least
    one is its own opposite.
    """
    match etype.bits:
        case FloatBits() as form:
            return int(value) ^ sign_bit(form)
        case IntegerBits():
            least, greatest = integer_range(etype)
            return -int(value) % (greatest - least + 1)
        case _:
            return -value


def equal(a: Value, b: Value, etype: ElementType) -> bool:
    """``a == b``; for floats that of IEEE 754: -0 equals +0, and a NaN equals nothing."""
    return comparison_key(a, etype) == comparison_key(b, etype)


def identical(a: Value, b: Value) -> bool:
    """The same bit pattern; for ``real``, the same number."""
    return a == b
