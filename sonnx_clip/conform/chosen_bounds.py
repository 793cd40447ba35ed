"""The bounds that a check chooses: special values, those that reach every class, and those in use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.expected import tabulate
from sonnx_clip.language.special import special_patterns, spread_choices
from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.spec.bounds_in_use import bounds_in_use, values_around

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.layouts import Layout

_SEED = 20
# Bounds of int32 and int64, neighbours of which are lost in a conversion through float32 or float64.
_ABOVE_FLOAT32 = 2**24 + 1
_ABOVE_FLOAT64 = 2**53 + 1
_THROUGH_FLOAT = (
    (_ABOVE_FLOAT32, 20_000_000),
    (-20_000_000, -_ABOVE_FLOAT32),
    (_ABOVE_FLOAT64, 10**16),
)
# For each pair, in a layout whose entries are all one: one more and one less than each bound.
_CALLS_OF_ONE_X = 4

_MOST_TOGETHER = 1 << 16  # choices of values: all pairs of 8 bits, all triples of special values


def together(values: Array, count: int) -> tuple[Array, ...]:
    """All choices of `count` values, of which the last one varies fastest; or very many of them."""
    if count == 0:
        return ()
    columns: list[Array]
    if len(values) ** count > _MOST_TOGETHER:
        places = np.array([*spread_choices(len(values), count, _MOST_TOGETHER)])
        columns = list(values[places].T)
    else:
        axes = [values] * count
        grids = np.meshgrid(*axes, indexing="ij")
        columns = [grid.ravel() for grid in grids]
    # Contiguous copies, since their bits are viewed as another type.
    return tuple(map(np.ascontiguousarray, columns))


@cache
def table_of_special_values(etype: ElementType, operator: Operator) -> Table:
    """The expected results of all combinations of special values."""
    special = special_patterns(etype)
    values = np.array(special, bits_type(etype.id))
    pools = together(values, operator.tensors)
    scalars = together(values, operator.scalars)
    return tabulate(etype, pools, scalars, operator)


# --- Special values that reach every class ------------------------------------------------------------------


def covering_scalars(etype: ElementType, count: int, operator: Operator) -> tuple[Array, ...]:
    """Special values of the scalars, shapes (count,), that reach every class that special values reach."""
    rows = covering_rows(etype, count, operator)
    table = table_of_special_values(etype, operator)
    return tuple(scalar[rows] for scalar in table.scalars)


@cache
def covering_rows(etype: ElementType, count: int, operator: Operator) -> Array:
    """Rows of the special values of `covering_scalars`: a greedy cover of the classes, and random rows."""
    table = table_of_special_values(etype, operator)
    if not operator.scalars:
        return np.zeros(1, int)
    class_count = len(operator.class_ids(etype.family))
    # Whether a row reaches a class that no row before it reaches, shape (rows, classes).
    missing = _reached_classes(table, class_count)
    rows: list[int] = []
    while missing.any():
        newly_reached = missing.sum(axis=1)
        best = int(newly_reached.argmax())
        rows.append(best)
        reached = missing[best]
        missing[:, reached] = False
    # However few rows are wanted, every class is reached.
    least = len(rows)
    stream = np.random.PCG64(_SEED)
    random = stream.random_raw(count) % table.count
    rows += random.tolist()
    distinct = list(dict.fromkeys(rows))
    return np.array(distinct[: max(count, least)])


def _reached_classes(table: Table, class_count: int) -> Array:
    """Whether any X reaches each class under each choice of the scalars, shape (p, classes)."""
    columns = []
    for index in range(class_count):
        of_class = table.classes == index
        columns.append(of_class.any(axis=1))
    return np.stack(columns, axis=1)


@cache
def chosen_bounds(
    etype: ElementType, operator: Operator, *, few: bool = False
) -> tuple[Array, ...]:
    """The scalars of few calls, and of forms of a model: bits, each of shape (p,).

    They reach every class. Of two, they include integers that a float32 or a float64 does not hold. Unless
    they are few, each special value is a bound of one pair, in ordinary and inverted order by turns.
    """
    # No random bounds: of few calls, only those that reach another class are worth one.
    covering = covering_scalars(etype, 0, operator)
    if operator.scalars != 2:
        return covering
    low, high = covering
    pairs: list[tuple[int, int]] = []
    pairs += zip(low.tolist(), high.tolist(), strict=True)
    if not few:
        pairs += _neighbouring_pairs(etype)
    # Converters compute int32 in float32 (coremltools issue 2839), which these bounds show.
    pairs += through_float(etype)
    distinct = list(dict.fromkeys(pairs))
    bounds = np.array(distinct, bits_type(etype.id))
    return tuple(bounds.T)


def _neighbouring_pairs(etype: ElementType) -> list[tuple[int, int]]:
    """The bits of pairs that have each special value once, in inverted and ordinary order by turns."""
    special = special_patterns(etype)
    firsts = special[::2]
    # Of an odd number of values, the last one has the first beside it.
    seconds = (*special[1::2], special[0])
    pairs = []
    for number, (first, second) in enumerate(zip(firsts, seconds, strict=False)):
        if number % 2:
            pairs.append((first, second))
        else:
            pairs.append((second, first))
    return pairs


def through_float(etype: ElementType) -> list[tuple[int, int]]:
    """The bits of pairs of integers, neighbours of which a float32 or a float64 does not hold."""
    if etype.family != "int":
        return []
    lowest, highest = integer_range(etype)
    modulus = 1 << (etype.width or 0)
    pairs = []
    for low, high in _THROUGH_FLOAT:
        if lowest <= low and high <= highest:
            pairs.append((low % modulus, high % modulus))
    return pairs


def pairs_with_zero(etype: ElementType) -> list[tuple[int, int]]:
    """The bits of (0, v) and (v, 0) for each special value v.

    Converters that take a Clip for a Relu look at one bound only, and decide when the bounds are constants.
    """
    zero = int(encode("0", etype))
    special = special_patterns(etype)
    above = [(zero, value) for value in special]
    below = [(value, zero) for value in special]
    return [*above, *below]


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
        rows = np.arange(self.table.count)
        indices = self._resized(length)
        return self._request(layout, length, rows, indices)

    def calls_of_every_value(self, layout: Layout, length: int) -> tuple[Request, Table]:
        """Calls of a layout which together have all values around each pair."""
        size = self.around.shape[1]
        if layout.repeats or length == 1:
            return self._calls_of_one_value(layout, length, size)
        pieces = ceil(size / length)
        of_pairs = self._resized(pieces * length)
        indices = of_pairs.reshape(-1, length)
        pairs = np.arange(self.table.count)
        rows = np.repeat(pairs, pieces)
        return self._request(layout, length, rows, indices)

    def _calls_of_one_value(
        self,
        layout: Layout,
        length: int,
        values: int,
    ) -> tuple[Request, Table]:
        """Calls whose entries are equal: one for each of the first values around each pair."""
        # A layout that repeats its entry shows one value in each call.
        first = self.around[:, :values]
        pairs = np.arange(self.table.count)
        rows = np.repeat(pairs, first.shape[1])
        of_calls = first.reshape(-1, 1)
        indices = np.repeat(of_calls, length, axis=1)
        return self._request(layout, length, rows, indices)

    def _resized(self, length: int) -> Array:
        """The places of the values around each pair, which begin again until there are as many."""
        size = self.around.shape[1]
        columns = np.arange(length) % size
        return self.around[:, columns]

    def _request(
        self,
        layout: Layout,
        length: int,
        rows: Array,
        indices: Array,
    ) -> tuple[Request, Table]:
        expected = self.table.rows(rows)
        request = Request(
            layout=layout.id,
            length=length,
            pool=expected.pool,
            starts=np.zeros(len(rows), int),  # `indices` has the place of every entry
            scalars=expected.scalars,
            indices=indices,
        )
        return request, expected


@cache
def chosen_bounds_in_use(etype: ElementType, operator: Operator) -> ChosenBounds | None:
    """The bounds in use without an absent side; None if the operator has none."""
    pairs: list[Sequence[int | None]] = []
    for used in bounds_in_use(operator.spec, etype):
        # An absent side is tried in the forms of a model: a call has both bounds.
        if used.is_whole:
            pairs.append(used.sides)
    if not pairs or not operator.scalars:
        return None
    return bounds_with_values(etype, pairs, operator)


def bounds_with_values(
    etype: ElementType, pairs: Iterable[Sequence[int | None]], operator: Operator
) -> ChosenBounds:
    """Pairs of bounds with the values of X around each, in bits; each pair once."""
    distinct = dict.fromkeys(map(tuple, pairs))
    # Pairs share a pool, since many have the same values around them.
    place: dict[int, int] = {}  # of each value in the pool
    places_around: list[list[int]] = []
    longest = 0
    for pair in distinct:
        sides = [side for side in pair if side is not None]
        places = []
        for value in values_around(sides, etype):
            place.setdefault(value, len(place))
            places.append(place[value])
        places_around.append(places)
        longest = max(longest, len(places))

    around = [np.resize(places, longest) for places in places_around]
    bits = bits_type(etype.id)
    pool = np.array(list(place), bits)
    sides_of_pairs = zip(*distinct, strict=True)
    scalars = [np.array(side, bits) for side in sides_of_pairs]
    table = tabulate(etype, [pool], scalars, operator)
    return ChosenBounds(table, np.array(around))
