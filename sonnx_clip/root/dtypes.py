"""The NumPy types of the element types, and bits as text."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from sonnx_clip.root.bit_pattern import BitPattern

Array: TypeAlias = np.ndarray[Any, Any]


@cache
def numpy_type(name: str) -> np.dtype[Any]:
    """The dtype of an element type, by its id."""
    # By its type: it is not among NumPy's own names.
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


@cache
def bits_type(name: str) -> np.dtype[Any]:
    """The unsigned integer type as wide as an element type."""
    size = numpy_type(name).itemsize
    return np.dtype(f"u{size}")


def from_bits(patterns: Any, name: str) -> Array:
    """An array of an element type from bit patterns: integers in any nesting."""
    bits = np.array(patterns, bits_type(name))
    return bits.view(numpy_type(name))


def bits_of(array: Array) -> Array:
    """The bit patterns of all entries of an array, in C order, shape (entries,)."""
    return array.reshape(-1).view(bits_type(array.dtype.name))


def bit_pattern(bits: int, name: str) -> BitPattern:
    """The bits of a number of an element type."""
    return BitPattern(bits, 8 * numpy_type(name).itemsize)


def hex_bits(pattern: int, name: str) -> str:
    """A bit pattern with all digits: ``0x7fc00000``."""
    return str(bit_pattern(pattern, name))


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays of one shape and one item size have the same bits everywhere, NaNs included."""
    width = a.itemsize
    # Fewer and wider entries are compared where that is possible: there are fewer answers to write.
    are_contiguous = a.flags.c_contiguous and b.flags.c_contiguous
    if a.ndim and are_contiguous and a.shape[-1] * width % 8 == 0:
        width = 8
    # As integers: of floats a NaN would differ from itself, and -0 equal 0.
    bits = np.dtype(f"u{width}")
    differs = np.not_equal(a.view(bits), b.view(bits))
    return not np.count_nonzero(differs)
