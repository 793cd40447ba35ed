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
        sizes = self.sizes
        if sizes is not None:
            sizes = sizes[rows]
        return Table(
            pool=self.pool,
            scalars=tuple(scalar[rows] for scalar in self.scalars),
            results=self.results[rows],
            # Late: where all results are right and `sizes` is known, no class is needed.
            find_classes=lambda: self.classes[rows],
            beside=self.beside,
            sizes=sizes,
        )

    def pick(self, indices: Array) -> Table:
        """The results of calls with these entries of the pool, shape (p, n)."""
        rows = np.arange(self.count)[:, None]
        return Table(
            pool=self.pool,
            scalars=self.scalars,
            results=self.results[rows, indices],
            find_classes=lambda: self.classes[rows, indices],
        )

    def counts(self, mask: Array | None) -> list[int]:
        """The number of results of each class, in the order of the YAML, up to the last that occurs.

        Args:
            mask: of the results that count, shape (p, k); None for all.
        """
        # Ranges know how many values they have, so that the classes of these are not made.
        if mask is not None:
            numbers = np.bincount(self.classes[mask])
        elif self.sizes is not None:
            numbers = self.sizes.sum(axis=0)
        else:
            numbers = np.bincount(self.classes.ravel())
        return list(numbers.tolist())


def tabulate(
    etype: ElementType,
    pools: Sequence[Array],
    scalars: Sequence[Array],
    operator: Operator,
) -> Table:
    """The oracle's results for every value of the pools under every choice of the scalars (bits)."""
    dtype = numpy_type(etype.id)
    operands = [pool.view(dtype)[None, :] for pool in pools]
    operands += [scalar.view(dtype)[:, None] for scalar in scalars]

    choices = len(scalars[0]) if scalars else 1
    shape = (choices, len(pools[0]))
    # What does not depend on every operand has a smaller shape.
    result = operator.result(*operands)
    results = np.broadcast_to(result, shape)
    classes_of_operands = _classes_of(etype, operands, operator)
    classes = np.broadcast_to(classes_of_operands, shape)
    return Table(
        pool=pools[0],
        scalars=tuple(scalars),
        results=results.view(bits_type(etype.id)),
        find_classes=lambda: classes,
        beside=tuple(pools[1:]),
    )


def _classes_of(etype: ElementType, operands: Sequence[Array], operator: Operator) -> Array:
    """The class of the operands, which are broadcast, as an index into the classes of the family.

    That the classes are a partition is proved, and evaluated for a specification that is not.
    """
    shapes = [operand.shape for operand in operands]
    shape = np.broadcast_shapes(*shapes)
    # An index of one byte: long calls have a million results in a request.
    classes = np.zeros(shape, np.int8)
    predicates = operator.oracle.CLASSES[etype.family].values()
    for index, holds in enumerate(predicates):
        mask = np.broadcast_to(holds(*operands), shape)
        np.putmask(classes, mask, np.int8(index))
    return classes


# --- Tables by ranges of X ----------------------------------------------------------------------------------


def range_tables(
    etype: ElementType,
    operator: Operator,
    pool: Array,
    scalars: Sequence[Array],
    step: int,
) -> Iterator[Table]:
    """The tables of `tabulate`, each of at most `step` choices of the scalars, but faster.

    The operator compares one tensor with its scalars and with constants, and returns X or a scalar.
    """
    ranges = _Ranges.of(etype, operator, pool, scalars)
    for first in range(0, len(ranges.starts), step):
        yield ranges.table(slice(first, first + step))


@dataclass(frozen=True)
class _Ranges:
    """The ranges of a sorted pool under each choice of the scalars: p choices, r ranges each."""

    pool: Array
    scalars: Sequence[Array]
    sorted_keys: Array  # the pool in the order of the element type
    ranks: Array | None  # where each value of the pool is among `sorted_keys`; None if it is sorted
    starts: Array  # the first key of each range, shape (p, r)
    begins: Array  # the index of the first value of each range, shape (p, r)
    lengths: Array  # how many values each range has, shape (p, r)
    classes: Array  # the class of each range, shape (p, r)
    results: Array  # the result at the start of each range, shape (p, r)

    @classmethod
    def of(
        cls,
        etype: ElementType,
        operator: Operator,
        pool: Array,
        scalars: Sequence[Array],
    ) -> _Ranges:
        dtype = numpy_type(etype.id)
        key = key_type(etype)
        bounds = [scalar.view(key) for scalar in scalars]
        starts = _range_starts(etype, operator, bounds)
        # X is the start of each range: within it, class and result do not change.
        columns = [scalar.view(dtype)[:, None] for scalar in scalars]
        operands = (starts.view(dtype), *columns)

        # Pools of `FIRST` are not sorted: special values come before random ones.
        sorted_keys = pool.view(key)
        ranks = None
        is_sorted = np.all(sorted_keys[:-1] <= sorted_keys[1:])
        if not is_sorted:
            order = np.argsort(sorted_keys, kind="stable")
            sorted_keys = sorted_keys[order]
            ranks = np.argsort(order)
        begins = np.searchsorted(sorted_keys, starts)
        return cls(
            pool=pool,
            scalars=scalars,
            sorted_keys=sorted_keys,
            ranks=ranks,
            starts=starts,
            begins=begins,
            lengths=np.diff(begins, axis=1, append=len(sorted_keys)),
            classes=_classes_of(etype, operands, operator),
            results=operator.result(*operands).view(key),
        )

    @cached_property
    def sizes(self) -> Array:
        """How many results each class has under each choice, shape (p, c)."""
        choices = len(self.classes)
        count = int(self.classes.max()) + 1
        # Counted at once: the classes of each choice have numbers of their own.
        firsts = count * np.arange(choices)
        numbers = self.classes + firsts[:, None]
        sizes = np.bincount(numbers.ravel(), self.lengths.ravel(), count * choices)
        return sizes.reshape(choices, count).astype(int)

    def table(self, rows: slice) -> Table:
        """The table under some choices of the scalars."""
        starts = self.starts[rows]
        begins = self.begins[rows]
        lengths = self.lengths[rows]
        results = self.results[rows]
        classes = self.classes[rows]
        expected = np.tile(self.sorted_keys, (len(starts), 1))

        # Where the result is not X, it is the same bound in the whole range. If a bound equals the start
        # of a range, it is alone in it, and both are the same.
        is_bound = (results != starts) & (lengths > 0)
        for row, column in np.argwhere(is_bound).tolist():
            begin = begins[row, column]
            end = begin + lengths[row, column]
            expected[row, begin:end] = results[row, column]

        def find_classes() -> Array:
            of_values = np.repeat(classes.ravel(), lengths.ravel())
            of_rows = of_values.reshape(expected.shape)
            return self._as_in_pool(of_rows)

        return Table(
            pool=self.pool,
            scalars=tuple(scalar[rows] for scalar in self.scalars),
            results=self._as_in_pool(expected).view(self.pool.dtype),
            find_classes=find_classes,
            sizes=self.sizes[rows],
        )

    def _as_in_pool(self, values: Array) -> Array:
        """Values for each sorted key, in the order of the pool."""
        if self.ranks is None:
            return values
        return values.take(self.ranks, axis=1)


def key_type(etype: ElementType) -> np.dtype[Any]:
    """The integers by which values are sorted, so that each class is a few ranges: bits of floats."""
    if etype.family == "float":
        return bits_type(etype.id)
    return numpy_type(etype.id)


def _range_starts(etype: ElementType, operator: Operator, bounds: Sequence[Array]) -> Array:
    """Where a class may begin, ascending, shape (p, r): at each value that X is compared with, and after it.

    A range with the same start as the next one is empty.
    """
    keys = key_type(etype)
    limits = np.iinfo(keys)
    constants_of_type = operator.oracle.CONSTANTS[etype.id]
    constants = [*constants_of_type.values(), 0]
    # As bits, -0 is far from +0, and the negative floats begin there.
    if etype.family == "float":
        sign = limits.bits - 1
        constants.append(1 << sign)
    constant_bits = np.array(constants, bits_type(etype.id))
    constant_keys = constant_bits.view(keys)

    choices = len(bounds[0])
    columns = [bound[:, None] for bound in bounds]
    columns.append(np.tile(constant_keys, (choices, 1)))
    cuts = np.hstack(columns)
    # Behind the greatest key there is none: one more would wrap around to the least key.
    is_below_last = cuts < limits.max
    after_cuts = cuts + is_below_last.astype(keys)
    least = np.full((choices, 1), limits.min, keys)
    starts = np.hstack([least, cuts, after_cuts])
    return np.sort(starts, axis=1)
