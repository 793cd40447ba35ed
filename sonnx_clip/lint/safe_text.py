"""Text of a model as it is safe to print: names, dimensions, numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.root.decimals import decimal_text

if TYPE_CHECKING:
    from sonnx_clip.lint.tensors import Dims

_SHOWN = 400  # the most characters of a text from outside that are printed


def show_dims(dims: Dims) -> str:
    """A shape as text: ``[N, 3]``, ``[]`` for a scalar."""
    return "[" + ", ".join(str(dim) for dim in dims) + "]"


class _Format(NamedTuple):
    """Bits of the exponent, and of the significand with the hidden one."""

    exponent: int
    significand: int


_DOUBLE = _Format(11, 53)
_FORMATS = {"FLOAT16": _Format(5, 11), "BFLOAT16": _Format(8, 8), "FLOAT": _Format(8, 24)}


def show_number(value: float, element_type: str | None) -> str:
    """A bound for people, with the digits that `explain` and `check` print.

    A number of a type without a known format is shown as a double, which has the same value.
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    sign = "-" if math.copysign(1, value) < 0 else ""  # -0.0 is not below 0
    return sign + decimal_text(Fraction(abs(value)), _FORMATS.get(element_type or "", _DOUBLE))


def shown(text: str | bytes) -> str:
    """Text from outside as it is safe to print: shortened, on one line, control characters escaped."""
    if isinstance(text, bytes):  # as which protobuf hands over what is not valid UTF-8
        text = repr(text)
    if len(text) > _SHOWN:  # before escaping, which may make a text ten times as long
        return f"{shown(text[: _SHOWN // 2])}… ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    """A character, escaped if a terminal would act on it or not show it."""
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def quoted(name: str) -> str:
    """A name from a model as it is safe to print, in quotes."""
    return f"'{shown(name)}'"
