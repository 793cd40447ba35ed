"""The process between the checker and a runtime: it forks the runtime's process, watches it, ends it whole.

The guardian runs no code of a runtime. It speaks with the checker by a pipe. Requests and answers go between
the checker and the runtime's process by a `Board`, on which it sees how far these are. Whatever the runtime
starts descends from the guardian, also what has left its session: all of it is ended when the runtime dies,
hangs or is no longer needed, and when the checker is gone.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from sonnx_clip.runtimes.board import ASKED, DONE, IDLE, IMPORTS, Board
from sonnx_clip.runtimes.calls import Answer, Died, Failure
from sonnx_clip.runtimes.limits import Limits, Patience, descendants
from sonnx_clip.runtimes.words import how_ended, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    import numpy as np

    Handle = Callable[[Any, Board], None]
    Program = Callable[..., tuple[dict[str, Any], Handle | None]]

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of prctl(2)
_HIGH = 800  # runtimes that touch descriptors touch the low ones
_SHOWN = 120  # bytes of what a runtime prints that are told
_LOOK = 0.05
_SAY = 1.0  # seconds between two words to the checker about calls that go on


class ShapedRequest(Protocol):
    """A request: it knows the form of its answer."""

    @property
    def answer_shape(self) -> tuple[int, int]:
        """Calls, and entries of each."""

    @property
    def answer_type(self) -> np.dtype[Any]:
        """The unsigned integer that holds the bits of an entry."""


def guard(
    connection: Connection,
    shared: tuple[Any, str],
    program: Program,
    arguments: tuple[object, ...],
    limits: Limits,
) -> None:
    """The life of a guardian: do what the checker says, until it says no more.

    It says ``("here",)`` first. It is told ``("start",)``, answered by ``("greeting", dict, remarks)`` or
    ``("died", Died, remarks)``, and ``("ask",)`` when a request is on the board, answered by
    ``("answer", Died or None, remarks)``; before that it says ``("at", call)`` every second.

    Args:
        connection: to the checker.
        shared: the descriptor and the token of the board of the checker.
        program: what the runtime's process does first; it returns its greeting and what handles requests.
        arguments: those of the program, which is given the board before them.
        limits: how long the runtime may take.
    """
    with suppress(OSError):
        os.setsid()
    _prctl(_ADOPT_ORPHANS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    board = Board(shared[0].detach(), shared[1])
    board.close_descriptor()
    guardian = _Guardian(connection, board, program, arguments, limits)
    try:
        connection.send(("here",))
        while True:
            (word,) = connection.recv()
            if word == "start":
                connection.send(guardian.start())
            elif word == "ask":
                connection.send(("answer", *guardian.ask()))
            else:
                connection.send(("ended", guardian.end()))
    except (EOFError, OSError, SystemExit):  # the checker is gone, or has ended this process
        pass
    finally:
        guardian.end()


class _Guardian:
    def __init__(
        self,
        connection: Connection,
        board: Board,
        program: Program,
        arguments: tuple[object, ...],
        limits: Limits,
    ) -> None:
        self._connection, self._program, self._arguments = connection, program, arguments
        self._limits = limits
        self._board = board
        self._pid: int | None = None
        self._ours: list[int] = []  # what is read: wake-ups, standard output, standard error
        self._go = -1
        self._printed: dict[int, list[Any]] = {}

    def start(self) -> tuple[Any, ...]:
        """Start the process of the runtime, anew if there is one, and let it greet."""
        self.end()
        pairs = [os.pipe() for _ in range(4)]  # request, wake-up, standard output, standard error
        self._board.clear()
        self._board.own(0)
        self._board.call = IMPORTS
        self._board.state = ASKED
        self._pid = os.fork()
        if self._pid == 0:
            self._live(pairs)
        self._go = pairs[0][1]
        os.close(pairs[0][0])
        self._ours = [read for read, _ in pairs[1:]]
        self._printed = {descriptor: [0, b"", b""] for descriptor in self._ours[1:3]}
        for read, write in pairs[1:]:
            os.close(write)
            os.set_blocking(read, False)
        died = self._wait(self._limits.start, "--start-limit")
        if died is not None:
            return "died", died, self._remarks()
        greeting = next(found for found in self._board.notes() if "word" in found)
        return "greeting", greeting, self._remarks()

    def ask(self) -> tuple[Died | None, list[str]]:
        """Have the request on the board answered there: how the process died of it, if so, and remarks."""
        if self._pid is None:
            return Died("it is not running", 0), []
        with suppress(OSError):
            os.write(self._go, b"!")
        return self._wait(self._limits.call, "--limit", saying=True), self._remarks()

    def end(self) -> int:
        """End the process of the runtime and all that descends from it: how many others there were."""
        if self._pid is None:
            return 0
        others: set[int] = set()
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        for _ in range(200):
            left = descendants(os.getpid())
            others |= left - {self._pid, self._board.helper}
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            _reap()
            if not left:
                break
            time.sleep(0.002)
        with suppress(OSError):
            shutil.rmtree(self._board.folder, ignore_errors=True)
        for descriptor in (*self._ours, self._go):
            with suppress(OSError):
                os.close(descriptor)
        self._pid, self._ours, self._go = None, [], -1
        return len(others)

    def _wait(self, limit: float, option: str, *, saying: bool = False) -> Died | None:
        """Wait until what was asked is done; how the process ended, or was ended, if it is not."""
        assert self._pid is not None
        board, patience, call = self._board, Patience(self._pid), self._board.call
        heard = {self._connection.fileno(), *self._ours}
        told = time.monotonic()
        while board.state != DONE:
            ready, _, _ = select.select(heard, [], [], _LOOK if self._ours[0] in heard else _LOOK / 10)
            if self._connection.fileno() in ready:
                raise EOFError  # nothing is due from the checker now: it is gone
            heard -= {descriptor for descriptor in ready if not self._read(descriptor)}
            if board.state == DONE:
                break
            pid, status = _waited(self._pid)
            if pid:
                return self._died(board.last_words() or how_ended(status))
            if saying and time.monotonic() - told >= _SAY:
                self._connection.send(("at", board.call))
                told = time.monotonic()
            if board.call != call:
                call = board.call
                patience.reset()
            elif patience.spent() > limit:
                words = f"no answer within {limit:g} s of its own time ({option} SECONDS allows more)"
                said = board.last_words()
                return self._died(f"{words}: {said}" if said else words, hung=True)
        for descriptor in self._ours:
            self._read(descriptor)
        board.state = IDLE
        return None

    def _died(self, words: str, *, hung: bool = False) -> Died:
        for descriptor in self._ours:
            self._read(descriptor)
        call, remarks = self._board.call, self._remarks()
        left = self.end()
        if left:
            words += f"; {left} process{'es' if left > 1 else ''} that it had started ended with it"
        return Died(words, call, hung=hung, remarks=tuple(remarks))

    def _read(self, descriptor: int) -> bool:
        """Read what there is; False if nothing more can come."""
        with suppress(BlockingIOError):
            while data := os.read(descriptor, 1 << 16):
                if descriptor in self._printed:
                    seen = self._printed[descriptor]
                    seen[:] = seen[0] + len(data), (seen[1] + data)[:_SHOWN], (seen[2] + data)[-_SHOWN:]
            return False
        return True

    def _remarks(self) -> list[str]:
        """What was printed since the last look."""
        found = []
        for name, seen in zip(("output", "error"), self._printed.values(), strict=False):
            if seen[0]:
                found.append(f"it writes on standard {name}: {_telling_line(seen[1], seen[2])}")
                seen[:] = [0, b"", b""]
        return found

    def _live(self, pairs: list[tuple[int, int]]) -> NoReturn:
        """The life of the runtime's process."""
        status = 70
        try:
            with suppress(OSError):
                os.setsid()
            _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            go, wake = _arranged(pairs)
            board = self._board
            with suppress(OSError):  # where memory runs out, this process goes first
                Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
            greeting, handle = self._program(board, *self._arguments)
            board.note(greeting)
            while True:
                board.state = DONE
                with suppress(OSError):
                    os.write(wake, b"!")
                if handle is None:
                    os._exit(0)
                _await_request(board, go)
                handle(board.asked(), board)
        except BaseException as error:  # noqa: BLE001 - nothing may return into the guardian's own code
            with suppress(BaseException):
                os.write(2, f"the checker failed: {error!r}\n".encode("utf-8", "replace"))
        finally:
            os._exit(status)


def _telling_line(begin: bytes, end: bytes) -> str:
    """The first line of what was printed; of a traceback of Python the last, which names the error."""
    first = begin.decode("utf-8", "replace").split("\n")[0]
    last = end.decode("utf-8", "replace").rstrip().rpartition("\n")[2]
    return printable(last if first.startswith("Traceback (most recent call last)") else first)


def read_answer(board: Board, request: ShapedRequest, died: Died | None = None) -> Answer:
    """What stands on the board about a request, as far as it goes."""
    found = Answer(board.bits(request.answer_shape, request.answer_type).copy(), died=died)
    for note in board.notes():
        if "remark" in note:
            found.remarks.append(str(note["remark"]))
        elif (noted := _noted(note)) is not None and (died is None or noted[0] < died.call):
            found.failures[noted[0]] = noted[1]
    return found


def _noted(note: dict[str, Any]) -> tuple[int, Failure] | None:
    """What was noted of a call; None of what is no such note: a runtime may have written over it."""
    try:
        call, tags = int(note.pop("call")), tuple(note.pop("tags"))
        return call, Failure(tags, **note)
    except (KeyError, TypeError, ValueError):
        return None


def _await_request(board: Board, go: int) -> None:
    pause = 0.0002
    while board.state != ASKED:
        try:
            if select.select([go], [], [], _LOOK)[0] and not os.read(go, 64):
                os._exit(0)  # the guardian is gone
        except OSError:  # somebody has closed it
            time.sleep(pause)
            pause = min(0.01, pause * 1.5)


def _arranged(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    """Leave the process its standard descriptors and two high ones: the request's and the wake-up's."""
    high = min(_HIGH, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 8)
    go = fcntl.fcntl(pairs[0][0], fcntl.F_DUPFD_CLOEXEC, high)
    wake = fcntl.fcntl(pairs[1][1], fcntl.F_DUPFD_CLOEXEC, high)
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (pairs[2][1], 1), (pairs[3][1], 2)):
        os.dup2(source, target)
    os.closerange(3, min(go, wake))
    os.closerange(max(go, wake) + 1, max(go, wake) + 64)
    os.set_blocking(wake, False)
    return go, wake


def _prctl(option: int, value: int = 1) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _waited(pid: int) -> tuple[int, int]:
    try:
        return os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return pid, 0


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
