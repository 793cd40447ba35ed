"""The memory of the operands as a runtime gets them: read-only, between pages that may not be touched.

What writes into an operand, or reads or writes past one of its ends, dies of it (`session` then finds out
which of them it was). A guard can be left out: then what was written is seen after the call, within a page.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.runtimes.board import unnamed_file
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Request

WRITE, BEFORE, AFTER, BOUNDS = "write", "before", "after", "bounds"
ALL = frozenset({WRITE, BEFORE, AFTER, BOUNDS})
"""The guards: a tensor cannot be written; nor touched before its start; nor past its end; and so scalars."""

WROTE_INTO = "it wrote into its input "
"""How the words begin on an operand that was changed."""

_PAGE = mmap.PAGESIZE
_NOTHING, _READ, _BOTH = 0, 1, 3  # of mprotect(2)
_FAILED = ctypes.c_void_p(-1).value  # of mmap(2)
_FILLED = 0xA5  # bytes around an operand
_BY_ID = {layout.id: layout for layout in LAYOUTS}


@cache
def _system() -> ctypes.CDLL:
    """The C library, with the types of what is called of it."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *3 * (ctypes.c_int,), ctypes.c_int64)
    return library


def _mapped_twice(size: int) -> tuple[int, int]:
    """Two addresses of the same new memory, and no descriptor of it: a runtime may write on all there are.

    The memory is never given back: what a runtime was given, it may still hold.
    """
    descriptor = unnamed_file(size)
    try:
        found = [_system().mmap(None, size, _BOTH, mmap.MAP_SHARED, descriptor, 0) for _ in range(2)]
    finally:
        os.close(descriptor)
    if _FAILED in found:
        raise OSError(ctypes.get_errno(), f"mmap of {size} bytes")
    return found[0], found[1]


def _at(address: int, size: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class _Place:
    """Pages for one operand, and one before and one after them, as the runtime sees them.

    The checker sees the same memory at a second address, where it can always write: a call then needs no
    change of what the runtime may do.
    """

    def __init__(self) -> None:
        self._grow(1)

    def _grow(self, pages: int) -> None:
        size = (pages + 2) * _PAGE
        self._address, self._inner_address = _mapped_twice(size)
        self._whole, self._inner = _at(self._address, size), _at(self._inner_address, size)
        self._inner[...] = _FILLED
        self._pages, self._guards, self._read_only = pages, (False, False), False
        self._start, self._size, self._data = _PAGE, 0, b""
        self._key: tuple[object, ...] = ()
        self._dense = False
        self._room = self._shown = self._inner

    def _set(self, first: int, count: int, access: int) -> None:
        _system().mprotect(self._address + first * _PAGE, count * _PAGE, access)

    def _allow(self, read_only: bool, guards: tuple[bool, bool]) -> None:
        """Let the runtime do so much, and no more."""
        if guards != self._guards:
            self._set(0, 1, _NOTHING if guards[0] else _BOTH)
            self._set(self._pages + 1, 1, _NOTHING if guards[1] else _BOTH)
            self._guards = guards
        if read_only != self._read_only:
            self._set(1, self._pages, _READ if read_only else _BOTH)
            self._read_only = read_only

    def put(
        self, bits: Array, dtype: np.dtype[Any], *, at_start: bool, read_only: bool, guards: tuple[bool, bool]
    ) -> Array:
        """A copy of an operand, of its shape and strides, at the start or at the end of the pages.

        One that is not aligned lies a byte further in: the page beside it is a byte away.

        Args:
            bits: those of an operand, an array of any strides.
            dtype: the operand's element type.
            at_start: whether it begins with a page; else it ends with one.
            read_only: whether it cannot be written.
            guards: whether the pages before and after cannot be touched.
        """
        flags = bits.flags
        key = (bits.shape, bits.strides, dtype, flags.aligned, at_start, read_only, guards)
        if key == self._key and self._dense:
            self._room[...] = bits
            return self._shown
        low, size = _extent(bits)
        off = 0 if flags.aligned else 1
        if size + off > self._pages * _PAGE:
            self._grow(2 * -(-(size + off) // _PAGE))
        self._allow(read_only, guards)
        start = _PAGE + off if at_start else (self._pages + 1) * _PAGE - size - off
        if (start, size) != (self._start, self._size):
            self._inner[self._start : self._start + self._size] = _FILLED
            self._start, self._size = start, size
        ctypes.memmove(self._inner_address + start, bits.ctypes.data + low, size)
        self._data = b"" if read_only else ctypes.string_at(self._inner_address + start, size)
        if key != self._key:
            strides = bits.strides if bits.size else None
            offset = start - low if size else _PAGE
            self._room, whole = (
                np.ndarray(bits.shape, bits.dtype, memory, offset, strides)
                for memory in (self._inner, self._whole)
            )
            self._shown = whole.view(dtype)
            self._shown.flags.writeable = False
            self._key, self._dense = key, read_only and flags.c_contiguous
        return self._shown

    def written(self, name: str) -> str | None:
        """What was written since `put`, in words; what was there is restored."""
        start, end = self._start, self._start + self._size
        first, last = (0 if not self._guards[0] else _PAGE), self._whole.size
        if self._guards[1]:
            last -= _PAGE
        words = None
        if not self._read_only and self._inner[start:end].tobytes() != self._data:
            words = f"{WROTE_INTO}{name}"
            self._inner[start:end] = np.frombuffer(self._data, np.uint8)
        for place, begin, stop in (("past the end", end, last), ("before the start", first, start)):
            begin, stop = max(begin, start - _PAGE), min(stop, end + _PAGE)  # noqa: PLW2901
            if np.any(self._inner[begin:stop] != _FILLED):
                words = f"it wrote {place} of {name}"
                self._inner[begin:stop] = _FILLED
        return words


def _extent(operand: Array) -> tuple[int, int]:
    """Where the memory of an operand begins, from its first entry on, and how many bytes it has."""
    if operand.flags.c_contiguous:
        return 0, operand.nbytes
    if not operand.size:
        return 0, 0
    steps = [(n - 1) * s for n, s in zip(operand.shape, operand.strides, strict=True)]
    low, high = sum(min(0, step) for step in steps), sum(max(0, step) for step in steps)
    return low, high - low + operand.itemsize


class Operands:
    """The operands of the calls of a request, each in guarded memory; tensors, then scalars.

    Args:
        node: the operator; Clip by default.
    """

    def __init__(self, node: OperatorNode = CLIP_NODE) -> None:
        self._names = node.called
        self._places = [_Place() for _ in node.called]

    def begin(self, request: Request, dtype: np.dtype[Any]) -> None:
        """Prepare the operands of a request, of an element type."""
        self._request, self._sides = request, request.sides
        self._layout, self._type = _BY_ID[request.layout], dtype
        self._of_tensors = self._places[: len(request.pools)]
        self._of_scalars = self._places[len(request.pools) :]
        self._there: tuple[int, bool] | None = None
        self._guards = request.guards
        # Entries that lie side by side in the pool, which is cyclic.
        self._cycles = [np.resize(pool, len(pool) + request.length) for pool in request.pools]
        if BOUNDS in self._guards:
            self._arrays = tuple(
                place.put(part, dtype, at_start=False, read_only=True, guards=(True, True))
                for place, part in zip(self._of_scalars, request.scalars, strict=True)
            )

    def of_call(self, call: int) -> tuple[Array, ...]:
        """The operands of a call."""
        request, at_start = self._request, bool(self._sides[call])
        key = (int(request.starts[call]) if request.indices is None else ~call, at_start)
        if key != self._there:
            guards = BEFORE in self._guards, AFTER in self._guards
            read_only = WRITE in self._guards
            self._tensors = [
                place.put(bits, self._type, at_start=at_start, read_only=read_only, guards=guards)
                for place, bits in zip(self._of_tensors, self._arranged(call), strict=True)
            ]
            self._there = key
        if BOUNDS in self._guards:
            scalars = [array[call, ...] for array in self._arrays]
        else:
            scalars = [
                place.put(
                    part[call, ...], self._type, at_start=at_start, read_only=False, guards=(False, False)
                )
                for place, part in zip(self._of_scalars, request.scalars, strict=True)
            ]
        # An array of its own for each call: a runtime may change the shape of what it is given.
        return (*(tensor.view() for tensor in self._tensors), *scalars)

    def _arranged(self, call: int) -> Iterator[Array]:
        """The bits of each tensor of a call in the layout of the request."""
        for pool, cycle in zip(self._request.pools, self._cycles, strict=True):
            yield self._layout.arrange(self._entries(call, pool, cycle))

    def _entries(self, call: int, pool: Array, cycle: Array) -> Array:
        """The bits of the entries of a tensor in a call, shape (length,)."""
        request = self._request
        if request.indices is not None:
            found: Array = pool[request.indices[call]]
            return found
        start = int(request.starts[call])
        if self._layout.repeats:
            return np.full(request.length, pool[start])
        return cycle[start : start + request.length]

    def written(self) -> Iterator[str]:
        """What the last call wrote where it may not, in words, as far as no guard stands there."""
        places: list[tuple[_Place, str]] = []
        if not self._guards >= {WRITE, BEFORE, AFTER}:
            places += zip(self._of_tensors, self._names, strict=False)
        if BOUNDS not in self._guards:
            places += zip(self._of_scalars, self._names[len(self._of_tensors) :], strict=True)
        for place, name in places:
            words = place.written(name)
            if words:
                yield words

    def is_x(self, result: Array) -> bool:
        """Whether a result lies in the memory of the first tensor, X of Clip."""
        return np.may_share_memory(result, self._tensors[0])
