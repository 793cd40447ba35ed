"""Layouts of X in memory: SIMD loops, their tails and strided loops are different code.

Each layout arranges entries in an array whose entries, read in C order, are those it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.root.dtypes import Array


@dataclass(frozen=True)
class Layout:
    """An arrangement of entries."""

    id: str  # its name in reports
    length: int | None  # how many entries; None for as many as there are special values
    arrange: Callable[[Array], Array]  # entries, shape (length,) -> an array of its shape and strides
    text: str = "v"  # the Python text that does the same to v
    optional: bool = False  # a runtime may reject the layout without a worse verdict
    repeats: bool = False  # all entries are one in memory
    plain: bool = False  # rank 1, entries side by side, whatever the length

    @property
    def by_memory(self) -> bool:
        """Whether it differs from another layout in memory alone: in strides, alignment or place."""
        found = self.arrange(np.zeros(65 if self.length is None else self.length))
        return not found.flags.c_contiguous or not found.flags.aligned or self.id == "offset"


def _plain(v: Array) -> Array:
    return v


def _unaligned(v: Array) -> Array:
    """A copy one byte off its alignment, as NumPy reports it."""
    return np.frombuffer(b"\0" + v.tobytes(), v.dtype, offset=1)


PLAIN = Layout("contiguous", None, _plain, plain=True)
OF_RANK_0 = Layout("0-d", 1, lambda v: v.reshape(()), "v.reshape(())", optional=True)

LAYOUTS = (
    PLAIN,
    Layout("length-0", 0, _plain),
    Layout("length-1", 1, _plain, plain=True),
    Layout("length-7", 7, _plain, plain=True),
    Layout("length-64", 64, _plain, plain=True),
    Layout("length-1000", 1000, _plain, plain=True),
    Layout("every-second", 65, lambda v: np.repeat(v, 2)[::2], "np.repeat(v, 2)[::2]"),
    Layout("reversed", 65, lambda v: v[::-1].copy()[::-1], "v[::-1].copy()[::-1]"),
    Layout("transposed", 63, lambda v: v.reshape(9, 7).T.copy().T, "v.reshape(9, 7).T.copy().T"),
    Layout("offset", 65, lambda v: np.append(v[:1], v)[1:], "np.append(v[:1], v)[1:]"),
    Layout(
        "unaligned", 65, _unaligned, r"np.frombuffer(b'\0' + v.tobytes(), v.dtype, offset=1)", optional=True
    ),
    Layout("rank-2", 63, lambda v: v.reshape(9, 7), "v.reshape(9, 7)"),
    Layout("rank-3", 63, lambda v: v.reshape(3, 3, 7), "v.reshape(3, 3, 7)"),
    Layout("rank-4", 63, lambda v: v.reshape(3, 1, 3, 7), "v.reshape(3, 1, 3, 7)"),
    Layout("rank-2-empty", 0, lambda v: v.reshape(0, 3), "v.reshape(0, 3)"),
    Layout("rank-3-empty", 0, lambda v: v.reshape(3, 0, 2), "v.reshape(3, 0, 2)"),
    Layout("stride-0", 65, lambda v: np.broadcast_to(v[:1], 65), "np.broadcast_to(v[:1], 65)", repeats=True),
    OF_RANK_0,
)
BY_ID = {layout.id: layout for layout in LAYOUTS}
