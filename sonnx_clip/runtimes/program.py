"""The runtime ``exec:./harness``: a program that exchanges frames.

The program is a child of the process of the runtime, in its session: its time counts as that of the runtime,
and it ends with that process. If the program dies, the process ends too.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import select
import signal
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.processes import exit_status, how_ended
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.calls import EndedError
from sonnx_clip.runtimes.find_runtime import MISSING_HELLO, command_words, python_quoted, split_name
from sonnx_clip.runtimes.frames import (
    BAD_FRAME,
    FAULT,
    HELLO_SIZE,
    REFUSED,
    UNSUPPORTED,
    FrameError,
    hello_name_size,
    read_hello,
    read_reply,
    reply_size,
    write_request,
)
from sonnx_clip.runtimes.runtime import ClipFunction, Runtime
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.frames import ByteOrder, FrameReply

_HIGH = 64  # our descriptors stay clear of 3 and 4
_LOOK = 0.05  # seconds between two looks at a program that neither reads nor writes
_END = 1.0  # seconds in which a program that has closed its output has to exit
_SIGNALS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)


class Unsupported(Exception):  # noqa: N818 - a report quotes its name
    """The program supports no such element type."""


class Refused(Exception):  # noqa: N818 - likewise
    """The program rejects such a call."""


class Fault(AssertionError):  # noqa: N818 - likewise
    """The program reports that its function violated a rule, such as by a write past an array."""


_RAISES = {UNSUPPORTED: Unsupported, REFUSED: Refused, FAULT: Fault}


class Program:
    """A running program that has sent its hello.

    Args:
        name: such as ``exec[big,stdio]:./harness``. Frames are little-endian without ``big``; without
            ``stdio`` it uses descriptors 3 and 4, not standard input and output.
        board: for a note on an incomplete frame; None outside of `check`.

    Raises:
        UserError: it cannot be started, or sends no hello.
    """

    def __init__(self, name: str, board: Board | None = None) -> None:
        _, options, self.command = split_name(name)
        chosen = {option for option in options.split(",") if option}
        unknown = sorted(chosen - {"big", "stdio"})
        if unknown:
            raise UserError(f"`{name}`: unknown option `{unknown[0]}` of a program")
        self._order: ByteOrder = "big" if "big" in chosen else "little"
        stdio = "stdio" in chosen
        self._board = board
        self._number = 0  # of the last request
        words = command_words(self.command)
        self._in, self._out, self.pid = _started(words, stdio=stdio)
        # A reproducer ends by an exception or at its last line: the program would be left behind.
        atexit.register(self.end)
        try:
            head = self._read(HELLO_SIZE, "a hello")
            size = hello_name_size(head, self._order)
            name_of_program = self._read(size, "a hello")
            self.hello = read_hello(head + name_of_program, self._order)
        except (FrameError, EndedError) as error:
            self.end()
            todo = MISSING_HELLO
            if not stdio:
                todo += "; add --stdio if it uses standard input and output"
            raise UserError(f"no hello: {error}", None, todo) from None

    def open(self, etype: str) -> ClipFunction:
        """The function of an element type; Unsupported if the hello does not list it."""
        if etype not in self.hello.types:
            raise Unsupported(f"its hello does not list {etype}")
        return self.clip

    def clip(self, x: Any, *bounds: Any) -> Array:
        """Clip of an array of any shape, and bounds of shape ().

        Raises:
            Unsupported: the program replies so; and likewise Refused and Fault.
            EndedError: it has ended, or its reply is invalid.
        """
        etype = x.dtype.name
        if x.ndim not in self.hello.ranks:
            raise Refused(f"its hello does not list rank {x.ndim}")
        bits = bits_type(etype)
        operands = []
        for operand in (x, *bounds):
            entries = np.ascontiguousarray(operand).reshape(-1)
            operands.append(entries.view(bits))
        reply = self._exchange(etype, x.shape, operands)
        if reply.bits is None:
            words = reply.words
            if reply.status == UNSUPPORTED and etype in self.hello.types:
                words += f" (its hello lists {etype})"
            raise _RAISES[reply.status](words)
        # As it replied: a result of another type or shape is for the checker to judge.
        result = reply.bits.view(numpy_type(reply.etype))
        return result.reshape(reply.shape)

    def end(self) -> None:
        """Kill it, and wait until it has ended."""
        atexit.unregister(self.end)
        # It may have ended already: then the descriptors or the process are gone.
        for descriptor in (self._in, self._out):
            with suppress(OSError):
                os.close(descriptor)
        self._in = self._out = -1
        if self.pid:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        self.pid = 0

    def _exchange(self, etype: str, shape: Sequence[int], operands: Sequence[Array]) -> FrameReply:
        """The reply to a request; `operands` as in `write_request`."""
        # Numbers of 32 bits begin again at 1.
        self._number = self._number % (2**32 - 1) + 1
        try:
            self._require_silence()
            data = write_request(self._order, self._number, etype, shape, operands)
            head = self._read(4, "a reply", data)
            size = reply_size(head, self._order, len(operands[0]))
            body = self._read(size, "a reply")
            return read_reply(body, self._order, self._number)
        except FrameError as error:
            # Nothing tells where the next frame begins: the program cannot be used any more.
            raise EndedError(f"{BAD_FRAME}{error}") from None

    def _note(self, words: str) -> None:
        if self._board is not None:
            self._board.note(last=words)

    def _require_silence(self) -> None:
        """FrameError if it has sent something since its last reply, which would be read as the next one.

        EndedError if it has closed its output.
        """
        if not select.select([self._out], [], [], 0)[0]:
            return
        data = os.read(self._out, 4096)
        if not data:
            raise EndedError(self._last_words(""))
        more = " or more" if len(data) == 4096 else ""
        shown = printable(data[:60].decode("utf-8", "backslashreplace"))
        raise FrameError(f"it sent {len(data):,} bytes{more} without a request: {shown}")

    def _read(self, size: int, what: str, data: bytes = b"") -> bytes:
        """`size` bytes of its output, while `data` goes to its input."""
        received = bytearray()
        left = memoryview(data)
        began = time.monotonic()
        noted = False
        # Both at once: a program may reply before it has read all, and neither pipe may block for ever.
        while len(received) < size or left:
            wanted = [self._out] if len(received) < size else []
            ready, free, _ = select.select(wanted, [self._in] if left else [], [], _LOOK)
            so_far = f", without {what}"
            if received:
                so_far = f", after {len(received):,} of {size:,} bytes of {what}"
            if free:
                try:
                    written = os.write(self._in, left)
                except BrokenPipeError:
                    raise EndedError(self._last_words(so_far)) from None
                left = left[written:]
            if ready:
                part = os.read(self._out, size - len(received))
                if not part:
                    raise EndedError(self._last_words(so_far))
                received += part
                continue
            waited = time.monotonic() - began
            if not free and self._has_ended():
                raise EndedError(self._last_words(so_far))
            # For the words on a hang: the supervisor ends this process before it could say more.
            if received and not noted and waited > 2 * _LOOK:
                noted = True
                self._note(f"it sent {len(received):,} of {size:,} bytes of {what}, then stopped")
        return bytes(received)

    def _has_ended(self) -> bool:
        """Whether it has ended, with nothing left to be read."""
        # WNOWAIT leaves the status for `_last_words`, which reports it.
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return ended and not select.select([self._out], [], [], 0)[0]

    def _last_words(self, before: str) -> str:
        """How it ended."""
        deadline = time.monotonic() + _END
        closed = f"it closed its output without ending{before}"
        # The supervisor may end this process meanwhile, and then has these words.
        self._note(closed)
        while time.monotonic() < deadline:
            status = exit_status(self.pid)
            if status is not None:
                self.pid = 0
                return how_ended(status) + before
            time.sleep(0.002)
        return f"{BAD_FRAME}{closed}"


def _started(words: list[str], *, stdio: bool) -> tuple[int, int, int]:
    """Start a program: the descriptor of its input, that of its output, and its id."""
    theirs_in, ours_in = map(_moved, os.pipe())
    ours_out, theirs_out = map(_moved, os.pipe())
    input_number, output_number = (0, 1) if stdio else (3, 4)
    actions: list[Any] = [
        (os.POSIX_SPAWN_DUP2, theirs_in, input_number),
        (os.POSIX_SPAWN_DUP2, theirs_out, output_number),
    ]
    if not stdio:
        # Its standard input would be that of the checker, from which it might read.
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
    try:
        # Python ignores some signals, and programs that it starts would, too.
        pid = os.posix_spawnp(words[0], words, os.environ, file_actions=actions, setsigdef=_SIGNALS)
    except OSError as error:
        os.close(ours_in)
        os.close(ours_out)
        message = f"{words[0]} cannot be started: {error.strerror}"
        todo = "name a program that can be executed, as in a shell"
        raise UserError(message, None, todo) from None
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    os.set_blocking(ours_in, False)  # `_read` writes as much as the pipe takes, and reads meanwhile
    return ours_in, ours_out, pid


def _moved(descriptor: int) -> int:
    """A copy at a high number, closed in programs that are started."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(descriptor)
    return moved


@cache
def program(name: str) -> ClipFunction:
    """A function (x, min, max) by the program of a name, for reproducers; UserError as `Program`."""
    return Program(name).clip


def open_named(name: str, board: Board | None = None) -> Runtime:
    """The runtime of a name such as ``exec:./harness``; arguments and UserError as `Program`."""
    opened = Program(name, board)
    return Runtime(
        version=opened.hello.name or opened.command,
        open=opened.open,
        imports=f"from {__name__} import program",
        call=lambda _: f"program({python_quoted(name)})({CLIP_SIGNATURE.call})",
        strides=False,
        entries=opened.hello.entries,
    )
