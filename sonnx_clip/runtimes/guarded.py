"""Memory of the operands: a runtime gets them read-only, between pages that it must not touch.

A runtime that writes into an operand, or reads or writes past one of its ends, dies. `session` then repeats
the call with fewer guards to find the cause; what is written without a guard is found after the call, up to a
page away.
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.calls import Request

WRITE, BEFORE, AFTER, BOUNDS = "write", "before", "after", "bounds"
ALL = frozenset({WRITE, BEFORE, AFTER, BOUNDS})
"""The guards: no write into a tensor, no access before its start, none past its end; and so for scalars."""

WROTE_INTO = "it wrote into its input "
"""Prefix of the words on an operand that was changed."""

_OF_ONE = frozenset({WRITE, BEFORE, AFTER})
_PAGE = mmap.PAGESIZE
_ROOM = 1 << 22  # bytes for one operand, at most; only pages that are written take memory
_SIZE = _ROOM + 2 * _PAGE
_NOTHING, _READ, _BOTH = 0, 1, 3  # of mprotect(2)
_PARTS = (
    (BEFORE, 0, _PAGE, _NOTHING), (WRITE, _PAGE, _ROOM, _READ), (AFTER, _PAGE + _ROOM, _PAGE, _NOTHING),
)  # fmt: skip
"""Of the memory of an operand: the guard, the offset, the size, and the access that it leaves."""
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


def _mapped(descriptor: int) -> int:
    """The address at which the memory of an operand is mapped once more; `_FAILED` if it is not."""
    address: int = _system().mmap(None, _SIZE, _BOTH, mmap.MAP_SHARED, descriptor, 0)
    return address


def _bytes_at(address: int) -> Array:
    """The memory of an operand that is mapped at an address."""
    memory = (ctypes.c_uint8 * _SIZE).from_address(address)
    return np.ctypeslib.as_array(memory)


class _Place:
    """Memory for one operand, with a page before and a page after it.

    It is mapped twice. The runtime gets the first address; the checker writes at the second, so that no call
    changes the access of the runtime.
    """

    def __init__(self) -> None:
        # Closed again here, since a runtime may write on all open descriptors.
        descriptor = unnamed_file(_SIZE)
        try:
            theirs, ours = _mapped(descriptor), _mapped(descriptor)
        finally:
            os.close(descriptor)
        if _FAILED in (theirs, ours):
            raise OSError(ctypes.get_errno(), f"mmap of {_SIZE} bytes")
        self._address = theirs
        self._theirs = _bytes_at(theirs)
        self._ours = _bytes_at(ours)
        self._guards = frozenset[str]()
        self._key: tuple[object, ...] = ()

    def _protect(self, guards: frozenset[str]) -> None:
        """Allow the runtime what these guards allow."""
        for guard, offset, size, access in _PARTS:
            is_guarded = guard in guards
            # A call of the system takes longer than most calls of a runtime.
            if is_guarded != (guard in self._guards):
                start = self._address + offset
                _system().mprotect(start, size, access if is_guarded else _BOTH)
        self._guards = guards

    def put(
        self, bits: Array, dtype: np.dtype[Any], guards: frozenset[str], *, at_start: bool
    ) -> Array:
        """A copy of an operand, of its shape and strides, at the start or at the end of the memory."""
        # Most calls of a request differ in their values alone.
        key = (bits.shape, bits.strides, dtype, bits.flags.aligned, at_start, guards)
        if key != self._key:
            self._protect(guards)
            self._copy, shown = self._placed(bits, at_start=at_start)
            self._shown: Array = shown.view(dtype)
            self._shown.flags.writeable = False
            self._key = key
        self._copy[...] = bits
        # Where writing is guarded, it kills: there is nothing to compare afterwards.
        self._data = b"" if WRITE in guards else self._ours[self._used].tobytes()
        return self._shown

    def _placed(self, bits: Array, *, at_start: bool) -> Iterator[Array]:
        """Two arrays like `bits` in the same memory: for the checker and for the runtime.

        One that is not aligned is a byte further in: the guard beside it is a byte away.
        """
        low = 0  # where its memory begins, from entry 0: strides may be negative
        size = 0
        if bits.size:
            size = bits.itemsize
            for entries, stride in zip(bits.shape, bits.strides, strict=True):
                step = (entries - 1) * stride
                low += min(0, step)
                size += abs(step)
        off = 0 if bits.flags.aligned else 1
        if size + off > _ROOM:
            raise ValueError(f"an operand of {size:,} bytes is larger than the guarded memory")

        start = _PAGE + off
        if not at_start:
            start = _PAGE + _ROOM - size - off
        end = start + size
        self._used = slice(start, end)
        # What is written on the pages around the operand is found by its value.
        self._ours[start - _PAGE : end + _PAGE] = _FILLED
        # An empty array has no memory: NumPy refuses strides that lead out of the buffer.
        offset = start - low if size else _PAGE
        strides = bits.strides if size else None
        for memory in (self._ours, self._theirs):
            yield np.ndarray(bits.shape, bits.dtype, memory, offset, strides)

    def written(self, name: str) -> str | None:
        """What the runtime wrote since `put` where there is no guard, in words; it is restored."""
        start = self._used.start
        end = self._used.stop
        words = None
        if WRITE not in self._guards and self._ours[self._used].tobytes() != self._data:
            words = f"{WROTE_INTO}{name}"
            self._ours[self._used] = np.frombuffer(self._data, np.uint8)
        around_operand = {
            "past the end": self._ours[end : end + _PAGE],
            "before the start": self._ours[start - _PAGE : start],
        }
        for place, around in around_operand.items():
            if np.any(around != _FILLED):
                words = f"it wrote {place} of {name}"
                around[...] = _FILLED
        return words


class Operands:
    """The operands of the calls of a request, each in guarded memory; tensors, then scalars."""

    def __init__(self, signature: Signature) -> None:
        self._names = signature.shown
        self._places = [_Place() for _ in signature.shown]

    def begin(self, request: Request, dtype: np.dtype[Any]) -> None:
        """Prepare the operands of a request, of an element type."""
        self._request = request
        self._guards = request.guards
        self._sides = request.sides.tolist()
        self._starts = request.starts.tolist()
        self._layout = BY_ID[request.layout]
        self._type = dtype
        tensors = len(request.pools)
        self._of_tensors = self._places[:tensors]
        self._of_scalars = list(zip(self._places[tensors:], request.scalars, strict=True))
        # The entries, side and length of the tensors that are in the memory.
        self._there: tuple[int, bool, int] | None = None
        # The pool is cyclic: its entries, continued by as many as a call has.
        self._cycles = [np.resize(pool, len(pool) + request.length) for pool in request.pools]
        # Guarded scalars of all calls are put once: a call gets a view of its own.
        if BOUNDS in self._guards:
            self._arrays = []
            for place, values in self._of_scalars:
                array = place.put(values, dtype, _OF_ONE, at_start=False)
                self._arrays.append(array)

    def of_call(self, call: int) -> tuple[Array, ...]:
        """The operands of a call."""
        request = self._request
        at_start = self._sides[call]
        # Calls with the same entries follow each other: the tensors are put once for all of them.
        # Entries by indices have no start. ~call is negative: equal to no start and to no other call.
        entries = self._starts[call] if request.indices is None else ~call
        key = (entries, at_start, request.length_of(call))
        if key != self._there:
            guards = self._guards & _OF_ONE
            self._tensors = []
            for place, pool, cycle in zip(
                self._of_tensors, request.pools, self._cycles, strict=True
            ):
                bits = self._bits(call, pool, cycle)
                tensor = place.put(bits, self._type, guards, at_start=at_start)
                self._tensors.append(tensor)
            self._there = key
        if BOUNDS in self._guards:
            scalars = [array[call, ...] for array in self._arrays]
        else:
            scalars = []
            for place, values in self._of_scalars:
                value = values[call, ...]
                scalars.append(place.put(value, self._type, frozenset(), at_start=at_start))
        # An array of its own for each call: a runtime may change the shape of what it is given.
        tensors = [tensor.view() for tensor in self._tensors]
        return (*tensors, *scalars)

    def _bits(self, call: int, pool: Array, cycle: Array) -> Array:
        """The bits of a tensor of a call, in the layout of the request."""
        request = self._request
        start = self._starts[call]
        length = request.length_of(call)
        if request.indices is not None:
            return self._layout.arrange(pool[request.indices[call, :length]])
        if self._layout.repeats:
            return self._layout.arrange(np.full(length, pool[start]))
        return self._layout.arrange(cycle[start : start + length])

    def written(self) -> Iterator[str]:
        """What the last call wrote where it must not and there is no guard, in words."""
        # With every guard, a forbidden write has killed the runtime.
        if self._guards >= ALL:
            return
        for place, name in zip(self._places, self._names, strict=True):
            if words := place.written(name):
                yield words

    def is_x(self, result: Array) -> bool:
        """Whether a result is in the memory of the first tensor, X of Clip."""
        return np.may_share_memory(result, self._tensors[0])
