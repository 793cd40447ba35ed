"""The runtime behind ``exec:./harness``: makes the calls of requests by a program that speaks frames, many in
one frame where it keeps up.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.runtimes.calls import Failure, call_once, entry_indices, note
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.program import (
    EndedError,
    Program,
    Refused,
    SlowError,
    Unsupported,
    function_of,
    result_of,
)
from sonnx_clip.runtimes.runtime import Runtime
from sonnx_clip.runtimes.runtime_names import program_name, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.calls import Request
    from sonnx_clip.runtimes.frames import FrameReply
    from sonnx_clip.runtimes.runtime_names import ProgramName


_BY_ID = {layout.id: layout for layout in LAYOUTS}
_QUICK, _SLOW = 0.01, 0.05  # seconds of a frame: below more calls go into the next, above fewer
_PATIENCE = 0.25  # seconds after which the calls of a frame are made one by one
_BYTES = 1 << 20  # of a frame at most, but for a single call


class FrameCaller:
    """Makes calls of one program.

    Args:
        name: how the program is started.
        opened: the program.
        etype: the id of an element type.
        board: told of the process of the program, and of what it does.

    Raises:
        Unsupported: its hello does not list the type.
    """

    def __init__(self, name: ProgramName, opened: Program, etype: str, board: Board) -> None:
        if etype not in opened.hello.types:
            raise Unsupported(f"its hello does not list {etype}")
        self._name, self._program, self._type, self._board = name, opened, etype, board
        self._hello = opened.hello
        self._most = min(self._hello.batch, name.batch or self._hello.batch)
        self._batch = 1

    def __call__(self, request: Request, board: Board) -> None:
        """Make the calls of a request, and write what they give on the board."""
        bits = board.bits(request.answer_shape, bits_type(self._type))
        entries = np.zeros(request.length, request.pool.dtype)
        shape = _BY_ID[request.layout].arrange(entries).shape
        self._most = 1 if board.one_by_one else self._most
        self._batch = min(self._batch, self._most)
        if len(shape) not in self._hello.ranks:
            words = f"its hello lists no rank {len(shape)}"
            for call in range(request.count):
                note(board, call, Failure((), words, raised=True, refusal=True))
            return
        indices = entry_indices(request)
        first = 0
        while first < request.count:
            rows = np.arange(first, min(first + self._next_batch(request.length), request.count))
            operands = request.pool[indices[rows]], *(scalar[rows] for scalar in request.scalars)
            board.call = first
            self._some(shape, operands, first, bits)
            first += len(rows)

    def _next_batch(self, length: int) -> int:
        size = max(1, length) * numpy_type(self._type).itemsize
        return max(1, min(self._batch, self._hello.entries // max(1, length), _BYTES // size))

    def _some(self, shape: tuple[int, ...], operands: tuple[Array, ...], first: int, bits: Array) -> None:
        """Make some calls, in one frame or else one by one."""
        calls = len(operands[0])
        began = time.monotonic()
        try:
            within = _PATIENCE if calls > 1 else None
            reply = self._program.ask(self._type, shape, operands, within)
        except (EndedError, SlowError) as error:
            if calls == 1:
                self._die(str(error))
            self._start_again()
            for row in range(calls):
                self._board.call = first + row
                self._one(shape, operands, row, first, bits)
            if isinstance(error, EndedError):
                self._board.call = first
                self._board.one_by_one = 1
                self._die(f"{error}, in a frame of {calls:,} calls and in none of them alone")
            return
        if reply.bits is None and calls > 1:  # which of the calls it does not serve
            for row in range(calls):
                self._one(shape, operands, row, first, bits)
            return
        passed = time.monotonic() - began
        if passed < _QUICK:
            self._batch = min(2 * self._batch, self._most)
        elif passed > _SLOW:
            self._batch = max(1, self._batch // 2)
        self._keep(reply, shape, first, bits[first : first + calls])

    def _one(
        self, shape: tuple[int, ...], operands: tuple[Array, ...], row: int, first: int, bits: Array
    ) -> None:
        """Make one of some calls by itself."""
        self._some(shape, tuple(part[row : row + 1] for part in operands), first + row, bits)

    def _keep(self, reply: FrameReply, shape: tuple[int, ...], first: int, bits: Array) -> None:
        dtype = numpy_type(self._type)
        if (reply.etype, reply.shape) == (self._type, shape):
            assert reply.bits is not None
            bits[...] = reply.bits
            return
        for row in range(len(bits)):
            found = call_once(lambda row=row: _told(reply, self._type)[row], np.empty(shape, dtype))  # type: ignore[misc]
            assert isinstance(found, Failure)
            note(self._board, first + row, found)

    def _start_again(self) -> None:
        self._program.end()
        self._batch = 1
        self._board.say("")
        self._program = Program(self._name, self._board)

    def _die(self, words: str) -> NoReturn:
        self._program.end()
        self._board.say(words)
        os._exit(0)


def _told(reply: FrameReply, etype: str) -> Array:
    try:
        return result_of(reply)
    except (Refused, Unsupported) as error:
        if isinstance(error, Unsupported):
            raise Unsupported(f"{error} (its hello lists {etype})") from None
        raise


# --- The runtime behind ``exec:./harness``: a program that speaks frames, as `find_runtime` gives it --------


def open_named(name: str, board: Board | None = None) -> Runtime:
    """Start a program, and let it say its hello.

    Args:
        name: as `program_name` reads it.
        board: told of its process, and of what it does; None outside of `check`.

    Raises:
        UserError: it cannot be started, or says no hello.
    """
    found = program_name(name)
    assert found is not None
    opened = Program(found, board)

    def caller(etype: str, board: Board) -> Callable[[Any, Board], None]:
        return FrameCaller(found, opened, etype, board)

    hello = opened.hello
    return Runtime(
        version=hello.name or found.command,
        open=lambda _: function_of(opened),
        imports="from sonnx_clip.runtimes.program import program",
        call=lambda _: f"program({quoted(name)})({CLIP_NODE.call})",
        caller=caller,
        strides=False,
        entries=hello.entries,
    )
