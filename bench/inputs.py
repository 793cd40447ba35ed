"""What is clipped: tensors of ordinary values, with NaNs, with a zero bound, and with inverted bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sonnx_clip.root.dtypes import Array, numpy_type

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = INTEGERS + FLOATS
KINDS = ("ordinary", "nan", "zero", "inverted")

PAGE = 4096
_NAN_EVERY = 16  # of the entries, in mean
_ZERO_EVERY = 16


@dataclass(frozen=True)
class Case:
    """One question to all contestants.

    Args:
        etype: id of the element type.
        kind: one of `KINDS`.
        x: the tensor, of shape (n,), contiguous.
        lower, upper: the bounds, NumPy scalars of the type of `x`.
    """

    etype: str
    kind: str
    x: Array
    lower: Any
    upper: Any

    def output(self) -> Array:
        """An array to write to."""
        return buffer(self.etype, self.size, PAGE // 2)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.x.size)


def kinds_of(etype: str) -> tuple[str, ...]:
    """An integer type has no NaN."""
    return KINDS if etype in FLOATS else tuple(kind for kind in KINDS if kind != "nan")


def make_case(etype: str, kind: str, size: int, seed: int = 3) -> Case:
    """A case; the same for the same arguments.

    About a half of the entries lies outside the bounds of an ordinary case, in random places: no branch
    can be foretold.
    """
    if kind not in kinds_of(etype):
        raise ValueError(f"there is no {kind} case of {etype}")
    random = np.random.default_rng(seed)
    x, lower, upper = (_floats if etype in FLOATS else _integers)(etype, kind, size, random)
    if kind == "zero":
        x[random.integers(_ZERO_EVERY, size=size) == 0] = 0
    tensor = buffer(etype, size)
    tensor[...] = x
    scalar = numpy_type(etype).type
    low, high = scalar(lower), scalar(upper)
    return Case(etype, kind, tensor, *((high, low) if kind == "inverted" else (low, high)))


def buffer(etype: str, size: int, offset: int = 0) -> Array:
    """Memory for `size` elements that begins `offset` bytes after a page does.

    What NumPy allocates begins 16 bytes after a page: then x and y lie alike, and a store stalls the load
    that follows at the same place of another page. That would be measured, and not the contestants.
    """
    dtype = numpy_type(etype)
    memory = np.zeros(size * dtype.itemsize + 2 * PAGE, np.uint8)
    start = -memory.ctypes.data % PAGE + offset
    return memory[start : start + size * dtype.itemsize].view(dtype)


def _floats(etype: str, kind: str, size: int, random: np.random.Generator) -> tuple[Array, float, float]:
    x = random.standard_normal(size, np.float32)
    if kind == "nan":
        x[random.integers(_NAN_EVERY, size=size) == 0] = np.nan
    if kind == "zero":  # ReLU6
        x *= 6
        x[random.integers(_ZERO_EVERY, size=size) == 0] = -0.0
    lower, upper = (0.0, 6.0) if kind == "zero" else (-0.6875, 0.6875)
    return x.astype(numpy_type(etype)), lower, upper


def _integers(etype: str, kind: str, size: int, random: np.random.Generator) -> tuple[Array, int, int]:
    info = np.iinfo(etype)
    x = random.integers(info.min, info.max, size=size, dtype=etype, endpoint=True)
    span = int(info.max) - int(info.min)
    lower, upper = int(info.min) + span // 4, int(info.max) - span // 4
    return x, 0 if kind == "zero" else lower, upper
