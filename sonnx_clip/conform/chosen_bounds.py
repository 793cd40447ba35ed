"""The bounds that a check chooses: special values, those that reach every class, and those in use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.spec.bounds_in_use import bounds_in_use, values_around

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.layouts import Layout

_SEED = 20
# Bounds of int32 and int64, neighbours of which are lost in a conversion through float32 or float64.
_THROUGH_FLOAT = ((2**24 + 1, 20_000_000), (-20_000_000, -(2**24) - 1), (2**53 + 1, 10**16))
_CALLS_OF_ONE_X = (
    4  # for each pair, in a layout whose entries are all one: one more and one less than each bound
)


def together(values: Array, count: int) -> tuple[Array, ...]:
    """All choices of `count` values: the last one varies fastest."""
    grids = np.meshgrid(*[values] * count, indexing="ij") if count else ()
    return tuple(np.ascontiguousarray(grid.ravel()) for grid in grids)


@cache
def special_table(etype: ElementType, of: CheckedOperator) -> Table:
    """The expected results of all combinations of special values."""
    values = np.array(special_patterns(etype), bits_type(etype.id))
    return tabulate(etype, together(values, of.tensors), together(values, of.scalars), of)


# --- Special values that reach every class ------------------------------------------------------------------


def covering_scalars(
    etype: ElementType, count: int, of: CheckedOperator | None = None
) -> tuple[Array, ...]:
    """Special values of the scalars, shapes (count,), that reach every class that special values reach."""
    of = of or clip_operator()
    rows = covering_rows(etype, count, of)
    return tuple(scalar[rows] for scalar in special_table(etype, of).scalars)


@cache
def covering_rows(etype: ElementType, count: int, of: CheckedOperator) -> Array:
    """The rows of `special_table` of `covering_scalars`: a greedy cover of the classes, and random rows."""
    table = special_table(etype, of)
    if not of.scalars:
        return np.zeros(1, int)
    ids = of.class_ids(etype.family)
    missing = np.stack([(table.classes == index).any(1) for index in range(len(ids))], 1)
    rows: list[int] = []
    while missing.any():
        rows.append(int(missing.sum(1).argmax()))
        missing[:, missing[rows[-1]]] = False
    least = len(rows)
    rows += (np.random.PCG64(_SEED).random_raw(count) % table.count).tolist()
    return np.array(list(dict.fromkeys(rows))[: max(count, least)])


@cache
def chosen_bounds(etype: ElementType, *, few: bool = False) -> tuple[Array, ...]:
    """The pairs of bounds of few calls, and of forms of a model: bits, each of shape (p,).

    They reach every class, and include integers that a float32 or a float64 does not hold. Unless they are
    few, each special value is a bound of one pair, in ordinary and inverted order by turns.
    """
    low, high = covering_scalars(etype, 0)
    special = special_patterns(etype)
    side_by_side = zip(special[::2], (*special[1::2], special[0]), strict=False)
    turned = [pair if at % 2 else pair[::-1] for at, pair in enumerate(side_by_side)]
    pairs = [
        *zip(low.tolist(), high.tolist(), strict=True),
        *([] if few else turned),
        *through_float(etype),
    ]
    return tuple(np.array(list(dict.fromkeys(pairs)), bits_type(etype.id)).T)


def through_float(etype: ElementType) -> list[tuple[int, int]]:
    """The bits of pairs of integers, neighbours of which a float32 or a float64 does not hold."""
    if etype.family != "int":
        return []
    low, high = integer_range(etype)
    width = 1 << (etype.width or 0)
    return [(a % width, b % width) for a, b in _THROUGH_FLOAT if low <= a and b <= high]


def pairs_with_zero(etype: ElementType) -> list[tuple[int, int]]:
    """The bits of (0, v) and (v, 0) for each special value v.

    Converters that take a Clip for a Relu look at one bound only, and decide when the bounds are constants.
    """
    zero = int(encode("0", etype))
    special = special_patterns(etype)
    return [*((zero, value) for value in special), *((value, zero) for value in special)]


# --- Bounds in use ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChosenBounds:
    """Pairs of bounds, each with the values of X that show a mistake at these very bounds.

    Args:
        table: the expected results of every such value under every pair.
        around: the places in the pool of the values around each pair, shape (p, n). Rows are as long as the
            longest; shorter ones begin again.
    """

    table: Table
    around: Array

    def calls(self, layout: Layout, length: int) -> tuple[Request, Table]:
        """A call of a layout under each pair, of values around it; several where all entries are one."""
        if layout.repeats or length == 1:
            return self._calls_of_one_value(layout, length, _CALLS_OF_ONE_X)
        return self._request(layout, length, np.arange(self.table.count), self._resized(length))

    def calls_of_every_value(self, layout: Layout, length: int) -> tuple[Request, Table]:
        """Calls of a layout which together have all values around each pair."""
        if layout.repeats or length == 1:
            return self._calls_of_one_value(layout, length, self.around.shape[1])
        size = self.around.shape[1]
        pieces = -(-size // length)
        indices = self._resized(pieces * length).reshape(-1, length)
        rows = np.repeat(np.arange(self.table.count), pieces)
        return self._request(layout, length, rows, indices)

    def _calls_of_one_value(
        self, layout: Layout, length: int, values: int
    ) -> tuple[Request, Table]:
        first = self.around[:, :values]
        rows = np.repeat(np.arange(self.table.count), first.shape[1])
        indices = np.repeat(first.reshape(-1, 1), length, axis=1)
        return self._request(layout, length, rows, indices)

    def _resized(self, length: int) -> Array:
        """The places of the values around each pair, which begin again until there are as many."""
        size = self.around.shape[1]
        return self.around[:, np.arange(length) % size]

    def _request(
        self, layout: Layout, length: int, rows: Array, indices: Array
    ) -> tuple[Request, Table]:
        some = self.table.rows(rows)
        starts = np.zeros(len(rows), int)  # `indices` has the place of every entry
        return Request(layout.id, length, some.pool, starts, some.scalars, indices=indices), some


@cache
def used_bounds(etype: ElementType, of: CheckedOperator) -> ChosenBounds | None:
    """The bounds in use without an absent side; None if the operator has none."""
    whole = [used.sides for used in bounds_in_use(of.spec, etype) if used.is_whole]
    return bounds_with_values(etype, whole, of) if whole and of.scalars else None


def bounds_with_values(
    etype: ElementType, pairs: Iterable[Sequence[int | None]], of: CheckedOperator
) -> ChosenBounds:
    """Pairs of bounds with the values of X around each, in bits; each pair once."""
    pairs = list(dict.fromkeys(tuple(pair) for pair in pairs))
    around = [values_around([side for side in pair if side is not None], etype) for pair in pairs]
    pool = list(dict.fromkeys([value for values in around for value in values]))
    place = {value: index for index, value in enumerate(pool)}
    longest = max(len(values) for values in around)
    rows = [np.resize([place[value] for value in values], longest) for values in around]
    bits = bits_type(etype.id)
    scalars = [np.array(side, bits) for side in zip(*pairs, strict=True)]
    return ChosenBounds(tabulate(etype, [np.array(pool, bits)], scalars, of), np.array(rows))
