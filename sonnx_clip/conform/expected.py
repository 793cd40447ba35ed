"""Expected results and classes of calls, from the oracle.

The oracle judges each combination of operands or, for Clip, only the two ends of each range of X in which the
class is the same: that takes a tenth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Table:
    """What is expected for every value of a pool under every choice of the scalars.

    Args:
        pool: bits of the values of the first tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        due: bits of the result, shape (p, k).
        find_classes: computes `classes`.
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
        """The number of choices of the scalars: one where there are none."""
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
        """The number of results of each class, in the order of the YAML, up to the last that occurs."""
        last = int(self.classes.max(initial=-1))
        return tuple(int(np.count_nonzero(self.classes == index)) for index in range(last + 1))


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
    of, dtype, keys = clip_operator(), numpy_type(etype.id), _key_type(etype)
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


def _key_type(etype: ElementType) -> np.dtype[Any]:
    return numpy_type(etype.id) if etype.family == "int" else bits_type(etype.id)


def _starts(etype: ElementType, bounds: Sequence[Array]) -> Array:
    """Where a class may begin: at each value that is compared with, and after it."""
    keys = _key_type(etype)
    info = np.iinfo(keys)
    constants = np.array(list(load_oracle().CONSTANTS[etype.id].values()), bits_type(etype.id)).view(keys)
    zeros = [0] if etype.family == "int" else [0, 1 << (8 * keys.itemsize - 1)]
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)


@dataclass(frozen=True)
class RangeTable(Table):
    """A `Table` of Clip that counts the classes without looking at each result.

    Args:
        sizes: of each range: the number of values of the pool in it, shape (p, r).
        of_ranges: the class of each range, shape (p, r).
    """

    sizes: Array = field(kw_only=True)
    of_ranges: Array = field(kw_only=True)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of results of each class, as that of `Table`."""
        found = np.bincount(self.of_ranges.ravel(), self.sizes.ravel()).astype(int).tolist()
        while found and not found[-1]:
            found.pop()
        return tuple(found)


def range_table(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> RangeTable:
    """What is expected of Clip for every value of a pool under every pair of bounds.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
    """
    ranges = _ranges(etype, *(scalar.tobytes() for scalar in scalars))
    keys = pool.view(_key_type(etype))
    order = None if np.all(keys[:-1] <= keys[1:]) else np.argsort(keys, kind="stable")
    ranks = None if order is None else np.argsort(order)
    begins = np.searchsorted(keys, ranges.starts, sorter=order)
    sizes = np.diff(begins, axis=1, append=len(keys))

    def spread(values: Array) -> Array:
        """The value of its range for each value of the pool, shape (p, k)."""
        found = np.repeat(values.ravel(), sizes.ravel()).reshape(len(sizes), len(keys))
        return found if ranks is None else found.take(ranks, axis=1)

    due = np.where(spread(ranges.is_x), keys, spread(ranges.results)).view(pool.dtype)
    given = pool, tuple(scalars), due, lambda: spread(ranges.classes)
    return RangeTable(*given, sizes=sizes, of_ranges=ranges.classes)


@lru_cache(maxsize=4)
def _ranges(etype: ElementType, *bounds: bytes) -> ClassRanges:
    """As `class_ranges`: many stretches of X have the same bounds."""
    return class_ranges(etype, [np.frombuffer(bound, bits_type(etype.id)) for bound in bounds])


def whole_table(
    etype: ElementType, pools: Pools, scalars: Sequence[Array], of: CheckedOperator | None = None
) -> Table:
    """What is expected of calls that each have the whole pools, as `tabulate`; of Clip by ranges."""
    of = of or clip_operator()
    return range_table(etype, pools[0], scalars) if of.is_clip else tabulate(etype, pools, scalars, of)
