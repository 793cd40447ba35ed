"""Compares results with the expected ones, for the tally: bits first, the latitude only where bits differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.root.dtypes import Array, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.language.types import ElementType

Policy: TypeAlias = Literal["default", "strict"]
Accepts: TypeAlias = "Mapping[str, Callable[..., Array]]"


@dataclass(frozen=True)
class Differences:
    """The places where bits differ.

    Args:
        rows: the call of each, shape (d,).
        columns: the entry of each, shape (d,).
        latitude: the index of what accepts it, or -1 if nothing does, shape (d,).
    """

    rows: Array
    columns: Array
    latitude: Array


def latitudes(etype: ElementType, policy: Policy, of: CheckedOperator | None = None) -> Accepts:
    """The latitudes that a policy keeps: functions of operands, expected results and results."""
    oracle = (of or clip_operator()).oracle
    found: Accepts = oracle.LATITUDE[etype.family]
    return {id_: accepts for id_, accepts in found.items() if policy == "default" or id_ in oracle.ALWAYS}


def compare(
    etype: ElementType, got: Array, due: Array, operands: Sequence[Array], accepts: Accepts
) -> Differences:
    """Find where results deviate, and what accepts the deviation.

    Args:
        etype: the element type.
        got: bits of the results, shape (p, n).
        due: bits of what is expected, shape (p, n).
        operands: bits of each tensor, of shape (p, n), and of each scalar, of shape (p,).
        accepts: by id, whether a result other than the expected one is accepted.
    """
    differ = got != due  # np.nonzero takes twice as long as the lines that follow
    if len(differ) == 1:
        columns = np.flatnonzero(differ)
        rows = np.broadcast_to(np.intp(0), columns.shape)
    else:
        rows = np.repeat(np.arange(len(differ)), np.count_nonzero(differ, axis=1))
        columns = np.flatnonzero(differ) - rows * differ.shape[1]
    if not len(rows):
        return Differences(rows, columns, np.zeros(0, np.int8))
    # Of a row that deviates nearly everywhere, the whole is judged: that takes no copies of operands.
    dense = len(differ) == 1 and 2 * len(columns) > differ.size
    judged = differ[0] if dense else columns
    latitude = np.full(len(judged), -1, np.int8)
    dtype = numpy_type(etype.id)
    values = [entries_at(part, rows, judged).view(dtype) for part in (*operands, due, got)]
    for index, accepted in reversed([*enumerate(accepts.values())]):  # the first one that accepts is named
        np.putmask(latitude, np.broadcast_to(accepted(*values), latitude.shape), index)
    return Differences(rows, columns, latitude[differ[0]] if dense else latitude)


def entries_at(part: Array, rows: Array, columns: Array) -> Array:
    """Some entries of operands or results, quickly: rows that share a pool are read from it.

    Of one row, the value of a scalar, and the row itself if all of it is meant.
    """
    if part.ndim == 1:
        found = part if len(part) == 1 else part.take(rows)
    elif len(part) == 1 and len(columns) == part.shape[1]:
        found = part[0]
    elif not part.strides[0]:
        found = part[0].take(columns)
    else:
        contiguous = part.flags.c_contiguous
        found = part.take(rows * part.shape[1] + columns) if contiguous else part[rows, columns]
    return np.asarray(found)
