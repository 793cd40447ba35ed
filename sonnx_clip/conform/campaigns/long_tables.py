"""What is expected of long calls, by ranges of X: for `levels`.

The oracle is asked about the two ends of each range of X in which the class, and so what Clip gives, is one
(`class_ranges`), not about each X: that takes ten times as long as a runtime.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.chosen_triples import Table
from sonnx_clip.conform.class_ranges import ClassRanges, class_ranges, key_type
from sonnx_clip.conform.dtypes import Array, numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.language.types import ElementType


@dataclass(frozen=True)
class LongTable(Table):
    """A `Table` of Clip that knows how many results are in each class, and which class one is in when asked.

    Args:
        ranges: of X, under each pair of bounds.
        order: the places of the pool in the order of its keys; None if that is the order of the pool.
        ends: where each range begins in that order, and where the last one ends, shape (p, r + 1).
    """

    ranges: ClassRanges = field(kw_only=True)
    order: Array | None = field(kw_only=True)
    ends: Array = field(kw_only=True)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many results each class has, in the order of the YAML."""
        counts = np.zeros(len(self.ranges.ids), int)
        np.add.at(counts, self.ranges.classes, np.diff(self.ends))
        return tuple(counts.tolist())

    def classes_at(self, rows: Array, columns: Array) -> Array:
        """As that of `Table`, of these results alone."""
        found = np.empty(len(rows), np.int8)
        changes = np.flatnonzero(rows[1:] != rows[:-1]) + 1  # most come row by row
        for begin, end in pairwise((0, *changes.tolist(), len(rows)) if len(rows) else ()):
            row, here = rows[begin], slice(begin, end)
            found[here] = _classes(self.order, self.ends[row], self.ranges.classes[row])[columns[here]]
        return found


def _fill(row: Array, order: Array | None, ends: Array, values: Array, where: Array | None = None) -> None:
    """Write what each range has.

    Args:
        row: what is written, shape (k,).
        order: as that of `LongTable`.
        ends: where each range begins, and where the last one ends, shape (r + 1,).
        values: of each range, shape (r,).
        where: which ranges are written, shape (r,); all by default.
    """
    wanted = ends[:-1] < ends[1:] if where is None else where & (ends[:-1] < ends[1:])
    for begin, end, value in zip(ends[:-1][wanted], ends[1:][wanted], values[wanted], strict=True):
        row[slice(begin, end) if order is None else order[begin:end]] = value


def long_table(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> LongTable:
    """What is expected of long calls.

    Args:
        etype: the element type.
        pool: bits of the values of the tensor, shape (k,).
        scalars: bits of each scalar, of shape (p,).
    """
    dtype = numpy_type(etype.id)
    ranges = _ranges(dtype, *(scalar.tobytes() for scalar in scalars))
    keys = pool.view(key_type(dtype))
    order = None if np.all(keys[:-1] <= keys[1:]) else np.argsort(keys, kind="stable")
    begins = np.searchsorted(keys, ranges.starts, sorter=order)
    ends = np.hstack([begins, np.full((len(begins), 1), len(keys))])
    due = np.empty((len(ends), len(keys)), keys.dtype)
    due[...] = keys
    for row, of_row, results, is_x in zip(due, ends, ranges.results, ranges.is_x, strict=True):
        _fill(row, order, of_row, results, ~is_x)

    def classes() -> Array:
        return np.stack([_classes(order, *both) for both in zip(ends, ranges.classes, strict=True)])

    given = pool, tuple(scalars), due.view(pool.dtype), classes
    return LongTable(*given, ranges=ranges, order=order, ends=ends)


def _classes(order: Array | None, ends: Array, classes: Array) -> Array:
    """Those of a pool under a pair of bounds, shape (k,)."""
    found = np.empty(ends[-1], np.int8)
    _fill(found, order, ends, classes)
    return found


@lru_cache(maxsize=4)
def _ranges(dtype: np.dtype[Any], *bounds: bytes) -> ClassRanges:
    """As `class_ranges`: many stretches of X have the same bounds."""
    return class_ranges(dtype, [np.frombuffer(bound, dtype) for bound in bounds])
