"""Memory of the operands as a runtime gets them: read-only, between pages that may not be touched.

A runtime that writes into an operand, or reads or writes past one of its ends, dies of it. To find out which
of them it was, `session` leaves guards out; what was written is then seen after the call, within a page.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.runtimes.board import unnamed_file
from sonnx_clip.runtimes.layouts import BY_ID
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Request

WRITE, BEFORE, AFTER, BOUNDS = "write", "before", "after", "bounds"
ALL = frozenset({WRITE, BEFORE, AFTER, BOUNDS})
"""The guards: a tensor cannot be written; nor touched before its start; nor past its end; and so scalars."""

WROTE_INTO = "it wrote into its input "
"""Prefix of the words on an operand that was changed."""

_EACH = frozenset({WRITE, BEFORE, AFTER})
_PAGE = mmap.PAGESIZE
_NOTHING, _READ, _BOTH = 0, 1, 3  # of mprotect(2)
_FAILED = ctypes.c_void_p(-1).value  # of mmap(2)
_FILLED = 0xA5  # bytes around an operand


@cache
def _system() -> ctypes.CDLL:
    """The C library, with the types of the functions that are called."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *3 * (ctypes.c_int,), ctypes.c_int64)
    return library


class _Place:
    """Pages for one operand, and one before and one after them, as the runtime sees them.

    The checker writes the same memory at a second address, so that no call changes what the runtime may do.
    """

    def __init__(self) -> None:
        self._map(1)

    def _map(self, pages: int) -> None:
        """Map new memory twice. The old is never given back: a runtime may still hold what it was given."""
        size = (pages + 2) * _PAGE
        descriptor = unnamed_file(size)  # closed, since a runtime may write on all descriptors that there are
        try:
            found = [_system().mmap(None, size, _BOTH, mmap.MAP_SHARED, descriptor, 0) for _ in range(2)]
        finally:
            os.close(descriptor)
        if _FAILED in found:
            raise OSError(ctypes.get_errno(), f"mmap of {size} bytes")
        self._address, self._pages = found[0], pages
        self._whole, self._inner = (
            np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)) for address in found
        )
        self._inner[...] = _FILLED
        self._used, self._guards = slice(_PAGE, _PAGE), frozenset[str]()
        self._key: tuple[object, ...] = ()

    def _protect(self, guards: frozenset[str]) -> None:
        """Allow the runtime as much as the guards do, and no more."""
        last = self._pages + 1
        parts = (BEFORE, 0, 1, _NOTHING), (WRITE, 1, self._pages, _READ), (AFTER, last, 1, _NOTHING)
        for guard, first, count, access in parts:
            if (guard in guards) != (guard in self._guards):
                allowed = access if guard in guards else _BOTH
                _system().mprotect(self._address + first * _PAGE, count * _PAGE, allowed)
        self._guards = guards

    def put(self, bits: Array, dtype: np.dtype[Any], guards: frozenset[str], *, at_start: bool) -> Array:
        """A copy of an operand, of its shape and strides, at the start or at the end of the pages."""
        key = (bits.shape, bits.strides, dtype, bits.flags.aligned, at_start, guards)
        if key != self._key:
            self._room, shown = self._placed(bits, guards, at_start=at_start)
            self._shown: Array = shown.view(dtype)
            self._shown.flags.writeable = False
            self._key = key
        self._room[...] = bits
        self._data = b"" if WRITE in guards else self._inner[self._used].tobytes()
        return self._shown

    def _placed(self, bits: Array, guards: frozenset[str], *, at_start: bool) -> Iterator[Array]:
        """Two arrays like `bits` in the same memory: for the checker and for the runtime.

        One that is not aligned lies a byte further in: the page beside it is a byte away.
        """
        steps = [(n - 1) * step for n, step in zip(bits.shape, bits.strides, strict=True)]
        low = sum(min(0, step) for step in steps) if bits.size else 0  # where its memory begins, from entry 0
        size = sum(map(abs, steps)) + bits.itemsize if bits.size else 0
        off = 0 if bits.flags.aligned else 1
        if size + off > self._pages * _PAGE:
            self._map(2 * -(-(size + off) // _PAGE))
        self._protect(guards)
        self._inner[self._used] = _FILLED
        start = _PAGE + off if at_start else (self._pages + 1) * _PAGE - size - off
        self._used = slice(start, start + size)
        offset, strides = (start - low, bits.strides) if size else (_PAGE, None)
        views = (self._inner, self._whole)
        return (np.ndarray(bits.shape, bits.dtype, memory, offset, strides) for memory in views)

    def written(self, name: str) -> str | None:
        """What was written since `put` where no guard stands, in words; what was there is restored."""
        start, end, words = self._used.start, self._used.stop, None
        if WRITE not in self._guards and self._inner[self._used].tobytes() != self._data:
            words = f"{WROTE_INTO}{name}"
            self._inner[self._used] = np.frombuffer(self._data, np.uint8)
        first = _PAGE if BEFORE in self._guards else 0
        last = self._inner.size - (_PAGE if AFTER in self._guards else 0)
        for place, around in (
            ("past the end", self._inner[end : min(end + _PAGE, last)]),
            ("before the start", self._inner[max(start - _PAGE, first) : start]),
        ):
            if np.any(around != _FILLED):
                words = f"it wrote {place} of {name}"
                around[...] = _FILLED
        return words


class Operands:
    """The operands of the calls of a request, each in guarded memory; tensors, then scalars."""

    def __init__(self, node: OperatorNode = CLIP_NODE) -> None:
        self._names = node.called
        self._places = [_Place() for _ in node.called]

    def begin(self, request: Request, dtype: np.dtype[Any]) -> None:
        """Prepare the operands of a request, of an element type."""
        self._request, self._guards = request, request.guards
        self._sides, self._starts = request.sides.tolist(), request.starts.tolist()
        self._layout, self._type = BY_ID[request.layout], dtype
        self._of_tensors = self._places[: len(request.pools)]
        self._of_scalars = [*zip(self._places[len(request.pools) :], request.scalars, strict=True)]
        self._there: tuple[int, bool, int] | None = None
        # Entries that lie side by side in the pool, which is cyclic.
        self._cycles = [np.resize(pool, len(pool) + request.length) for pool in request.pools]
        if BOUNDS in self._guards:
            self._arrays = [place.put(part, dtype, _EACH, at_start=False) for place, part in self._of_scalars]

    def of_call(self, call: int) -> tuple[Array, ...]:
        """The operands of a call."""
        request, at_start = self._request, self._sides[call]
        key = (self._starts[call] if request.indices is None else ~call, at_start, request.length_of(call))
        if key != self._there:
            self._tensors = [
                place.put(self._bits(call, *pools), self._type, self._guards & _EACH, at_start=at_start)
                for place, *pools in zip(self._of_tensors, request.pools, self._cycles, strict=True)
            ]
            self._there = key
        if BOUNDS in self._guards:
            scalars = [array[call, ...] for array in self._arrays]
        else:
            scalars = [
                place.put(part[call, ...], self._type, frozenset(), at_start=at_start)
                for place, part in self._of_scalars
            ]
        # An array of its own for each call: a runtime may change the shape of what it is given.
        return (*(tensor.view() for tensor in self._tensors), *scalars)

    def _bits(self, call: int, pool: Array, cycle: Array) -> Array:
        """The bits of a tensor of a call, in the layout of the request."""
        request, start, length = self._request, self._starts[call], self._request.length_of(call)
        if request.indices is not None:
            return self._layout.arrange(pool[request.indices[call, :length]])
        if self._layout.repeats:
            return self._layout.arrange(np.full(length, pool[start]))
        return self._layout.arrange(cycle[start : start + length])

    def written(self) -> Iterator[str]:
        """What the last call wrote where it may not, in words, as far as no guard stands there."""
        if self._guards >= ALL:
            return
        for place, name in zip(self._places, self._names, strict=True):
            if words := place.written(name):
                yield words

    def is_x(self, result: Array) -> bool:
        """Whether a result lies in the memory of the first tensor, X of Clip."""
        return np.may_share_memory(result, self._tensors[0])
