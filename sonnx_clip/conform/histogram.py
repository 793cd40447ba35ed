"""How many entries of a tensor fall into each class, under one pair of bounds.

Entries are counted by the ends of the ranges that the classes are (`class_ranges`), in C (count.c, compiled
at the first call), or by NumPy where there is no compiler.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.expected import class_ranges, key_type
from sonnx_clip.oracle.built import address
from sonnx_clip.oracle.c_build import built_file, find_compiler
from sonnx_clip.oracle.plan import PLANNERS as ELEMENT_TYPES
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.root.dtypes import Array

_PAIRS = 256
COUNT = Path(__file__).with_name("count.c")
_SIGNED = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}


@dataclass(frozen=True)
class _Ranges:
    """The keys of a type, cut where the class changes: an integer is its own key, a float has its bits.

    Args:
        keys: the type of the keys.
        signed: the signed integer that orders the keys by their sign; None for an integer type.
        starts: the first key of each range, ascending; the first one is the least of all.
        ends: for each range but the last its first key, and that of the next one, also as an array.
        flip: what puts the keys into the order of the signed integers by XOR.
        limits: the same first keys of the next ranges, in that order.
        classes: the id of the class of each range.
        ids: the classes of the family, in the order of the YAML.
    """

    keys: np.dtype[Any]
    signed: np.dtype[Any] | None
    starts: tuple[int, ...]
    ends: tuple[tuple[int, int, Array], ...]
    flip: int
    limits: Array
    classes: tuple[str, ...]
    ids: tuple[str, ...]


def class_histogram(x: Array, *given: Any) -> dict[str, int]:
    """Count the entries of each class.

    Args:
        x: array of any shape and of an element type of the profile.
        given: min and max, each an array of shape () or a scalar of the type of `x`.

    Returns:
        Class id -> how many entries of `x` are in it under these bounds, for all classes of the family in the
        order of the YAML. The sum is the size of `x`.

    Raises:
        ValueError: the types differ, or are not in the profile, or a bound is not of shape ().
    """
    bounds = tuple(map(np.asarray, given))
    for bound in bounds:
        if x.dtype not in ELEMENT_TYPES or bound.dtype != x.dtype or bound.shape != ():
            found = f"x has type {x.dtype}, a bound has type {bound.dtype} and shape {bound.shape}"
            raise ValueError(f"{found}; give all one element type of the profile, and bounds of shape ()")
    ranges = _ranges(x.dtype, tuple(bound.tobytes() for bound in bounds))
    counts = dict.fromkeys(ranges.ids, 0)
    before = 0
    keys = x.view(ranges.keys)
    counter = _counter()
    below_each = _counts_below(keys, ranges) if counter is None else _counts_in_c(counter, keys, ranges)
    for id_, below in zip(ranges.classes, below_each, strict=True):
        counts[id_] += below - before
        before = below
    return counts


@cache
def _counter(source: Path = COUNT) -> ctypes.CDLL | None:
    """The compiled count.c; None if there is no compiler, or no place to keep it."""
    try:
        return ctypes.CDLL(str(built_file(find_compiler(), (source,))))
    except (UserError, OSError):
        return None


def _counts_in_c(counter: ctypes.CDLL, keys: Array, ranges: _Ranges) -> list[int]:
    """As `_counts_below`, in one pass over the keys."""
    whole = keys if keys.flags.carray else np.require(keys, requirements=("C", "A", "W"))
    number, sizes = len(ranges.limits), ctypes.c_size_t
    counts = np.empty((2, number), np.uint64)
    where = address(counts)
    counter[f"count_below_{8 * keys.itemsize}"](
        ctypes.c_void_p(address(whole)),
        sizes(whole.size),
        _SIGNED[keys.itemsize](ranges.flip),
        ctypes.c_void_p(address(ranges.limits)),
        sizes(number),
        ctypes.c_void_p(where),
        ctypes.c_void_p(where + counts.nbytes // 2),
    )
    return [*counts[0].tolist(), whole.size]


def _counts_below(keys: Array, ranges: _Ranges) -> list[int]:
    """How many keys are below the end of each range; the last range ends with the last key."""
    if keys.size == 0:
        return [0] * len(ranges.starts)
    greatest, spans = _spans(keys, ranges)
    flags = np.empty(keys.shape, bool)
    counts, count = [], 0
    for start, end, limit in ranges.ends:
        if greatest < end:
            count = keys.size
        else:
            for low, high in spans:
                if low < end and start <= high:  # There may be keys in this range.
                    count = int(np.count_nonzero(np.less(keys, limit, flags)))
                    break
        counts.append(count)
    return [*counts, keys.size]


def _spans(keys: Array, ranges: _Ranges) -> tuple[int, list[tuple[int, int]]]:
    """The greatest key, and where keys are: from the least to the greatest one, of each sign for floats.

    For a float these few passes save many: NaNs, infinities, zeros and subnormals are rare.
    """
    if ranges.signed is None:
        info = np.iinfo(keys.dtype)
        return int(info.max), [(int(info.min), int(info.max))]
    signed = keys.view(ranges.signed)
    least, greatest = int(keys.min()), int(keys.max())
    below, above = int(signed.min()), int(signed.max())
    spans = [(least, above)] if above >= 0 else []
    if below < 0:
        spans.append((below + (1 << (8 * keys.itemsize)), greatest))
    return greatest, spans


@lru_cache(maxsize=_PAIRS)
def _ranges(dtype: np.dtype[Any], given: tuple[bytes, ...]) -> _Ranges:
    """The ranges for bounds that are given by their bits."""
    found = class_ranges(dtype, [np.frombuffer(bound, dtype) for bound in given])
    keys, ids = key_type(dtype), found.ids
    begins = {int(start): ids[index] for start, index in zip(found.starts[0], found.classes[0], strict=True)}
    first: list[int] = []
    for start, id_ in begins.items():  # neighbours in one class are one range
        if not first or begins[first[-1]] != id_:
            first.append(start)
    ends = tuple((start, end, np.array(end, keys)) for start, end in pairwise(first))
    order = np.iinfo(f"i{keys.itemsize}")
    flip = int(order.min) if keys.kind == "u" else 0
    limits = np.array(first[1:], keys).view(order.dtype) ^ order.dtype.type(flip)
    signed = None if keys == dtype else np.dtype(f"i{dtype.itemsize}")
    classes = tuple(begins[start] for start in first)
    return _Ranges(keys, signed, tuple(first), ends, flip, limits, classes, ids)
