"""The inputs that run along with a symbolic execution: which branches they take decides what is followed.

A sample is an array of two entries with bounds: the entry that the proof speaks of, and another one, so that
reductions and entries differ. That no branch is forgotten for want of a sample is an obligation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import constant_pattern, encode, infinity, sign_bit

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.trace.evaluate_table import Patterns

_HASH = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True)
class Samples:
    """Inputs, one a column.

    Args:
        index: the number of each, which decides how its choices fall.
        x: the entry and the other one, shape (2, n).
        lower: min, shape (n,).
        upper: max, shape (n,).
    """

    index: Patterns
    x: Patterns
    lower: Patterns
    upper: Patterns

    def choose(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Samples:
        """Some of them."""
        return Samples(self.index[keep], self.x[:, keep], self.lower[keep], self.upper[keep])

    def first(self) -> Samples:
        """The first of them alone."""
        return Samples(self.index[:1], self.x[:, :1], self.lower[:1], self.upper[:1])

    def noise(self, number: int) -> Patterns:
        """Bits that look random, the same for a sample in every run, shape (n,)."""
        mixed = (self.index + np.uint64(1)) * _HASH * np.uint64(2 * number + 1)
        return (mixed ^ (mixed >> np.uint64(29))) * _HASH >> np.uint64(7)


@cache
def samples_of(etype: ElementType) -> Samples:
    """All pairs of bounds that matter, each with entries around them."""
    bounds, entries = _bounds(etype), _entries(etype)
    rows = [
        (x, y, lower, upper)
        for lower, upper in product(bounds, repeat=2)
        for x, y in product((*entries, lower, upper), repeat=2)
    ]
    table = np.array(rows, np.uint64).T.copy()
    table.flags.writeable = False
    return Samples(np.arange(table.shape[1], dtype=np.uint64), table[:2], table[2], table[3])


def _bounds(etype: ElementType) -> tuple[int, ...]:
    """Zeros, infinities, NaNs and numbers of both signs; of integers the extremes and their neighbours."""
    if not isinstance(etype.bits, FloatBits):
        return special_patterns(etype)[:8]
    top, minus, nan = infinity(etype.bits), sign_bit(etype.bits), constant_pattern("nan", etype.bits)
    one, two = (int(encode(text, etype)) for text in ("1", "2"))
    return (0, minus, one, two, one | minus, two | minus, top, top | minus, nan, nan | minus | 1)


def _entries(etype: ElementType) -> tuple[int, ...]:
    if not isinstance(etype.bits, FloatBits):
        return special_patterns(etype)[2:4]
    minus, nan = sign_bit(etype.bits), constant_pattern("nan", etype.bits)
    return (0, minus, int(encode("3", etype)), nan, nan | minus | 1)
