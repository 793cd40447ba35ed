"""Expected results and classes of calls, from the oracle.

The oracle judges each combination of operands or, for Clip, only the two ends of each range of X in which the
class is the same. The expected results of a sorted X are then slices: of X itself, and of bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.language.types import ElementType

    Pools = Sequence[Array]  # of the tensors, each of shape (k,)


_LONG = 4096  # values of a pool: slices take less time then than entries


@dataclass(frozen=True)
class Table:
    """What is expected for every value of a pool under every choice of the scalars.

    Args:
        pool: bits of the values of the first tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        due: bits of the result, shape (p, k).
        find_classes: computes `classes`.
        beside: bits of each other tensor beside the first, of shape (k,).
        sizes: the number of results of each class, shape (p, c), where it is known without `classes`.
    """

    pool: Array
    scalars: tuple[Array, ...]
    due: Array
    find_classes: Callable[[], Array]
    beside: tuple[Array, ...] = ()
    sizes: Array | None = None

    @cached_property
    def classes(self) -> Array:
        """The class of all operands, as an index into the classes of the family, shape (p, k)."""
        return self.find_classes()

    @property
    def count(self) -> int:
        """The number of choices of the scalars: one where there are none."""
        return len(self.due)

    def rows(self, rows: Array | slice) -> Table:
        """Some choices of the scalars."""
        scalars = tuple(scalar[rows] for scalar in self.scalars)
        sizes = None if self.sizes is None else self.sizes[rows]
        return Table(self.pool, scalars, self.due[rows], lambda: self.classes[rows], self.beside, sizes)

    def pick(self, indices: Array) -> Table:
        """What is expected of calls with other entries: their places in the pool, shape (p, n)."""
        rows = np.arange(self.count)[:, None]
        return Table(self.pool, self.scalars, self.due[rows, indices], lambda: self.classes[rows, indices])

    def counts(self, rows: Array, there: Array | None = None) -> list[int]:
        """The number of results of each class, in the order of the YAML, up to the last that occurs.

        Args:
            rows: the choices of the scalars that count, shape (p,).
            there: the results that count, shape (p, k); all by default.
        """
        if self.sizes is not None and there is None:
            return list(self.sizes[rows].sum(axis=0).tolist())
        classes = self.classes[rows] if there is None else self.classes[there & rows[:, None]]
        return list(np.bincount(classes.ravel()).tolist())


def class_ids(family: str) -> tuple[str, ...]:
    """The classes of Clip in a family, in the order of the YAML."""
    return clip_operator().class_ids(family)


def tabulate(
    etype: ElementType, pools: Pools, scalars: Sequence[Array], of: CheckedOperator | None = None
) -> Table:
    """The oracle's results for every value of the pools under every choice of the scalars (bits)."""
    of, dtype = of or clip_operator(), numpy_type(etype.id)
    operands = [pool.view(dtype)[None, :] for pool in pools]
    operands += [scalar.view(dtype)[:, None] for scalar in scalars]
    shape = (len(scalars[0]) if scalars else 1, len(pools[0]))
    due = np.broadcast_to(of.result(*operands), shape).view(bits_type(etype.id))
    classes = np.broadcast_to(_classes_of(etype, operands, of), shape)
    return Table(pools[0], tuple(scalars), due, lambda: classes, tuple(pools[1:]))


def _classes_of(etype: ElementType, operands: Sequence[Array], of: CheckedOperator) -> Array:
    """The class of all operands, as an index into the classes of the family; the operands are broadcast."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    conditions = of.oracle.CLASSES[etype.family].values()
    masks = np.stack([np.broadcast_to(holds(*operands), shape) for holds in conditions])
    if not np.all(masks.sum(axis=0) == 1):
        raise AssertionError(f"the classes of {etype.family} do not part the triples of {etype.id}")
    found: Array = masks.argmax(axis=0).astype(np.int8)
    return found


# --- Clip, by ranges of X -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassRanges:
    """The keys of a type, cut where the class may change: an integer is its own key, a float has its bits.

    Args:
        starts: the first key of each range under each pair of bounds, ascending, shape (p, r); the first of
            all is the least key that there is. A range whose start is that of the next one is empty.
        classes: the class of each range, shape (p, r).
        is_x: whether Clip is X itself in a range, shape (p, r).
        results: the bound that it is elsewhere, as a key; shape (p, r).
    """

    starts: Array
    classes: Array
    is_x: Array
    results: Array


def class_ranges(etype: ElementType, bounds: Sequence[Array]) -> ClassRanges:
    """The ranges under each pair of bounds.

    Args:
        etype: the element type.
        bounds: bits of each min and each max, shape (p,).

    Raises:
        AssertionError: a pattern is in no class or in two, or the two ends of a range are in two classes, or
            Clip is neither one bound nor X at both: this module or the oracle errs.
    """
    of, dtype, keys = clip_operator(), numpy_type(etype.id), key_type(etype)
    starts = _starts(etype, [bound.view(keys) for bound in bounds])
    ends = np.empty_like(starts)  # the last key of each range
    ends[:, :-1], ends[:, -1] = starts[:, 1:], np.iinfo(keys).max
    ends[:, :-1] -= starts[:, 1:] > starts[:, :-1]
    columns = [bound.view(dtype)[:, None] for bound in bounds]
    first, last = ((at.view(dtype), *columns) for at in (starts, ends))
    classes = _classes_of(etype, first, of)
    assert np.array_equal(classes, _classes_of(etype, last, of)), "a range is in one class"
    result, result_at_end = (of.result(*operands).view(keys) for operands in (first, last))
    is_x = (result == starts) & (result_at_end == ends)
    assert np.all(is_x | (result == result_at_end)), "Clip is one bound, or X, in each class"
    return ClassRanges(starts, classes, is_x, result)


def key_type(etype: ElementType) -> np.dtype[Any]:
    """The integers by which values are sorted, so that each class is a few ranges: bits of floats."""
    return numpy_type(etype.id) if etype.family == "int" else bits_type(etype.id)


def _starts(etype: ElementType, bounds: Sequence[Array]) -> Array:
    """Where a class may begin: at each value that is compared with, and after it."""
    keys = key_type(etype)
    info = np.iinfo(keys)
    constants = np.array(list(load_oracle().CONSTANTS[etype.id].values()), bits_type(etype.id)).view(keys)
    zeros = [0] if etype.family == "int" else [0, 1 << (8 * keys.itemsize - 1)]
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)


def range_table(
    etype: ElementType, pool: Array, scalars: Sequence[Array], rows: slice = slice(None)
) -> Table:
    """What is expected of Clip for every value of a pool under some pairs of bounds.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        rows: the pairs of the table; the ranges of all pairs are kept for the next table.
    """
    every = _ranges(etype, *(scalar.tobytes() for scalar in scalars))
    ranges = ClassRanges(every.starts[rows], every.classes[rows], every.is_x[rows], every.results[rows])
    keys = pool.view(key_type(etype))
    ranks = None
    if not np.all(keys[:-1] <= keys[1:]):
        order = np.argsort(keys, kind="stable")
        keys, ranks = keys[order], np.argsort(order)
    count, classes = len(ranges.starts), int(ranges.classes.max(initial=0)) + 1
    begins = np.searchsorted(keys, ranges.starts)
    lengths = np.diff(begins, axis=1, append=len(keys))

    def spread(values: Array) -> Array:
        """The value of its range for each key, shape (p, k)."""
        return np.repeat(values.ravel(), lengths.ravel()).reshape(count, len(keys))

    def in_order(values: Array) -> Array:
        return values if ranks is None else values.take(ranks, axis=1)

    if len(keys) < _LONG:
        due = np.where(spread(ranges.is_x), keys, spread(ranges.results))
    else:
        due = np.repeat(keys[None], count, axis=0)
        for row, at in np.argwhere(~ranges.is_x & (lengths > 0)).tolist():
            begin = begins[row, at]
            due[row, begin : begin + lengths[row, at]] = ranges.results[row, at]
    owners = np.arange(count)[:, None] * classes + ranges.classes
    sizes = np.bincount(owners.ravel(), lengths.ravel(), count * classes).astype(int)
    some = tuple(scalar[rows] for scalar in scalars)
    due = in_order(due).view(pool.dtype)
    find_classes = lambda: in_order(spread(ranges.classes))  # noqa: E731
    return Table(pool, some, due, find_classes, sizes=sizes.reshape(count, classes))


@lru_cache(maxsize=4)
def _ranges(etype: ElementType, *bounds: bytes) -> ClassRanges:
    """As `class_ranges`: many stretches of X have the same bounds."""
    return class_ranges(etype, [np.frombuffer(bound, bits_type(etype.id)) for bound in bounds])
