"""What is expected of long calls, without the class of each triple: for `levels`.

Of the time that judging takes, the conditions of the classes were two thirds. Where results are those that
are expected, only how many triples each class has is counted, and `class_histogram` knows that by the ends of
the ranges that the classes are. The class of a single triple is asked of the oracle where a result deviates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.chosen_triples import Table, classes_of
from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.conform.histogram import class_histogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType


@dataclass(frozen=True)
class LongTable(Table):
    """A `Table` of Clip that knows how many results are in each class, and which class one is in when asked.

    Args:
        etype: the element type.
    """

    etype: ElementType = field(kw_only=True)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many results each class has, in the order of the YAML."""
        values = _values(self.etype, self.pool)
        each = [
            tuple(class_histogram(values, *choice).values()) for choice in _choices(self.etype, self.scalars)
        ]
        return tuple(np.sum(each, axis=0).tolist())

    def classes_at(self, rows: Array, columns: Array) -> Array:
        """As that of `Table`, of these results alone."""
        scalars = [scalar[rows] for scalar in self.scalars]
        return _classes(self.etype, self.pool[columns], scalars)


def long_table(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> LongTable:
    """What is expected of long calls.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
    """
    of, bits, values = clip_operator(), bits_type(etype.id), _values(etype, pool)
    due = np.empty((len(scalars[0]), len(pool)), bits)
    for row, choice in zip(due, _choices(etype, scalars), strict=True):
        row[...] = of.result(values, *choice).view(bits)
    columns = [scalar[:, None] for scalar in scalars]
    return LongTable(pool, tuple(scalars), due, lambda: _classes(etype, pool[None, :], columns), etype=etype)


def _values(etype: ElementType, bits: Array) -> Array:
    return bits.view(numpy_type(etype.id))


def _choices(etype: ElementType, scalars: Sequence[Array]) -> Iterator[tuple[Array, ...]]:
    """Each choice of the scalars, as arrays of shape ()."""
    every = [_values(etype, scalar) for scalar in scalars]
    return (tuple(scalar[row, ...] for scalar in every) for row in range(len(every[0])))


def _classes(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> Array:
    operands = [_values(etype, operand) for operand in (pool, *scalars)]
    return classes_of(etype, operands, clip_operator())
