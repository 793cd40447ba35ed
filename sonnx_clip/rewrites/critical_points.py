"""Whether both sides of a rewrite agree for given constants, decided at the critical points of X.

A term compares X with its constants and with zero alone, and is then X, a constant, or the opposite of one.
So it behaves alike for all X between two neighbouring constants, and it is enough to try each constant, the
next value below and above each, and the special values. Where a term has an opposite, the opposites of the
constants are constants too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count, pairwise
from math import log2
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language import tree
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.tree import subtrees
from sonnx_clip.language.values import (
    decode,
    encode,
    equal,
    float_bits,
    infinity,
    is_nan,
    opposite,
    quiet_bit,
    sign_bit,
)
from sonnx_clip.rewrites.terms import ELEMENT, functions_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.rewrites.terms import TermMeaning

Strength: TypeAlias = Literal["bits", "value", "numbers"]
STRENGTHS: tuple[Strength, ...] = ("bits", "value", "numbers")
"""Same bits; same value, where zeros are equal and NaNs alike; same value where X is a number."""

OPPOSITES = frozenset({"neg", "abs", "opposite"})
"""Functions that may give the opposite of an operand, which is then a critical point too."""


@dataclass(frozen=True)
class TermDifference:
    """An X for which the two sides differ, and what each is; None where it is not defined."""

    x: Value
    before: Value
    after: Value | None


def difference(
    meaning: TermMeaning,
    before: Expr,
    after: Expr,
    constants: Mapping[str, Value],
    strength: Strength,
) -> TermDifference | None:
    """The first critical point at which two terms differ; None if they agree at all of them."""
    etype = meaning.etype
    for x in critical_points(etype, (before, after), constants):
        if strength == "numbers" and is_nan(x, etype):
            continue
        values = {**constants, ELEMENT: x}
        expected = meaning.result(before, values)
        if expected is None:  # any result is right
            continue
        # If `after` alone is not defined, it may give anything: that is a difference.
        actual = meaning.result(after, values)
        if actual is None or not _same(expected, actual, etype, strength):
            return TermDifference(x, expected, actual)
    return None


def _same(
    a: Value,
    b: Value,
    etype: ElementType,
    strength: Strength,
) -> bool:
    """Whether two results are the same in a strength."""
    if a == b or strength == "bits":  # bits are equal or not, for reals too
        return a == b
    if is_nan(a, etype) or is_nan(b, etype):
        return is_nan(a, etype) and is_nan(b, etype)
    return equal(a, b, etype)


def critical_points(
    etype: ElementType,
    terms: Sequence[Expr],
    constants: Mapping[str, Value],
) -> tuple[Value, ...]:
    """The values of X that decide whether terms agree, ordinary numbers first."""
    numbers = [*constants.values(), *_literals(etype, terms)]
    # -X is compared with a constant where X is compared with its opposite.
    if functions_in(*terms) & OPPOSITES:
        numbers += [opposite(number, etype) for number in numbers]
    # Operators compare X with zero, whatever the constants are.
    zero = encode("0", etype)
    constants_and_zero = dict.fromkeys([zero, *numbers])
    # A real has no next one: there a number between two others stands for all between them.
    if etype.family == "real":
        return tuple(_of_reals([Fraction(number) for number in constants_and_zero]))
    points: list[int] = []
    for number in constants_and_zero:
        points += _around(int(number), etype)
    points += special_patterns(etype)
    points += _other_nans(points, etype)
    usual_first = sorted(dict.fromkeys(points), key=lambda point: _unusual(point, etype))
    return tuple(usual_first)


def _literals(etype: ElementType, terms: Sequence[Expr]) -> Iterator[Value]:
    """The numbers that terms are written with."""
    for term in terms:
        for part in subtrees(term):
            if isinstance(part, tree.Number):
                yield encode(part.text, etype)


def _of_reals(numbers: Sequence[Fraction]) -> Iterator[Fraction]:
    """The numbers, one between each two neighbours, and one beyond each end."""
    ordered = sorted(numbers)  # zero is among them
    yield from ordered
    for lower, upper in pairwise(ordered):
        yield (lower + upper) / 2
    yield ordered[0] - 1
    yield ordered[-1] + 1


def _around(number: int, etype: ElementType) -> Iterator[int]:
    """A pattern, and those of the next values below and above it."""
    yield number
    if etype.family != "float":
        modulus = 1 << (etype.width or 0)
        lowest = encode("lowest", etype)
        highest = encode("highest", etype)
        if number != lowest:
            yield (number - 1) % modulus
        if number != highest:
            yield (number + 1) % modulus
        return
    form = float_bits(etype)
    sign_mask = sign_bit(form)
    magnitude = number & (sign_mask - 1)
    sign = number & sign_mask
    if magnitude > infinity(form):  # a NaN has no neighbours
        return
    # By magnitude: neighbours of one sign are patterns that differ by one.
    if magnitude == 0:  # both zeros, and the least numbers of both signs
        yield from (0, sign_mask, 1, sign_mask | 1)
        return
    yield (magnitude - 1) | sign
    if magnitude < infinity(form):
        yield (magnitude + 1) | sign


# A search for a witness sorts the same few points for every choice of constants.
@lru_cache(maxsize=1 << 14)
def _unusual(point: int, etype: ElementType) -> tuple[bool, bool, float, bool]:
    """The order in which points are tried: numbers near 1 before very small and great ones, NaNs last."""
    if is_nan(point, etype):
        return True, True, 0, False
    value = decode(point, etype)
    if isinstance(value, str):
        return False, True, 0, value == "-inf"
    size = abs(value)
    distance = 0.0  # from 1, in powers of two; zero comes among the first
    if size:  # the logarithms of both parts, since a quotient of them may be no double
        distance = abs(log2(size.numerator) - log2(size.denominator))
    return False, False, distance, value < 0


def _other_nans(numbers: Sequence[int], etype: ElementType) -> Iterator[int]:
    """A quiet and a signalling NaN that no constant is; none for an integer."""
    if etype.family != "float":
        return
    form = float_bits(etype)
    # A term that returns a NaN of X may differ from one that returns that of a constant.
    for first in (infinity(form) | quiet_bit(form), infinity(form) | 1):
        yield next(nan for nan in count(first) if nan not in numbers)
