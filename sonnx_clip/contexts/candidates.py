"""Sets of results, one for each entry of an array.

The operators of spec/ have latitudes, and texts of other operators leave the sign of a zero or a rounding
open. So what is right for an entry is a set. The sets of all entries are kept as rows: arrays of one shape,
of which each entry of a right result equals the entry of one row.

NaNs are alike here: which NaN an operator returns is judged for one node alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.root.dtypes import Array

MOST = 8
"""Results that are kept for each entry: more would need four latitudes in a row."""


@dataclass(frozen=True)
class Candidates:
    """The results that are right.

    Args:
        rows: of one shape and one element type; the first has the expected results.
        defined: whether anything is required of an entry, of the same shape.
    """

    rows: tuple[Array, ...]
    defined: Array

    @property
    def expected(self) -> Array:
        """The expected results."""
        return self.rows[0]

    def allow(self, results: Array) -> Array:
        """Which entries of some results are right."""
        in_a_row = [alike(row, results) for row in self.rows]
        return reduce(np.logical_or, in_a_row) | ~self.defined

    def at(self, index: int) -> Candidates:
        """Those of one index of the first axis."""
        rows = tuple(row[index] for row in self.rows)
        return Candidates(rows, self.defined[index])


def exactly(array: Array) -> Candidates:
    """The sets of one result each."""
    return Candidates((array,), np.ones(array.shape, bool))


def distinct(rows: Iterable[Array], defined: Array) -> Candidates:
    """The sets of the entries of some rows, in as few rows as hold them."""
    expected, *others = rows
    kept: list[Array] = []
    for row in others:
        is_known = _equal_bits(row, expected)
        for earlier in kept:
            is_known |= _equal_bits(row, earlier)
        is_new = ~is_known
        # A kept row has room where it repeats the expected result.
        for earlier in kept:
            fits = is_new & _equal_bits(earlier, expected)
            earlier[fits] = row[fits]
            is_new &= ~fits
        if is_new.any():
            kept.append(np.where(is_new, row, expected))
    return Candidates((expected, *kept)[:MOST], defined)


def alike(left: Array, right: Array) -> Array:
    """Whether entries have the same bits, or are both a NaN."""
    same = _equal_bits(left, right)
    if left.dtype.kind == "f":
        same |= np.isnan(left) & np.isnan(right)
    return same


def _equal_bits(left: Array, right: Array) -> Array:
    # By bits, since zeros of both signs are equal as numbers.
    unsigned = np.dtype(f"u{left.itemsize}")
    are_equal = np.equal(left.view(unsigned), right.view(unsigned))
    return np.asarray(are_equal)
