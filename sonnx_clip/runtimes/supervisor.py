"""The supervisor: a process that forks the process of a runtime, watches it, and kills it with its children.

The checker commands it over a pipe. Requests and results are on a `Board`; two semaphores wake both sides,
since a runtime cannot close or write those. The supervisor runs no code of a runtime. It adopts orphans, so
every process that a runtime starts is its descendant, even in another session. They are killed when the
runtime dies, hangs or is done, and when the checker has ended.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import psutil

from sonnx_clip.root.processes import (
    adopt_orphans,
    end_with_parent,
    exit_status,
    how_ended,
    kill_group,
)
from sonnx_clip.runtimes.board import IMPORTS, Board
from sonnx_clip.runtimes.calls import Died, EndedError
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from sonnx_clip.runtimes.runtime import Limits

    Handle = Callable[[Any, Board], None]
    Program = Callable[..., tuple[dict[str, Any], Handle | None]]

_SHOWN = 120  # bytes kept of both ends of what a runtime prints
_PIPE = 1 << 16  # bytes that a pipe holds
_READS = 16  # of a pipe at once: a runtime may fill it as fast as it is read
# Bytes in one call; a runtime that prints a kilobyte for each entry is not stopped.
_MOST_PRINTED = 1 << 28
_EVERY = 0.02  # seconds between two looks at a process
_KILLING = 5.0  # seconds in which all processes of a runtime have to be dead
# Seconds that one look counts at most: the supervisor may have been waiting, too.
_LONGEST_LOOK = 0.5
_SHORTEST_LOOK = 0.1
_FORK = multiprocessing.get_context("fork")


def supervise(
    connection: Connection, program: Program, arguments: tuple[object, ...], limits: Limits
) -> None:
    """Main function of the supervisor: run the commands of the checker until that has ended.

    It receives the descriptor of the board and sends ``here``. The checker sends ``start`` or ``handle``, and
    gets a `Died`, or None when that is done. In the process of the runtime, `program` is called first, with
    the board and its arguments: it returns a greeting and a handler of requests.
    """
    # An interrupt of the terminal goes to the checker, which ends this process by SIGTERM.
    with suppress(OSError):
        os.setsid()
    adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    board = Board(recv_handle(connection))
    board.close_descriptor()  # the process of the runtime inherits the memory, and no way to it
    supervisor = _Supervisor(connection, board, program, arguments, limits)
    try:
        connection.send("here")
        while True:
            command = connection.recv()
            died = supervisor.start() if command == "start" else supervisor.handle()
            connection.send(died)
    except (EOFError, OSError, SystemExit):  # the checker has ended, or ends this process
        pass
    finally:
        supervisor.end()


class OwnTime:
    """Time that a runtime itself takes: a call does not count as hanging because the machine is busy.

    CPU time counts while one of its processes is running or waits for a processor, else time by the clock.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start anew: a call has returned."""
        self._last = time.monotonic()
        self._spent = 0.0
        self._computed: float | None = None

    def spent(self) -> float:
        """The seconds since `reset`; it looks at most ten times a second."""
        now = time.monotonic()
        passed = min(now - self._last, _LONGEST_LOOK)
        if passed < _SHORTEST_LOOK:
            return self._spent
        computed, wants_processor = _look()
        # A runtime that waits for nothing that the machine could give it is hanging.
        if not wants_processor:
            self._spent += passed
        elif self._computed is not None:
            # The CPU time of processes that have ended is gone: the sum may be less than before.
            used = max(0.0, computed - self._computed)
            self._spent += min(passed, used)
        self._last = now
        self._computed = computed
        return self._spent


def _look() -> tuple[float, bool]:
    """CPU seconds of the descendants, and whether a thread runs or waits for a processor or a disk."""
    computed = 0.0
    wants_processor = False
    for process in psutil.Process().children(recursive=True):
        # A process or a thread may end while it is looked at.
        with suppress(psutil.Error):
            times = process.cpu_times()
            computed += times.user + times.system
            for thread in process.threads():
                if wants_processor:
                    break
                state = psutil.Process(thread.id).status()
                wants_processor = state in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
    return computed, wants_processor


class _Supervisor:
    """See `supervise`."""

    def __init__(
        self, connection: Connection, board: Board, program: Program, arguments: tuple[object, ...],
        limits: Limits,
    ) -> None:  # fmt: skip
        self._connection = connection
        self._board = board
        self._program = program
        self._arguments = arguments
        self._limits = limits
        self._pid: int | None = None
        self._folder = ""  # for temporary files of the runtime's process
        self._printed: dict[int, bytes] = {}  # by descriptor: standard output, standard error

    def start(self) -> Died | None:
        """Start the process of the runtime, after ending a running one; its greeting is a note."""
        self.end()
        self._board.begin(IMPORTS)
        # New semaphores: the process that has died may have held one.
        self._go = _FORK.Semaphore(0)
        self._done = _FORK.Semaphore(0)
        with suppress(OSError):  # then it has the folder of all
            self._folder = tempfile.mkdtemp(prefix="sonnx-clip-")
        pipes = [os.pipe() for _ in range(2)]
        # Not started anew: Python and NumPy are there already, and the board and semaphores are inherited.
        self._pid = os.fork()
        if self._pid == 0:
            self._live([write for _, write in pipes])
        for read, write in pipes:
            os.close(write)
            os.set_blocking(read, False)
        self._printed = {read: b"" for read, _ in pipes}
        return self._wait(self._limits.start, "--start-limit")

    def handle(self) -> Died | None:
        """Let the runtime handle the request on the board."""
        if self._pid is None:
            return Died("it is not running", 0)
        self._go.release()
        return self._wait(self._limits.call, "--limit")

    def end(self) -> None:
        """Kill the process of the runtime and all its descendants."""
        if self._pid is None:
            return
        kill_group(self._pid)
        deadline = time.monotonic() + _KILLING
        # Again and again: what is killed may have started another process just before, in another group.
        while (left := psutil.Process().children(recursive=True)) and time.monotonic() < deadline:
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, timeout=_EVERY)
        shutil.rmtree(self._folder, ignore_errors=True)
        for descriptor in self._printed:
            os.close(descriptor)
        self._pid = None
        self._folder = ""
        self._printed = {}

    def _wait(self, limit: float, option: str) -> Died | None:
        """Wait until the request is done: None, or how the process ended or why it was killed.

        What was printed meanwhile becomes a remark.
        """
        assert self._pid is not None
        board = self._board
        own_time = OwnTime()
        call = board.call
        pause = _EVERY
        printed = 0
        while not board.done:
            self._done.acquire(timeout=pause)
            count = self._read()
            # A pipe that is full stops the runtime, and its time would count as that of the runtime.
            pause = _EVERY / 20 if count else _EVERY
            # Done since the condition of the loop was tested: what it printed is no cause for death.
            if board.done:
                break
            printed += count
            if printed > _MOST_PRINTED:
                return self._died(f"it printed more than {_MOST_PRINTED:,} bytes in one call")
            if self._connection.poll():
                raise EOFError  # the checker sends nothing meanwhile: it has ended
            status = exit_status(self._pid)
            if status is not None:
                return self._died(board.last_words() or how_ended(status))
            if board.call != call:
                call = board.call
                printed = 0
                own_time.reset()
            elif own_time.spent() > limit:
                words = (
                    f"no answer within {limit:g} s of its own time ({option} SECONDS allows more)"
                )
                last = board.last_words()
                return self._died(f"{words}: {last}" if last else words, hung=True)
        self._remark()
        return None

    def _died(self, words: str, *, hung: bool = False) -> Died:
        self._remark()
        call = self._board.call
        self.end()
        return Died(words, call, hung=hung)

    def _read(self) -> int:
        """Read what was printed, some times as much as a pipe holds; the number of bytes."""
        count = 0
        for descriptor in self._printed:
            with suppress(BlockingIOError):
                for _ in range(_READS):
                    data = os.read(descriptor, _PIPE)
                    if not data:
                        break
                    count += len(data)
                    self._printed[descriptor] = _both_ends(self._printed[descriptor] + data)
        return count

    def _remark(self) -> None:
        """Add what was printed since the last call of this to the notes."""
        self._read()
        for name, seen in zip(("output", "error"), self._printed.values(), strict=True):
            if seen:
                line = _telling_line(seen)
                self._board.note(remark=f"it writes on standard {name}: {line}")
        self._printed = dict.fromkeys(self._printed, b"")

    def _live(self, outputs: list[int]) -> NoReturn:
        """Main function of the process of the runtime."""
        try:
            with suppress(OSError):
                os.setsid()
            end_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            # Nothing else stays open: a runtime may write on any descriptor.
            nothing = os.open(os.devnull, os.O_RDWR)
            for target, source in enumerate((nothing, *outputs)):
                os.dup2(source, target)
            os.closerange(3, 1024)  # the usual limit of open files
            with suppress(OSError):  # where memory runs out, this process goes first
                Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
            if self._folder:
                tempfile.tempdir = os.environ["TMPDIR"] = self._folder
            board = self._board
            supervisor = os.getppid()
            greeting, handle = self._program(board, *self._arguments)
            board.note(**greeting)
            while True:
                board.done = True
                self._done.release()
                if handle is None:
                    os._exit(0)
                while board.done:
                    # Where the system does not end this process with its parent, it looks for itself.
                    if not self._go.acquire(timeout=1) and os.getppid() != supervisor:
                        os._exit(0)
                handle(board.read_request(), board)
        except EndedError as error:
            self._board.note(last=str(error))
        except BaseException as error:  # noqa: BLE001 - nothing may return into the supervisor's own code
            with suppress(BaseException):
                os.write(2, f"the checker failed: {error!r}\n".encode("utf-8", "replace"))
        finally:
            # Without the exit handlers of the supervisor, of which this process has a copy.
            os._exit(70)


def _both_ends(printed: bytes) -> bytes:
    """The ends of what was printed, which are all that a remark needs."""
    if len(printed) <= 2 * _SHOWN:
        return printed
    return printed[:_SHOWN] + printed[-_SHOWN:]


def _telling_line(seen: bytes) -> str:
    """The first line of what was printed; of a traceback of Python the last, which names the error."""
    text = seen.decode("utf-8", "replace")
    first, _, _ = text.partition("\n")
    if first.startswith("Traceback (most recent call last)"):
        _, _, last = text.rstrip().rpartition("\n")
        return printable(last)
    return printable(first)
