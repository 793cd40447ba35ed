"""Every triple of an 8-bit integer type, the meaning of Clip in NumPy against the oracle, in milliseconds.

`sonnx_clip.clip` takes one pair of bounds a call: 65,536 calls take a fifth of a second, most of it to call.
For integers Clip is min(max, max(x, min)), also where the bounds are inverted: `sonnx-clip prove` shows that.
So all x under one min and every max are one maximum of a row, and one minimum of it against a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.compare import same_bits
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.root.dtypes import Array

COUNT = 256


@dataclass(frozen=True)
class EveryTriple:
    """What came of all triples.

    Args:
        compared: results that were compared.
        deviating: those that are not the oracle's.
        first: x, min and max of the first one; None if there is none.
    """

    compared: int
    deviating: int
    first: tuple[int, int, int] | None


def clip_under_every_max(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Write Clip of integers under one min and several max.

    Args:
        x: shape (n,).
        lower: min, shape ().
        upper: each max, shape (k,).
        out: shape (k, n); all of one integer type.
    """
    np.minimum(np.maximum(x, lower), upper[:, None], out=out)


def compare_every_triple(
    name: str, clip: Callable[[Array, Array, Array, Array], None] = clip_under_every_max
) -> EveryTriple:
    """Compare all 2^24 triples with the oracle, whose answers are computed once in a process.

    Args:
        name: ``int8`` or ``uint8``.
        clip: writes the results under one min, as `clip_under_every_max` does.

    Raises:
        UserError: another element type.
    """
    due = _due(name)
    every = _every(name)
    out = np.empty((COUNT, COUNT), every.dtype)
    deviating, first = 0, None
    for lower, wanted in zip(every, due, strict=True):
        clip(every, lower, every, out)
        if not same_bits(out, wanted):
            rows, columns = np.nonzero(out != wanted)
            deviating += len(rows)
            first = first or (int(every[columns[0]]), int(lower), int(every[rows[0]]))
    return EveryTriple(due.size, deviating, first)


def _every(name: str) -> Array:
    info = np.iinfo(numpy_type(name))
    return np.arange(info.min, info.max + 1).astype(info.dtype)


@cache
def _due(name: str) -> Array:
    """What the oracle says, for each min, max and x: shape (256, 256, 256)."""
    if name not in {"int8", "uint8"}:
        raise UserError(f"{name} has too many triples to compare all", todo="name int8 or uint8")
    every = _every(name)
    due = np.stack([load_oracle().clip(every, lower, every[:, None]) for lower in every])
    due.flags.writeable = False
    return due
