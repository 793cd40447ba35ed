"""The memory of X and of the bounds as a runtime gets them: read-only, between pages that may not be touched.

What writes into an operand, or reads or writes past one of its ends, dies of it (`session` then finds out
which of them it was). A guard can be left out: then what was written is seen after the call, within a page.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.conform.calls import Request
    from sonnx_clip.conform.dtypes import Array

WRITE, BEFORE, AFTER, BOUNDS = "write", "before", "after", "bounds"
ALL = frozenset({WRITE, BEFORE, AFTER, BOUNDS})
"""The guards: X cannot be written; nor touched before its start; nor past its end; and so the bounds."""

_PAGE = mmap.PAGESIZE
_NOTHING, _READ, _BOTH = 0, 1, 3  # of mprotect(2)
_FILLED = 0xA5  # bytes around an operand
_BY_ID = {layout.id: layout for layout in LAYOUTS}


@cache
def _protect() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


class _Place:
    """Pages for one operand, and one before and one after them."""

    def __init__(self) -> None:
        self._pages = 0
        self._guards = (False, False)
        self._start, self._size = 0, 0
        self._data = b""
        self._grow(1)

    def _grow(self, pages: int) -> None:
        self._memory = mmap.mmap(-1, (pages + 2) * _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._whole = np.frombuffer(self._memory, np.uint8)
        self._address = self._whole.ctypes.data
        self._whole[...] = _FILLED
        self._pages, self._guards = pages, (False, False)

    def _set(self, first: int, count: int, access: int) -> None:
        _protect()(self._address + first * _PAGE, count * _PAGE, access)

    def put(self, operand: Array, *, at_start: bool, read_only: bool, guards: tuple[bool, bool]) -> Array:
        """A copy of an operand, of its shape and strides, at the start or at the end of the pages.

        Args:
            operand: an array of any strides.
            at_start: whether it begins with a page; else it ends with one.
            read_only: whether it cannot be written.
            guards: whether the pages before and after cannot be touched.
        """
        low = sum(min(0, (n - 1) * s) for n, s in zip(operand.shape, operand.strides, strict=True))
        high = sum(max(0, (n - 1) * s) for n, s in zip(operand.shape, operand.strides, strict=True))
        size = high - low + operand.itemsize if operand.size else 0
        if size > self._pages * _PAGE:
            self._grow(2 * -(-size // _PAGE))
        if guards != self._guards:
            self._set(0, 1, _NOTHING if guards[0] else _BOTH)
            self._set(self._pages + 1, 1, _NOTHING if guards[1] else _BOTH)
            self._guards = guards
        self._set(1, self._pages, _BOTH)
        self._whole[self._start : self._start + self._size] = _FILLED
        self._start = _PAGE if at_start else (self._pages + 1) * _PAGE - size
        self._size = size
        self._data = ctypes.string_at(operand.ctypes.data + low, size) if size else b""
        self._memory[self._start : self._start + size] = self._data
        if read_only:
            self._set(1, self._pages, _READ)
        bits = np.dtype(f"u{operand.itemsize}")
        strides = operand.strides if operand.size else None
        offset = self._start - low if size else _PAGE
        found = np.ndarray(operand.shape, bits, self._whole, offset, strides).view(operand.dtype)
        found.flags.writeable = False
        return found

    def written(self, name: str) -> str | None:
        """What was written since `put`, in words; what was there is restored."""
        start, end = self._start, self._start + self._size
        first, last = (0 if not self._guards[0] else _PAGE), self._whole.size
        if self._guards[1]:
            last -= _PAGE
        words = None
        if self._memory[start:end] != self._data:
            words = f"it wrote into its input {name}"
            self._memory[start:end] = self._data
        for place, begin, stop in (("past the end", end, last), ("before the start", first, start)):
            begin, stop = max(begin, start - _PAGE), min(stop, end + _PAGE)  # noqa: PLW2901
            if np.any(self._whole[begin:stop] != _FILLED):
                words = f"it wrote {place} of {name}"
                self._whole[begin:stop] = _FILLED
        return words

    def holds(self, address: int) -> bool:
        """Whether an address lies in the operand."""
        return self._start <= address - self._address < self._start + max(1, self._size)


class Operands:
    """X, min and max of the calls of a request, each in guarded memory."""

    def __init__(self) -> None:
        self._x, self._lower, self._upper = _Place(), _Place(), _Place()

    def begin(self, request: Request, dtype: np.dtype[Any]) -> None:
        """Prepare the operands of a request, of an element type."""
        self._request, self._sides = request, request.sides
        self._layout, self._type = _BY_ID[request.layout], dtype
        self._bounds = tuple(part.view(dtype) for part in (request.lower, request.upper))
        self._there: tuple[int, bool] | None = None
        self._guards = request.guards
        if BOUNDS in self._guards:
            self._arrays = tuple(
                place.put(part, at_start=False, read_only=True, guards=(True, True))
                for place, part in zip((self._lower, self._upper), self._bounds, strict=True)
            )

    def of_call(self, call: int) -> tuple[Array, Array, Array]:
        """X, min and max of a call."""
        request, at_start = self._request, bool(self._sides[call])
        key = (int(request.starts[call]) if request.indices is None else ~call, at_start)
        if key != self._there:
            operand = self._layout.prepared(request.entries_of(call)).view(self._type)
            guards = BEFORE in self._guards, AFTER in self._guards
            read_only = WRITE in self._guards
            self._operand = self._x.put(operand, at_start=at_start, read_only=read_only, guards=guards)
            self._there = key
        if BOUNDS in self._guards:
            lower, upper = (array[call, ...] for array in self._arrays)
        else:
            lower, upper = (
                place.put(part[call, ...], at_start=at_start, read_only=False, guards=(False, False))
                for place, part in zip((self._lower, self._upper), self._bounds, strict=True)
            )
        return self._operand, lower, upper

    def written(self) -> Iterator[str]:
        """What the last call wrote where it may not, in words, as far as no guard stands there."""
        places: list[tuple[_Place, str]] = []
        if not self._guards >= {WRITE, BEFORE, AFTER}:
            places.append((self._x, "X"))
        if BOUNDS not in self._guards:
            places += [(self._lower, "min"), (self._upper, "max")]
        for place, name in places:
            words = place.written(name)
            if words:
                yield words

    def is_x(self, result: Array) -> bool:
        """Whether a result lies in the memory of X."""
        return self._x.holds(result.ctypes.data) and result.size > 0
