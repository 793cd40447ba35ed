"""Layouts of X in memory: SIMD loops, their tails and strided loops are different code.

Each layout arranges entries in an array whose entries, read in C order, are those it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
    text: str = "v"  # Python text of the array, from entries v of shape (length,)
    optional: bool = False  # a runtime may reject the layout without a worse verdict
    repeats: bool = False  # all entries are one in memory
    plain: bool = False  # rank 1, entries side by side, whatever the length

    @cached_property
    def arrange(self) -> Callable[[Array], Array]:
        """A function: entries, shape (length,) -> an array of the layout's shape and strides."""
        function: Callable[[Array], Array] = eval(f"lambda v: {self.text}", {"np": np})  # noqa: S307 - from here
        return function

    @property
    def by_memory(self) -> bool:
        """Whether it differs from another layout in memory alone: in strides, alignment or place."""
        # Of a layout of any length some entries suffice: the flags do not depend on how many.
        array = self.arrange(np.zeros(65 if self.length is None else self.length))
        return not array.flags.c_contiguous or not array.flags.aligned or self.id == "offset"


PLAIN = Layout("contiguous", None, plain=True)

LAYOUTS = (
    PLAIN,
    Layout("length-0", 0),
    Layout("length-1", 1, plain=True),
    Layout("length-7", 7, plain=True),
    Layout("length-64", 64, plain=True),
    Layout("length-1000", 1000, plain=True),
    # 65 and 63 are no multiples of the length of a vector, so that every loop has a tail.
    Layout("every-second", 65, "np.repeat(v, 2)[::2]"),
    Layout("reversed", 65, "v[::-1].copy()[::-1]"),
    Layout("transposed", 63, "v.reshape(9, 7).T.copy().T"),
    Layout("offset", 65, "np.append(v[:1], v)[1:]"),
    Layout(
        "unaligned", 65, r"np.frombuffer(b'\0' + v.tobytes(), v.dtype, offset=1)", optional=True
    ),
    Layout("rank-2", 63, "v.reshape(9, 7)"),
    Layout("rank-3", 63, "v.reshape(3, 3, 7)"),
    Layout("rank-4", 63, "v.reshape(3, 1, 3, 7)"),
    Layout("rank-2-empty", 0, "v.reshape(0, 3)"),
    Layout("rank-3-empty", 0, "v.reshape(3, 0, 2)"),
    Layout("stride-0", 65, "np.broadcast_to(v[:1], 65)", repeats=True),
    Layout("0-d", 1, "v.reshape(())", optional=True),
)
BY_ID = {layout.id: layout for layout in LAYOUTS}
NUMBER_OF = {layout.id: number for number, layout in enumerate(LAYOUTS)}
"""The place of each layout in `LAYOUTS`, by its id."""
