"""Expected results and classes of calls, from the oracle.

The oracle evaluates each combination of operands. For long calls of an operator that returns one tensor or
scalars, it evaluates only the start of each range of X in which the class is constant: in a sorted X the
expected results of a range are a slice of X, or one bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType


@dataclass(frozen=True)
class Table:
    """Expected results for every value of a pool under every choice of the scalars.

    Args:
        pool: bits of the values of the first tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
        results: bits of the results, shape (p, k).
        find_classes: computes `classes`.
        beside: bits of each other tensor, of shape (k,).
        sizes: the number of results of each class, shape (p, c), if it is known without `classes`.
    """

    pool: Array
    scalars: tuple[Array, ...]
    results: Array
    find_classes: Callable[[], Array]
    beside: tuple[Array, ...] = ()
    sizes: Array | None = None

    @cached_property
    def classes(self) -> Array:
        """The class of each result, as an index into the classes of the family, shape (p, k)."""
        return self.find_classes()

    @property
    def count(self) -> int:
        """The number of choices of the scalars: one if there are none."""
        return len(self.results)

    def rows(self, rows: Array | slice) -> Table:
        """Some choices of the scalars."""
        scalars = tuple(scalar[rows] for scalar in self.scalars)
        sizes = None if self.sizes is None else self.sizes[rows]
        return Table(
            self.pool, scalars, self.results[rows], lambda: self.classes[rows], self.beside, sizes
        )

    def pick(self, indices: Array) -> Table:
        """The results of calls with these entries of the pool, shape (p, n)."""
        rows = np.arange(self.count)[:, None]
        results = self.results[rows, indices]
        return Table(self.pool, self.scalars, results, lambda: self.classes[rows, indices])

    def counts(self, there: Array | None) -> list[int]:
        """The number of results of each class, in the order of the YAML, up to the last that occurs.

        Args:
            there: mask of the results that count, shape (p, k); None for all.
        """
        if there is None and self.sizes is not None:
            return list(self.sizes.sum(axis=0).tolist())
        classes = self.classes.ravel() if there is None else self.classes[there]
        return list(np.bincount(classes).tolist())


def tabulate(
    etype: ElementType, pools: Sequence[Array], scalars: Sequence[Array], of: Operator
) -> Table:
    """The oracle's results for every value of the pools under every choice of the scalars (bits)."""
    dtype = numpy_type(etype.id)
    operands = [pool.view(dtype)[None, :] for pool in pools]
    operands += [scalar.view(dtype)[:, None] for scalar in scalars]
    shape = (len(scalars[0]) if scalars else 1, len(pools[0]))
    results = np.broadcast_to(of.result(*operands), shape).view(bits_type(etype.id))
    classes = np.broadcast_to(_classes_of(etype, operands, of), shape)
    return Table(pools[0], tuple(scalars), results, lambda: classes, tuple(pools[1:]))


def _classes_of(etype: ElementType, operands: Sequence[Array], of: Operator) -> Array:
    """The class of the operands, which are broadcast, as an index into the classes of the family.

    That the classes are a partition is proved, and evaluated for a specification that is not.
    """
    classes = np.zeros(np.broadcast_shapes(*(operand.shape for operand in operands)), np.int8)
    for index, holds in enumerate(of.oracle.CLASSES[etype.family].values()):
        np.putmask(classes, np.broadcast_to(holds(*operands), classes.shape), np.int8(index))
    return classes


# --- Tables by ranges of X ----------------------------------------------------------------------------------


def range_tables(
    etype: ElementType, of: Operator, pool: Array, scalars: Sequence[Array], step: int
) -> Iterator[Table]:
    """The tables of `tabulate`, each of at most `step` choices of the scalars, but faster.

    The operator compares one tensor with its scalars and with constants, and returns X or a scalar.
    """
    dtype, key = numpy_type(etype.id), key_type(etype)
    starts = _range_starts(etype, of, [scalar.view(key) for scalar in scalars])
    operands = (starts.view(dtype), *(scalar.view(dtype)[:, None] for scalar in scalars))
    classes, results = _classes_of(etype, operands, of), of.result(*operands).view(key)
    is_x = results == starts  # if a bound equals the start of a range, it is alone in it
    keys, ranks = pool.view(key), None
    if not np.all(keys[:-1] <= keys[1:]):
        order = np.argsort(keys, kind="stable")
        keys, ranks = keys[order], np.argsort(order)
    begins = np.searchsorted(keys, starts)
    lengths = np.diff(begins, axis=1, append=len(keys))

    def table(rows: slice) -> Table:
        found = np.tile(keys, (len(starts[rows]), 1))
        for row, at in np.argwhere((~is_x & (lengths > 0))[rows]).tolist():
            first = begins[rows][row, at]
            found[row, first : first + lengths[rows][row, at]] = results[rows][row, at]

        def in_order(values: Array) -> Array:
            return values if ranks is None else values.take(ranks, axis=1)

        def find_classes() -> Array:
            return in_order(
                np.repeat(classes[rows].ravel(), lengths[rows].ravel()).reshape(found.shape)
            )

        some = tuple(scalar[rows] for scalar in scalars)
        return Table(pool, some, in_order(found).view(pool.dtype), find_classes, sizes=sizes[rows])

    number = int(classes.max()) + 1
    of_row = classes + number * np.arange(len(classes))[:, None]
    sizes = np.bincount(of_row.ravel(), lengths.ravel(), number * len(classes))
    sizes = sizes.reshape(len(classes), number).astype(int)
    for first in range(0, len(starts), step):
        yield table(slice(first, first + step))


def key_type(etype: ElementType) -> np.dtype[Any]:
    """The integers by which values are sorted, so that each class is a few ranges: bits of floats."""
    return bits_type(etype.id) if etype.family == "float" else numpy_type(etype.id)


def _range_starts(etype: ElementType, of: Operator, bounds: Sequence[Array]) -> Array:
    """Where a class may begin, ascending, shape (p, r): at each value that X is compared with, and after it.

    A range with the same start as the next one is empty.
    """
    keys = key_type(etype)
    info = np.iinfo(keys)
    bits = of.oracle.CONSTANTS[etype.id].values()
    constants = np.array(list(bits), bits_type(etype.id)).view(keys)
    zeros = [0, 1 << (8 * keys.itemsize - 1)] if etype.family == "float" else [0]
    fixed = np.concatenate([constants, np.array(zeros, keys)])
    cuts = np.hstack([bound[:, None] for bound in bounds] + [np.tile(fixed, (len(bounds[0]), 1))])
    after = cuts + (cuts < info.max).astype(keys)
    least = np.full((len(cuts), 1), info.min, keys)
    return np.sort(np.hstack([least, cuts, after]), axis=1)
