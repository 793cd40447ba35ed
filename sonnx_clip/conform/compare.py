"""Compares results with the expected ones, for the tally: bits first, the latitude only where bits differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.root.dtypes import Array, numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.language.types import ElementType

Policy: TypeAlias = Literal["default", "strict"]

_WORD = np.dtype(np.uint64)


@dataclass(frozen=True)
class Differences:
    """The places where bits differ.

    Args:
        rows: the call of each, shape (d,).
        columns: the entry of each, shape (d,).
        latitude: what accepts it, as an index into `latitude_ids`, or -1 if nothing does, shape (d,).
    """

    rows: Array
    columns: Array
    latitude: Array


def latitude_ids(policy: Policy, of: CheckedOperator | None = None) -> tuple[str, ...]:
    """The latitudes that a policy keeps."""
    oracle = (of or clip_operator()).oracle
    every = tuple(oracle.LATITUDE.get("float", ()))
    return every if policy == "default" else tuple(id_ for id_ in every if id_ in oracle.ALWAYS)


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays of one shape and one element type have the same bits everywhere.

    One pass, which takes about as long as a clip: what a comparison costs where nothing deviates.
    """
    if a.ndim and a.shape[-1] * a.itemsize % _WORD.itemsize == 0 and _contiguous(a) and _contiguous(b):
        # Fewer and wider entries are compared: there are fewer answers to write.
        return not np.count_nonzero(np.not_equal(a.view(_WORD), b.view(_WORD)))
    bits = np.dtype(f"u{a.itemsize}")
    return not np.count_nonzero(np.not_equal(a.view(bits), b.view(bits)))


def _contiguous(a: Array) -> bool:
    return a.flags.c_contiguous


def compare(
    etype: ElementType,
    got: Array,
    due: Array,
    operands: Sequence[Array],
    policy: Policy,
    of: CheckedOperator | None = None,
) -> Differences:
    """Find where results deviate, and what accepts the deviation.

    Args:
        etype: the element type.
        got: bits of the results, shape (p, n).
        due: bits of what is expected, shape (p, n).
        operands: bits of each tensor, of shape (p, n), and of each scalar, of shape (p,).
        policy: which latitudes count.
        of: the operator; Clip by default.
    """
    if same_bits(got, due):
        nowhere = np.zeros(0, np.intp)
        return Differences(nowhere, nowhere, nowhere)
    rows, columns = np.nonzero(got != due)
    latitude = np.full(len(rows), -1, np.int8)
    dtype = numpy_type(etype.id)
    values = [_at(part, rows, columns).view(dtype) for part in (*operands, due, got)]
    of = of or clip_operator()
    accepts = of.oracle.LATITUDE[etype.family]
    for index, id_ in enumerate(latitude_ids(policy, of)):
        latitude[(latitude < 0) & accepts[id_](*values)] = index
    return Differences(rows, columns, latitude)


def _at(part: Array, rows: Array, columns: Array) -> Array:
    """Some entries of operands or results, quickly: rows that share a pool are read from it."""
    if part.ndim == 1:
        found = part.take(rows)
    elif not part.strides[0]:
        found = part[0].take(columns)
    else:
        contiguous = part.flags.c_contiguous
        found = part.take(rows * part.shape[1] + columns) if contiguous else part[rows, columns]
    return np.asarray(found)
