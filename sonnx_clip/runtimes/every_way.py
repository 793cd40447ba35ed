"""What `check` asks of our own implementations beside each answer: in place, with ``out=``, overlapping.

`sonnx_clip.clip` and the wrapper of the C kernels promise one result whatever `out` shares with `x`. One that
is wrong in one of these ways alone would conform if the checker only ever asked for a new array.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Array = np.ndarray[Any, Any]
    ClipInto = Callable[..., Array]

EVERY = 61
"""Of how many calls one is asked in every way; those that are long always are."""

_LONG = 5000
_SHORT = 70
_SHIFTS = (1, 2, 63, 4095, 8192, 16383, 16384, 16385, 32768)


def every_way(clip: ClipInto, every: int = EVERY) -> Callable[..., Array]:
    """`clip` as the checker calls it, which compares its answers with those that it gives into other arrays.

    The function raises AssertionError, with the way in words, where an answer differs in a bit. It asks in
    every way one of `every` calls, and each that is long.
    """
    calls = 0

    def asked(x: Any, *bounds: Any) -> Array:
        nonlocal calls
        found = clip(x, *bounds)
        calls += 1
        if isinstance(x, np.ndarray) and x.ndim == 1 and x.size and (x.size > _LONG or calls % every == 0):
            wanted = found.tobytes()
            for words, given, out in ways(x):
                _compare(clip, (given, *bounds), out, wanted, words)
            _compare_with_itself(clip, (x, *bounds), found)
        return found

    return asked


def ways(x: Array) -> Iterator[tuple[str, Array, Array]]:
    """Each way in words, `x` in the memory that it needs, and `out`."""
    same = x.copy()
    yield "in place", same, same
    yield "with out=", x, np.empty(x.shape, x.dtype)
    reverse = x[::-1].copy()[::-1]
    yield "in place, reversed", reverse, reverse
    doubled = np.repeat(x, 2)
    yield "in place, every second entry", doubled[::2], doubled[::2]
    yield "with an out= of every second entry", x, np.empty(2 * x.size, x.dtype)[::2]
    yield "of every second entry", np.repeat(x, 2)[::2], np.empty(x.shape, x.dtype)
    shifts = range(1, x.size) if x.size <= _SHORT else [s for s in _SHIFTS if s < x.size]
    for shift in shifts:
        for forward in (True, False):
            base = np.zeros(x.size + shift, x.dtype)
            first, second = base[: x.size], base[shift:]
            given, out = (first, second) if forward else (second, first)
            given[...] = x
            yield f"with an out= that is x moved by {shift if forward else -shift}", given, out
    if x.size <= _SHORT and (edge := _before_the_edge(x)) is not None:
        yield "at the end of the memory that may be read", edge, np.empty(x.shape, x.dtype)
        yield "in place at the end of the memory that may be read", edge, edge


def _compare(clip: ClipInto, given: tuple[Any, ...], out: Array, wanted: bytes, words: str) -> None:
    found = clip(*given, out=out)
    if found is not out:
        raise AssertionError(f"{words}: what is returned is not out")
    if out.tobytes() != wanted:
        raise AssertionError(f"{words}: the answer is another one than in a new array")


def _compare_with_itself(clip: ClipInto, given: tuple[Any, ...], found: Array) -> None:
    """An `out` whose entries share memory holds what copying the answer there leaves."""
    x, *bounds = given
    if x.size > _SHORT or x.size < 4:  # two rows of two
        return
    rows = x[: x.size - x.size % 2].reshape(-1, 2)
    wanted, got = (np.zeros(rows.size, x.dtype) for _ in range(2))
    np.copyto(_overlapping(wanted, len(rows)), found[: rows.size].reshape(-1, 2))
    clip(rows, *bounds, out=_overlapping(got, len(rows)))
    if got.tobytes() != wanted.tobytes():
        raise AssertionError("with an out= whose entries overlap: the answer is not that of a copy")


def _overlapping(base: Array, rows: int) -> Array:
    step = base.itemsize
    return np.lib.stride_tricks.as_strided(base, (rows, 2), (step, step))


@cache
def _page() -> mmap.mmap | None:
    """Two pages, of which the second may not be touched; None where that cannot be had."""
    if not sys.platform.startswith("linux"):
        return None
    memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    forbidden = ctypes.c_void_p(address + mmap.PAGESIZE)
    done = ctypes.CDLL(None, use_errno=True).mprotect(forbidden, ctypes.c_size_t(mmap.PAGESIZE), 0)
    return memory if done == 0 else None


def _before_the_edge(x: Array) -> Array | None:
    """A copy of `x` right before memory that may not be touched: one read too many ends the process."""
    memory = _page()
    if memory is None or x.nbytes > mmap.PAGESIZE:
        return None
    array = np.frombuffer(memory, x.dtype, x.size, mmap.PAGESIZE - x.nbytes)
    array[...] = x
    return array
