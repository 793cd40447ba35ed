"""What is expected of long calls, without the class of each triple: for `levels`.

Of the time that judging takes, the conditions of the classes were two thirds. Where results are those that
are expected, only how many triples each class has is counted, and `class_histogram` knows that by the ends of
the ranges that the classes are. The class of a single triple is asked of the oracle where a result deviates.
"""

from __future__ import annotations

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


class LongTable(Table):
    """A `Table` of Clip that knows how many results are in each class, and which class one is in when asked.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
    """

    def __init__(self, etype: ElementType, pool: Array, scalars: Sequence[Array]) -> None:
        of, bits = clip_operator(), bits_type(etype.id)
        due = np.empty((len(scalars[0]), len(pool)), bits)
        given = {"pool": pool, "scalars": tuple(scalars), "due": due, "beside": ()}
        self.__dict__.update(given, _etype=etype)
        for row, choice in zip(due, self._choices, strict=True):
            row[...] = of.result(self._values, *choice).view(bits)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many results each class has, in the order of the YAML."""
        each = [tuple(class_histogram(self._values, *choice).values()) for choice in self._choices]
        return tuple(np.sum(each, axis=0).tolist())

    @cached_property
    def classes(self) -> Array:
        """The class of each result, shape (p, k): worked out when it is asked for."""
        scalars = [scalar.view(self._values.dtype)[:, None] for scalar in self.scalars]
        return classes_of(self.__dict__["_etype"], [self._values[None, :], *scalars], clip_operator())

    def classes_at(self, rows: Array, columns: Array) -> Array:
        """As that of `Table`, of these results alone."""
        scalars = [scalar.view(self._values.dtype)[rows] for scalar in self.scalars]
        return classes_of(self.__dict__["_etype"], [self._values[columns], *scalars], clip_operator())

    @property
    def _values(self) -> Array:
        return self.pool.view(numpy_type(self.__dict__["_etype"].id))

    @property
    def _choices(self) -> Iterator[tuple[Array, ...]]:
        """Each choice of the scalars, as arrays of shape ()."""
        scalars = [scalar.view(self._values.dtype) for scalar in self.scalars]
        return (tuple(scalar[row, ...] for scalar in scalars) for row in range(len(scalars[0])))
