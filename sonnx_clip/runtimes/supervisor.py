"""The supervisor: a process that forks the process of a runtime, watches it, and ends it with all it started.

The checker talks to it over a pipe. Requests and results pass between the checker and the runtime's process
on a `Board`, where the supervisor reads the number of the running call. It runs no code of a runtime.
It adopts orphans, so whatever the runtime starts descends from it, even from another session; all of that is
killed when the runtime dies, hangs or is done, and when the checker is gone.
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
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import psutil

from sonnx_clip.runtimes.board import ASKED, DONE, IDLE, IMPORTS, Board
from sonnx_clip.runtimes.calls import Died
from sonnx_clip.runtimes.words import how_ended, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from sonnx_clip.runtimes.limits import Limits

    Handle = Callable[[Any, Board], None]
    Program = Callable[..., tuple[dict[str, Any], Handle | None]]
    Look: TypeAlias = "Callable[[], tuple[float, bool]]"

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of prctl(2)
_HIGH = 800  # runtimes that touch descriptors touch the low ones
_SHOWN = 120  # bytes at each end of what a runtime prints
_EVERY = 0.05
_REPORT = 1.0  # seconds between two reports to the checker of the call that a request is at
_LONGEST_LOOK = 0.5  # seconds that one look counts at most: the supervisor, too, may have been waiting
_SHORTEST_LOOK = 0.1


def supervise(
    connection: Connection, token: str, program: Program, arguments: tuple[object, ...], limits: Limits
) -> None:
    """The life of a supervisor: obey the checker until it is gone.

    It is sent the descriptor of the board and sends ``here``. After that it is sent a word and sends what the
    method of `_Supervisor` of that name returns; while a request runs, ``("at", call)`` every second.

    Args:
        connection: to the checker.
        token: of the board.
        program: what the runtime's process runs first; it returns a greeting and what handles requests.
        arguments: of the program, behind the board.
        limits: how long the runtime may take.
    """
    with suppress(OSError):
        os.setsid()
    _prctl(_ADOPT_ORPHANS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    board = Board(recv_handle(connection), token)
    board.close_descriptor()
    supervisor = _Supervisor(connection, board, program, arguments, limits)
    commands: dict[str, Callable[[], Any]] = {
        "start": supervisor.start, "ask": supervisor.ask, "end": supervisor.end,
    }  # fmt: skip
    try:
        connection.send("here")
        while True:
            connection.send(commands[connection.recv()]())
    except (EOFError, OSError, SystemExit):  # the checker is gone, or has ended this process
        pass
    finally:
        supervisor.end()


class OwnTime:
    """Counts the time that a runtime itself takes: no call hangs because the machine is busy.

    While one of its processes wants a processor, CPU time counts; while none does, time by the clock.

    Args:
        look: the CPU seconds of all processes, and whether one of them wants to compute.
        clock: seconds by the clock.
    """

    def __init__(self, look: Look | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock = look or _look, clock
        self.reset()

    def reset(self) -> None:
        """Start anew: a call has returned."""
        self._last, self._spent = self._clock(), 0.0
        self._computed: float | None = None

    def spent(self) -> float:
        """The seconds since `reset`; it looks at most ten times a second."""
        now = self._clock()
        passed = min(now - self._last, _LONGEST_LOOK)
        if passed < _SHORTEST_LOOK:
            return self._spent
        computed, wants = self._look()
        if not wants:
            self._spent += passed
        elif self._computed is not None:
            self._spent += min(passed, max(0.0, computed - self._computed))
        self._last, self._computed = now, computed
        return self._spent


def _look() -> tuple[float, bool]:
    """CPU seconds of the descendants; and whether a thread runs, waits for a processor or for a disk."""
    computed, wants = 0.0, False
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            computed += times.user + times.system
            states = (psutil.Process(thread.id).status() for thread in process.threads())
            wants = wants or any(
                state in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP) for state in states
            )
    return computed, wants


class _Supervisor:
    """See `supervise`."""

    def __init__(
        self, connection: Connection, board: Board, program: Program, arguments: tuple[object, ...],
        limits: Limits,
    ) -> None:  # fmt: skip
        self._connection, self._program, self._arguments = connection, program, arguments
        self._limits, self._board = limits, board
        self._pid: int | None = None
        self._pipes: list[int] = []  # our ends: wake-ups, standard output, standard error; and requests
        self._printed: dict[int, list[Any]] = {}

    def start(self) -> tuple[dict[str, Any] | Died, list[str]]:
        """Start the runtime's process, anew if there is one: its greeting or its death, and remarks."""
        self.end()
        requests, *others = [os.pipe() for _ in range(4)]
        board = self._board
        board.clear()
        board.helper, board.call, board.state = 0, IMPORTS, ASKED
        self._pid = os.fork()
        if self._pid == 0:
            self._live(requests[0], [write for _, write in others])
        os.close(requests[0])
        for read, write in others:
            os.close(write)
            os.set_blocking(read, False)
        self._pipes = [*(read for read, _ in others), requests[1]]
        self._printed = {descriptor: [0, b"", b""] for descriptor in self._pipes[1:3]}
        died = self._wait(self._limits.start, "--start-limit")
        return died or next(found for found in board.notes() if "word" in found), self._remarks()

    def ask(self) -> tuple[Died | None, list[str]]:
        """Have the request on the board handled: how the process died of it, if it did, and remarks."""
        if self._pid is None:
            return Died("it is not running", 0), []
        with suppress(OSError):
            os.write(self._pipes[3], b"!")
        return self._wait(self._limits.call, "--limit", reports=True), self._remarks()

    def end(self) -> int:
        """End the runtime's process and all that descends from it; how many others there were."""
        if self._pid is None:
            return 0
        others: set[int] = set()
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        for _ in range(200):
            left = psutil.Process().children(recursive=True)
            others |= {process.pid for process in left} - {self._pid, self._board.helper}
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not left:
                break
            time.sleep(0.002)
        shutil.rmtree(self._board.folder, ignore_errors=True)
        for descriptor in self._pipes:
            with suppress(OSError):
                os.close(descriptor)
        self._pid, self._pipes = None, []
        return len(others)

    def _wait(self, limit: float, option: str, *, reports: bool = False) -> Died | None:
        """Wait until the request is done; how the process ended, or was ended, if it is not."""
        assert self._pid is not None
        board, time_taken, call = self._board, OwnTime(), self._board.call
        checker, wake = self._connection.fileno(), self._pipes[0]
        heard = {checker, *self._pipes[:3]}
        reported = time.monotonic()
        while board.state != DONE:
            ready, _, _ = select.select(heard, [], [], _EVERY if wake in heard else _EVERY / 10)
            if checker in ready:
                raise EOFError  # the checker sends nothing now: it is gone
            heard -= {descriptor for descriptor in ready if not self._read(descriptor)}
            if board.state == DONE:
                break
            pid, status = _waited(self._pid)
            if pid:
                return self._died(board.last_words() or how_ended(status))
            if reports and time.monotonic() - reported >= _REPORT:
                self._connection.send(("at", board.call))
                reported = time.monotonic()
            if board.call != call:
                call = board.call
                time_taken.reset()
            elif time_taken.spent() > limit:
                words = f"no answer within {limit:g} s of its own time ({option} SECONDS allows more)"
                said = board.last_words()
                return self._died(f"{words}: {said}" if said else words, hung=True)
        for descriptor in self._pipes[:3]:
            self._read(descriptor)
        board.state = IDLE
        return None

    def _died(self, words: str, *, hung: bool = False) -> Died:
        for descriptor in self._pipes[:3]:
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
        """Remarks on what was printed since the last look."""
        found = []
        for name, seen in zip(("output", "error"), self._printed.values(), strict=False):
            if seen[0]:
                found.append(f"it writes on standard {name}: {_telling_line(seen[1], seen[2])}")
                seen[:] = [0, b"", b""]
        return found

    def _live(self, requests: int, others: list[int]) -> NoReturn:
        """The life of the runtime's process."""
        try:
            with suppress(OSError):
                os.setsid()
            _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            go, wake = _arrange_descriptors(requests, *others)
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
        except BaseException as error:  # noqa: BLE001 - nothing may return into the supervisor's own code
            with suppress(BaseException):
                os.write(2, f"the checker failed: {error!r}\n".encode("utf-8", "replace"))
        finally:
            os._exit(70)


def _telling_line(begin: bytes, end: bytes) -> str:
    """The first line of what was printed; of a traceback of Python the last, which names the error."""
    first = begin.decode("utf-8", "replace").split("\n")[0]
    last = end.decode("utf-8", "replace").rstrip().rpartition("\n")[2]
    return printable(last if first.startswith("Traceback (most recent call last)") else first)


def _await_request(board: Board, go: int) -> None:
    pause = 0.0002
    while board.state != ASKED:
        try:
            if select.select([go], [], [], _EVERY)[0] and not os.read(go, 64):
                os._exit(0)  # the supervisor is gone
        except OSError:  # somebody has closed it
            time.sleep(pause)
            pause = min(0.01, pause * 1.5)


def _arrange_descriptors(requests: int, wake: int, output: int, error: int) -> tuple[int, int]:
    """Leave the process its standard descriptors and two high ones, which are returned."""
    high = min(_HIGH, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 8)
    go, wake = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, high) for descriptor in (requests, wake))
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (output, 1), (error, 2)):
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
