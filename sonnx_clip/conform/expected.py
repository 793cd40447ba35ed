"""What is expected of calls: the oracle's word on each triple; or, of Clip, on the ends of each range of X in
which the class is one, which takes a tenth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.language.types import ElementType

    Pools = Sequence[Array]  # of the tensors, each of shape (k,)

_SHORT = 2**12  # values of a pool: up to so many, the ranges of all rows are written at once


@dataclass(frozen=True)
class Table:
    """What is expected for every value of a pool under every choice of the scalars.

    Args:
        pool: bits of the values of the first tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        due: bits of the result, shape (p, k).
        find_classes: what works `classes` out.
        beside: bits of each other tensor beside the first, of shape (k,).
    """

    pool: Array
    scalars: tuple[Array, ...]
    due: Array
    find_classes: Callable[[], Array]
    beside: tuple[Array, ...] = ()

    @cached_property
    def classes(self) -> Array:
        """The class of all operands, as an index into the classes of the family, shape (p, k)."""
        return self.find_classes()

    @property
    def count(self) -> int:
        """How many choices of the scalars there are: one where there are none."""
        return len(self.due)

    def rows(self, rows: Array | slice) -> Table:
        """Some choices of the scalars."""
        scalars = tuple(scalar[rows] for scalar in self.scalars)
        return Table(self.pool, scalars, self.due[rows], lambda: self.classes[rows], self.beside)

    def pick(self, indices: Array) -> Table:
        """What is expected of calls with other entries: their places in the pool, shape (p, n)."""
        rows = np.arange(self.count)[:, None]
        return Table(self.pool, self.scalars, self.due[rows, indices], lambda: self.classes[rows, indices])

    @property
    def counts(self) -> tuple[int, ...]:
        """How many results each class has, in the order of the YAML; classes behind the last are left out."""
        last = int(self.classes.max(initial=-1))
        return tuple(int(np.count_nonzero(self.classes == index)) for index in range(last + 1))

    def classes_at(self, rows: Array, columns: Array) -> Array:
        """The classes of some results, each by its choice of the scalars and its place in the pool."""
        found: Array = self.classes[rows, columns]
        return found


def class_ids(family: str) -> tuple[str, ...]:
    """The classes of Clip in a family, in the order of the YAML."""
    return clip_operator().class_ids(family)


def tabulate(
    etype: ElementType, pools: Pools, scalars: Sequence[Array], of: CheckedOperator | None = None
) -> Table:
    """The oracle's word on every value of the pools under every choice of the scalars (bits)."""
    of, dtype = of or clip_operator(), numpy_type(etype.id)
    operands = [pool.view(dtype)[None, :] for pool in pools]
    operands += [scalar.view(dtype)[:, None] for scalar in scalars]
    shape = (len(scalars[0]) if scalars else 1, len(pools[0]))
    due = np.broadcast_to(of.result(*operands), shape).view(bits_type(etype.id))
    classes = classes_of(etype, operands, of)
    return Table(pools[0], tuple(scalars), due, lambda: classes, tuple(pools[1:]))


def classes_of(etype: ElementType, operands: Sequence[Array], of: CheckedOperator) -> Array:
    """The class of all operands, as an index into the classes of the family; the operands are broadcast."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    masks = [np.broadcast_to(holds(*operands), shape) for holds in of.oracle.CLASSES[etype.family].values()]
    if not np.all(sum(mask.astype(np.int8) for mask in masks) == 1):
        raise AssertionError(f"the classes of {etype.family} do not part the triples of {etype.id}")
    return np.select(masks, [np.int8(i) for i in range(len(masks))]).astype(np.int8)


# --- The classes of X, by ranges ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassRanges:
    """The keys of a type, cut where the class may change: an integer is its own key, a float has its bits.

    Args:
        ids: the classes of the family, in the order of the YAML.
        starts: the first key of each range under each pair of bounds, ascending, shape (p, r); the first of
            all is the least key that there is. A range whose start is that of the next one is empty.
        classes: the class of each range, as an index into `ids`, shape (p, r).
        is_x: whether Clip is X itself in a range, shape (p, r).
        results: the bound that it is elsewhere, as a key; shape (p, r).
    """

    ids: tuple[str, ...]
    starts: Array
    classes: Array
    is_x: Array
    results: Array


def key_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the keys of an element type."""
    return dtype if load_oracle().FAMILY_OF[dtype.name] == "int" else np.dtype(f"u{dtype.itemsize}")


def class_ranges(dtype: np.dtype[Any], bounds: Sequence[Array]) -> ClassRanges:
    """The ranges under each pair of bounds.

    Args:
        dtype: an element type of the profile.
        bounds: each min and each max, of this type, shape (p,).

    Raises:
        AssertionError: a pattern is in no class or in two, or the two ends of a range are in two classes, or
            Clip is neither one bound nor X at both: this module or the oracle errs.
    """
    oracle, keys = load_oracle(), key_type(dtype)
    starts = _starts(dtype, [bound.view(keys) for bound in bounds])
    ends = np.empty_like(starts)  # the last key of each range
    ends[:, :-1], ends[:, -1] = starts[:, 1:], np.iinfo(keys).max
    ends[:, :-1] -= starts[:, 1:] > starts[:, :-1]
    columns = [bound[:, None] for bound in bounds]
    first, last = ((at.view(dtype), *columns) for at in (starts, ends))
    conditions = oracle.CLASSES[oracle.FAMILY_OF[dtype.name]]
    masks = _holding(conditions, first)
    assert np.all(masks.sum(axis=0) == 1), "a triple is in one class"
    assert np.array_equal(masks, _holding(conditions, last)), "a range is in one class"
    result, result_at_end = (oracle.clip(*operands).view(keys) for operands in (first, last))
    is_x = (result == starts) & (result_at_end == ends)
    assert np.all(is_x | (result == result_at_end)), "Clip is one bound, or X, in each class"
    return ClassRanges(tuple(conditions), starts, masks.argmax(axis=0), is_x, result)


def _holding(conditions: Mapping[str, Callable[..., Array]], operands: Sequence[Array]) -> Array:
    """Which conditions hold, one after the other, shape (number of them, p, r)."""
    shape = operands[0].shape
    return np.stack([np.broadcast_to(holds(*operands), shape) for holds in conditions.values()])


def _starts(dtype: np.dtype[Any], bounds: Sequence[Array]) -> Array:
    """Where a class may begin: at each value that is compared with, and after it."""
    oracle, keys = load_oracle(), key_type(dtype)
    info = np.iinfo(keys)
    constants = np.array(list(oracle.CONSTANTS[dtype.name].values()), f"u{keys.itemsize}").view(keys)
    zeros = [0] if keys == dtype else [0, 1 << (8 * keys.itemsize - 1)]  # that NaNs begin is a constant
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)


# --- What is expected, by ranges ----------------------------------------------------------------------------
#
# The oracle is asked about the two ends of each range of X in which the class, and so what Clip gives, is one
# (`class_ranges`), not about each X: that takes ten times as long as a runtime.


@dataclass(frozen=True)
class RangeTable(Table):
    """A `Table` of Clip that knows how many results are in each class, and which class one is in when asked.

    Args:
        ranges: of X, under each pair of bounds.
        order: the places of the pool in the order of its keys; None if that is the order of the pool.
        ends: where each range begins in that order, and where the last one ends, shape (p, r + 1).
        short: whether the pool is so short that the classes of all rows are found at once.
    """

    ranges: ClassRanges = field(kw_only=True)
    order: Array | None = field(kw_only=True)
    ends: Array = field(kw_only=True)
    short: bool = field(kw_only=True)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many results each class has, in the order of the YAML."""
        counts = np.zeros(len(self.ranges.ids), int)
        np.add.at(counts, self.ranges.classes, np.diff(self.ends))
        return tuple(counts.tolist())

    def classes_at(self, rows: Array, columns: Array) -> Array:
        """As that of `Table`, of these results alone."""
        if self.short:
            return super().classes_at(rows, columns)
        found = np.empty(len(rows), np.int8)
        changes = np.flatnonzero(rows[1:] != rows[:-1]) + 1  # most come row by row
        for begin, end in pairwise((0, *changes.tolist(), len(rows)) if len(rows) else ()):
            row, here = rows[begin], slice(begin, end)
            found[here] = _classes(self.order, self.ends[row], self.ranges.classes[row])[columns[here]]
        return found


def _spread(order: Array | None, ends: Array, values: Array) -> Array:
    """What each range has at each value of a pool, of all rows at once, shape (p, k).

    Args:
        order: as that of `RangeTable`.
        ends: likewise.
        values: of each range, shape (p, r).
    """
    found = np.repeat(values.ravel(), np.diff(ends).ravel()).reshape(len(ends), -1)
    if order is None:
        return found
    placed = np.empty_like(found)
    placed[:, order] = found
    return placed


def _fill(row: Array, order: Array | None, ends: Array, values: Array, where: Array | None = None) -> None:
    """Write what each range has.

    Args:
        row: what is written, shape (k,).
        order: as that of `RangeTable`.
        ends: where each range begins, and where the last one ends, shape (r + 1,).
        values: of each range, shape (r,).
        where: which ranges are written, shape (r,); all by default.
    """
    wanted = ends[:-1] < ends[1:] if where is None else where & (ends[:-1] < ends[1:])
    for begin, end, value in zip(ends[:-1][wanted], ends[1:][wanted], values[wanted], strict=True):
        row[slice(begin, end) if order is None else order[begin:end]] = value


def range_table(
    etype: ElementType, pool: Array, scalars: Sequence[Array], at_once: int = _SHORT
) -> RangeTable:
    """What is expected of Clip for every value of a pool under every pair of bounds.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        at_once: values of a pool up to which all rows are written at once, not each by itself.
    """
    dtype = numpy_type(etype.id)
    ranges = _ranges(dtype, *(scalar.tobytes() for scalar in scalars))
    keys = pool.view(key_type(dtype))
    order = None if np.all(keys[:-1] <= keys[1:]) else np.argsort(keys, kind="stable")
    begins = np.searchsorted(keys, ranges.starts, sorter=order)
    ends = np.hstack([begins, np.full((len(begins), 1), len(keys))])
    short = len(pool) <= at_once
    if short:
        results = _spread(order, ends, ranges.results)
        due = np.where(_spread(order, ends, ranges.is_x), keys, results)
    else:
        due = np.empty((len(ends), len(keys)), keys.dtype)
        due[...] = keys
        for row, of_row, values, is_x in zip(due, ends, ranges.results, ranges.is_x, strict=True):
            _fill(row, order, of_row, values, ~is_x)

    def classes() -> Array:
        if short:
            return _spread(order, ends, ranges.classes.astype(np.int8))
        return np.stack([_classes(order, *both) for both in zip(ends, ranges.classes, strict=True)])

    given = pool, tuple(scalars), due.view(pool.dtype), classes
    return RangeTable(*given, ranges=ranges, order=order, ends=ends, short=short)


def whole_table(
    etype: ElementType, pools: Pools, scalars: Sequence[Array], of: CheckedOperator | None = None
) -> Table:
    """What is expected of calls that each have the pools as they stand; of Clip by ranges.

    Args:
        etype: the element type.
        pools: as for `tabulate`, and likewise the others.
        scalars: likewise.
        of: likewise.
    """
    of = of or clip_operator()
    return range_table(etype, pools[0], scalars) if of.is_clip else tabulate(etype, pools, scalars, of)


def _classes(order: Array | None, ends: Array, classes: Array) -> Array:
    """Those of a pool under a pair of bounds, shape (k,)."""
    found = np.empty(ends[-1], np.int8)
    _fill(found, order, ends, classes)
    return found


@lru_cache(maxsize=4)
def _ranges(dtype: np.dtype[Any], *bounds: bytes) -> ClassRanges:
    """As `class_ranges`: many stretches of X have the same bounds."""
    return class_ranges(dtype, [np.frombuffer(bound, dtype) for bound in bounds])
