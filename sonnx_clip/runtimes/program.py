"""A program that speaks frames: started, asked and ended. For `frame_caller`, in the runtime's process.

The program is a child of that process and in its session, so that its time counts, and what ends the process
ends the program.
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

from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
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
from sonnx_clip.runtimes.runtime_names import program_name
from sonnx_clip.runtimes.words import how_ended, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.frames import FrameReply, Hello
    from sonnx_clip.runtimes.runtime_names import ProgramName

_HIGH = 64  # descriptors of ours stay clear of 3 and 4
_LOOK = 0.05
_END = 1.0  # seconds for a program that has closed its descriptor, to end
_SHOWN = 60
_SIGNALS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)


class EndedError(Exception):
    """The program has ended, or sent what no frame can follow; the text says which."""


class SlowError(Exception):
    """No reply within the time that was given."""


class Unsupported(Exception):  # noqa: N818 - a report quotes its name
    """The program supports no such element type."""


class Refused(Exception):  # noqa: N818 - likewise
    """The program does not take such a call."""


class Fault(AssertionError):  # noqa: N818 - likewise
    """The program saw its function do what it must not, such as write past an array."""


class Program:
    """A program that has said its hello.

    Args:
        name: what is started, and how it speaks.
        board: gets the id of its process, and words on a frame whose rest is long in coming.

    Raises:
        UserError: it cannot be started, or what it says first is no hello.
    """

    def __init__(self, name: ProgramName, board: Board | None = None) -> None:
        self._name, self._board = name, board
        self._number = 0
        words = name.words
        self._in, self._out, self.pid = _started(words, stdio=name.stdio)
        if board is not None:
            board.helper = self.pid
        atexit.register(self.end)
        try:
            head = self._read(HELLO_SIZE, "a hello", None)
            size = hello_name_size(head, name.order)
            self.hello: Hello = read_hello(head + self._read(size, "a hello", None), name.order)
        except (FrameError, EndedError) as error:
            self.end()
            todo = "it must send a hello first: docs/frames.md"
            if not name.stdio:
                todo += "; with --stdio, if it speaks on standard input and output"
            raise UserError(f"before its hello was read: {error}", None, todo) from None

    def ask(
        self, etype: str, shape: Sequence[int], operands: tuple[Array, ...],
        within: float | None = None,
    ) -> FrameReply:  # fmt: skip
        """The reply to calls of one element type and shape.

        Args:
            etype: the id of the element type.
            shape: that of X.
            operands: bits of X, shape (calls, entries), of min and of max, shapes (calls,).
            within: seconds after which SlowError is raised; None for no end.

        Raises:
            EndedError: it has ended, or its reply is no reply to this.
            SlowError: see `within`.
        """
        self._number = self._number % (2**32 - 1) + 1
        calls, entries = operands[0].shape
        order = self._name.order
        try:
            self._require_silence()
            data = write_request(order, self._number, etype, shape, operands)
            head = self._read(4, "a reply", within, data)
            body = self._read(reply_size(head, order, calls, entries), "a reply", within)
            return read_reply(body, order, self._number, calls)
        except FrameError as error:
            raise EndedError(f"{BAD_FRAME}{error}") from None

    def end(self) -> None:
        """End it, and wait until it has ended."""
        atexit.unregister(self.end)
        for descriptor in (self._in, self._out):
            with suppress(OSError):
                os.close(descriptor)
        self._in = self._out = -1
        if self.pid:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(self.pid, 0)
        self.pid = 0

    def _say(self, words: str) -> None:
        if self._board is not None:
            self._board.say(words)

    def _require_silence(self) -> None:
        if select.select([self._out], [], [], 0)[0]:
            data = os.read(self._out, 4096)
            if not data:
                raise EndedError(self._last_words(""))
            shown = printable(data[:_SHOWN].decode("utf-8", "backslashreplace"))
            more = " or more" if len(data) == 4096 else ""
            raise FrameError(f"it sent {len(data):,} bytes{more} that nobody had asked for: {shown}")

    def _read(self, size: int, what: str, within: float | None, data: bytes = b"") -> bytes:
        """So many bytes of its output, while `data` goes to its input."""
        found, left = bytearray(), memoryview(data)
        began, told = time.monotonic(), False
        while len(found) < size or left:
            wanted = [self._out] if len(found) < size else []
            ready, free, _ = select.select(wanted, [self._in] if left else [], [], _LOOK)
            if free:
                try:
                    left = left[os.write(self._in, left) :]
                except BrokenPipeError:
                    raise EndedError(self._last_words(_so_far(found, size, what))) from None
            if ready:
                part = os.read(self._out, size - len(found))
                if not part:
                    raise EndedError(self._last_words(_so_far(found, size, what)))
                found += part
                continue
            waited = time.monotonic() - began
            if within is not None and waited > within:
                raise SlowError
            if not free and self._has_ended():
                raise EndedError(self._last_words(_so_far(found, size, what)))
            if found and not told and waited > 2 * _LOOK:
                told = True
                self._say(f"it sent {len(found):,} of {size:,} bytes of {what}, and no more")
        return bytes(found)

    def _has_ended(self) -> bool:
        """Whether it has ended, with nothing left to be read."""
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return ended and not select.select([self._out], [], [], 0)[0]

    def _last_words(self, before: str) -> str:
        """How it ended."""
        deadline = time.monotonic() + _END
        closed = f"it closed its output and went on{before}"
        self._say(closed)
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return how_ended(status) + before
            time.sleep(0.002)
        return f"{BAD_FRAME}{closed}"


def _so_far(found: bytearray, size: int, what: str) -> str:
    return f", after {len(found):,} of {size:,} bytes of {what}" if found else f", without {what}"


def _started(words: list[str], *, stdio: bool) -> tuple[int, int, int]:
    """Start a program: the descriptor of its input, that of its output, and its id."""
    theirs_in, ours_in = map(_moved, os.pipe())
    ours_out, theirs_out = map(_moved, os.pipe())
    give, take = (0, 1) if stdio else (3, 4)
    actions: list[Any] = [(os.POSIX_SPAWN_DUP2, theirs_in, give), (os.POSIX_SPAWN_DUP2, theirs_out, take)]
    if not stdio:
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
    try:
        pid = os.posix_spawnp(words[0], words, os.environ, file_actions=actions, setsigdef=_SIGNALS)
    except OSError as error:
        for descriptor in (ours_in, ours_out):
            os.close(descriptor)
        what = f"{words[0]} cannot be started: {error.strerror}"
        raise UserError(what, None, "name a program that can be executed, as in a shell") from None
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    os.set_blocking(ours_in, False)
    return ours_in, ours_out, pid


def _moved(descriptor: int) -> int:
    """The same at a high number, closed where a program is started."""
    found = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(descriptor)
    return found


@cache
def program(name: str) -> Callable[..., Any]:
    """A function (x, min, max) that asks a program; a line that repeats a deviation calls it.

    Args:
        name: as `check` writes it, such as ``exec:./harness``.

    Raises:
        UserError: it cannot be started, or says no hello.
    """
    found = program_name(name)
    if found is None:
        raise UserError(f"`{name}` is no program", todo="for example exec:./harness")
    return function_of(Program(found))


def function_of(opened: Program) -> Callable[..., Any]:
    """A function (x, min, max) that asks a program."""

    def clip(x: Any, *bounds: Any) -> Any:
        etype = x.dtype.name
        bits = bits_type(etype)
        given = (part.reshape(-1).view(bits) for part in bounds)
        found = opened.ask(etype, x.shape, (x.reshape(1, -1).view(bits), *given))
        return result_of(found)[0]

    return clip


def result_of(reply: FrameReply) -> Array:
    """The results of a reply, shape (calls, …).

    Raises:
        Unsupported, Refused, Fault: it gives none.
    """
    kinds = {UNSUPPORTED: Unsupported, REFUSED: Refused, FAULT: Fault}
    if reply.bits is None:
        raise kinds[reply.status](reply.words)
    return reply.bits.view(numpy_type(reply.etype)).reshape(len(reply.bits), *reply.shape)
