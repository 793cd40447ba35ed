"""The bounds in use of an element type, and the values of X that show a mistake at them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import (
    comparison_key,
    decode,
    encode,
    infinity,
    integer_range,
    sign_bit,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.entries import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.model import Spec

_BESIDE_FLOATS = ("lowest", "-1", "-0", "0", "1", "highest", "-inf", "inf", "nan")
_BESIDE_INTEGERS = ("lowest", "0", "1", "highest")


@dataclass(frozen=True)
class TypedBounds:
    """Bounds in use in an element type.

    Args:
        sides: the bits of each scalar; None where it is absent.
        reason: who has them.
    """

    sides: tuple[int | None, ...]
    reason: str

    @property
    def is_whole(self) -> bool:
        """Whether no side is absent."""
        return None not in self.sides


def bounds_in_use(spec: Spec, etype: ElementType) -> tuple[TypedBounds, ...]:
    """The bounds in use that an element type holds, in the order of the YAML, each pair once."""
    by_sides: dict[tuple[int | None, ...], TypedBounds] = {}
    for bounds in spec.bounds_in_use:
        given = [text for text in bounds.texts if text != ABSENT]
        if not all(holds(text, etype) for text in given):
            continue
        sides = tuple(_side(text, etype) for text in bounds.texts)
        # Two texts may be one number of the type; the reason of the first stays.
        by_sides.setdefault(sides, TypedBounds(sides, bounds.reason))
    return tuple(by_sides.values())


def _side(text: str, etype: ElementType) -> int | None:
    return None if text == ABSENT else int(encode(text, etype))


def holds(text: str, etype: ElementType) -> bool:
    """Whether an element type holds a number: an integer exactly, and no nonzero number as a zero."""
    try:
        held = decode(encode(text, etype), etype)
    except UserError:
        return False
    if isinstance(held, str):
        return True  # an infinity or NaN
    try:
        exact = Fraction(text)
    except ValueError:  # a constant, a hex float or a bit pattern, which the type holds as it is
        return True
    # A whole number that was rounded is another bound; 0.1 is meant as what the type makes of it.
    if exact.denominator == 1:
        return held == exact
    return held != 0


def values_at(bounds: Iterable[int], etype: ElementType) -> tuple[int, ...]:
    """Values of X for bounds: below, at, next to, between and above them.

    One less and one more than each bound come first: they make the examples that people read most easily.
    """
    bounds = list(bounds)
    steps: list[int] = []
    close: list[int] = []
    for bound in bounds:
        steps += _one_away(bound, etype)
        # At a bound and right beside it: there `<` in place of `<=`, or a rounded bound, shows.
        close.append(bound)
        close += neighbours(bound, etype)
    return tuple(dict.fromkeys([*steps, *close, *_between(bounds, etype)]))


def values_around(bounds: Iterable[int], etype: ElementType) -> tuple[int, ...]:
    """The same values, and then the ends of the type."""
    beside = _BESIDE_FLOATS if isinstance(etype.bits, FloatBits) else _BESIDE_INTEGERS
    ends = [int(encode(text, etype)) for text in beside]
    return tuple(dict.fromkeys([*values_at(bounds, etype), *ends]))


def neighbours(value: int, etype: ElementType) -> Iterator[int]:
    """The values of the type just below and just above a number; those of a zero are subnormal."""
    number = decode(value, etype)
    if number == "nan":
        return
    if not isinstance(etype.bits, FloatBits):
        low, high = integer_range(etype)
        modulus = high - low + 1
        for other in (int(number) - 1, int(number) + 1):
            if low <= other <= high:
                yield other % modulus  # the bits of a negative number in two's complement
        return
    # The key of a float orders all numbers: the magnitude with its sign, 0 for both zeros.
    key = int(comparison_key(value, etype))
    for other in (key - 1, key + 1):
        magnitude = abs(other)
        if magnitude <= infinity(etype.bits):  # beyond are NaNs
            sign = sign_bit(etype.bits) if other < 0 else 0
            yield magnitude | sign


def _one_away(value: int, etype: ElementType) -> Iterator[int]:
    """One more and one less, where the type holds them."""
    number = decode(value, etype)
    if not isinstance(number, Fraction):  # an infinity or NaN
        return
    for other in (number + 1, number - 1):
        is_whole = other.denominator == 1
        # As a decimal: `encode` rounds it once, to the type.
        text = str(other.numerator) if is_whole else repr(float(other))
        if holds(text, etype):
            yield int(encode(text, etype))


def _between(bounds: list[int], etype: ElementType) -> Iterator[int]:
    """A value between two bounds that are numbers, a whole one if there is one."""
    numbers = [decode(bound, etype) for bound in bounds]
    finite = [number for number in numbers if isinstance(number, Fraction)]
    if len(finite) < 2:
        return
    mean = sum(finite) / len(finite)
    whole = int(mean)  # of 0 and 1 it is a bound itself
    text = str(whole) if whole not in finite else repr(float(mean))
    if holds(text, etype):
        yield int(encode(text, etype))
