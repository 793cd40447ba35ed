"""Which readings of Clip allow the answers that a runtime gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import ReadingMatch
from sonnx_clip.conform.explanations import explained
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.language.types import ElementType

KEPT = 256
"""Entries of a request that are kept, and as many of its deviations."""


def kept_places(etype: ElementType, pool: Array, size: int, *, in_order: bool) -> Array:
    """Which results of a request are compared with the readings: all of special values, else some."""
    special = in_order and np.array_equal(pool, np.array(special_patterns(etype), pool.dtype))
    return np.arange(size) if special else evenly(size, KEPT)


def evenly(number: int, count: int) -> Array:
    """At most so many of the indices below a number, spread evenly."""
    return np.arange(number) if number <= count else np.arange(count) * number // count


def match_readings(etype: ElementType, of: CheckedOperator, answers: Sequence[Array]) -> ReadingMatch | None:
    """The readings that allow some answers; None without answers or readings.

    Args:
        etype: the element type.
        of: the operator.
        answers: rows for each operand, the answer and the class, shape (rows, n): bits.
    """
    readings, bits = of.oracle.READINGS[etype.family], bits_type(etype.id)
    every = np.concatenate(answers, axis=1) if answers else np.zeros((1, 0), bits)
    if not every.size or not readings:
        return None
    *operands, got = every[:-1].view(numpy_type(etype.id))
    allowed = {id_: np.asarray(allows(*operands, got)) for id_, allows in readings.items()}
    nans = [int(encode(text, etype)) for text in ("nan", "-nan") if etype.family == "float"]
    others = [*operands, *(np.full(len(got), nan, bits).view(got.dtype) for nan in nans)]
    differ = [(y, y.view(bits) != every[-2]) for y in others]
    allows_all = tuple(id_ for id_, where in allowed.items() if where.all())
    exactly = tuple(
        id_ for id_ in allows_all
        if not any(np.any(readings[id_](*operands, y) & other) for y, other in differ)
    )  # fmt: skip
    if allows_all:
        return ReadingMatch(answers=len(got), allowed_by=allows_all, exactly=exactly)
    nearest = max(allowed, key=lambda id_: int(allowed[id_].sum()))
    left, ids = ~allowed[nearest], of.class_ids(etype.family)
    return ReadingMatch(
        answers=len(got), allowed_by=(), exactly=(), nearest=nearest, left=int(left.sum()),
        left_in=tuple(ids[index] for index in np.unique(every[-1][left])),
        explained_by=explained(of, etype, operands, got) if of.is_clip else None,
    )  # fmt: skip
