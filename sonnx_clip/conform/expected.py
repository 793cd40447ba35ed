"""Expected results and classes of calls, from the oracle.

The oracle judges each combination of operands or, of Clip and long calls, only the start of each range of X
in which the class is the same. The expected results of a sorted X are then slices: of X, and of bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.language.types import ElementType


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

    def counts(self, there: Array | None) -> list[int]:
        """The number of results of each class, in the order of the YAML, up to the last that occurs.

        Args:
            there: the results that count, shape (p, k); None for all.
        """
        if there is None and self.sizes is not None:
            return list(self.sizes.sum(axis=0).tolist())
        classes = self.classes.ravel() if there is None else self.classes[there]
        return list(np.bincount(classes).tolist())


def class_ids(family: str) -> tuple[str, ...]:
    """The classes of Clip in a family, in the order of the YAML."""
    return clip_operator().class_ids(family)


def tabulate(
    etype: ElementType, pools: Sequence[Array], scalars: Sequence[Array], of: CheckedOperator | None = None
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
    classes, owners = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
    for index, holds in enumerate(of.oracle.CLASSES[etype.family].values()):
        where = holds(*operands)
        owners += where
        np.putmask(classes, np.broadcast_to(where, shape), np.int8(index))
    if not np.all(owners == 1):
        raise AssertionError(f"the classes of {etype.family} do not part the triples of {etype.id}")
    return classes


def range_table(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> Table:
    """What is expected of Clip for every value of a pool under pairs of bounds: as `tabulate`, but faster.

    Raises:
        AssertionError: a pattern is in no class or in two.
    """
    of, dtype, key = clip_operator(), numpy_type(etype.id), key_type(etype)
    starts = _range_starts(etype, [scalar.view(key) for scalar in scalars])
    first = (starts.view(dtype), *(scalar.view(dtype)[:, None] for scalar in scalars))
    classes, result = _classes_of(etype, first, of), of.result(*first).view(key)
    is_x = result == starts  # a bound that equals the start of a range is alone in it

    keys, ranks = pool.view(key), None
    if not np.all(keys[:-1] <= keys[1:]):
        order = np.argsort(keys, kind="stable")
        keys, ranks = keys[order], np.argsort(order)
    begins = np.searchsorted(keys, starts)
    lengths = np.diff(begins, axis=1, append=len(keys))
    due = np.repeat(keys[None], len(starts), axis=0)
    for row, at in np.argwhere(~is_x & (lengths > 0)).tolist():
        due[row, begins[row, at] : begins[row, at] + lengths[row, at]] = result[row, at]

    def in_order(values: Array) -> Array:
        return values if ranks is None else values.take(ranks, axis=1)

    def find_classes() -> Array:
        return in_order(np.repeat(classes.ravel(), lengths.ravel()).reshape(due.shape))

    sizes = np.stack(
        [np.bincount(*row, int(classes.max()) + 1) for row in zip(classes, lengths, strict=True)]
    )
    return Table(pool, tuple(scalars), in_order(due).view(pool.dtype), find_classes, sizes=sizes.astype(int))


def key_type(etype: ElementType) -> np.dtype[Any]:
    """The integers by which values are sorted, so that each class is a few ranges: bits of floats."""
    return numpy_type(etype.id) if etype.family == "int" else bits_type(etype.id)


def _range_starts(etype: ElementType, bounds: Sequence[Array]) -> Array:
    """Where a class may begin, ascending, shape (p, r): at each value that is compared with, and after it.

    A range whose start is that of the next one is empty.
    """
    keys = key_type(etype)
    info = np.iinfo(keys)
    bits = clip_operator().oracle.CONSTANTS[etype.id].values()
    constants = np.array(list(bits), bits_type(etype.id)).view(keys)
    zeros = [0] if etype.family == "int" else [0, 1 << (8 * keys.itemsize - 1)]
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)
