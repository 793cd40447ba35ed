"""Runs a program within limits of time and memory, in a process group of its own that ends with it.

Provers, Why3, Coq, Frama-C, compilers and lines of Python that repeat a deviation run so. Who starts
processes in another way, and why, stands in docs/design-notes.md.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Self

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"}
"""Of the GNU C library: memory in large pages. Half of what it takes to start Z3 is 5,000 small ones."""

_NOT_STARTED = 127  # as a shell has it
_VERSION_SECONDS = 20


class Running:
    """The groups of the programs that run now, so that an interrupted run leaves none behind.

    As a context it ends whatever still runs when the block is left.
    """

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._lock = threading.Lock()
        self.stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def add(self, group: int) -> None:
        """A program has started; it ends at once if the run has stopped meanwhile."""
        with self._lock:
            self._groups.add(group)
            stopped = self.stopped
        if stopped:
            _kill_group(group)

    def remove(self, group: int) -> None:
        """A program has ended; what it left behind ends too."""
        _kill_group(group)
        with self._lock:
            self._groups.discard(group)

    def stop(self) -> None:
        """End every program."""
        with self._lock:
            self.stopped = True
            groups = list(self._groups)
        for group in groups:
            _kill_group(group)


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Args:
        status: its exit status, negative for the signal that ended it; 127 if it could not be started.
        output: what it wrote on standard output, and on standard error where both are asked for together.
        error: what it wrote on standard error; or why it could not be started.
        cpu: seconds of processor time that it and its children used.
        killed: whether its time was up.
        unstarted: why the system did not start it.
    """

    status: int
    output: bytes
    error: bytes = b""
    cpu: float = 0.0
    killed: bool = False
    unstarted: OSError | None = None

    @property
    def text(self) -> str:
        """The output, as UTF-8."""
        return self.output.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """What stands on standard error, as UTF-8."""
        return self.error.decode("utf-8", "replace")


def run_limited(
    command: Sequence[str],
    seconds: float | None,
    running: Running | None = None,
    *,
    folder: Path | None = None,
    megabytes: int | None = None,
    environment: Mapping[str, str] | None = None,
    together: bool = False,
    tied: bool = True,
) -> Ended:
    """Run a program to its end, without input; what it leaves behind in its group ends with it.

    Args:
        command: program and arguments.
        seconds: after which its group is killed; None where it may take any time.
        running: keeps its group while it runs, so that another thread can end it.
        folder: where it runs; here by default.
        megabytes: of address space that it may have; no limit by default.
        environment: variables that it gets where the user has not set them.
        together: whether standard error goes where standard output goes.
        tied: whether the program is to end with this process, though that is killed (see `_tied`). A program
            that is there and cannot be executed then says so by a status of 126 or 127, not by `unstarted`.
    """
    running = running or Running()
    asked = [*command] if megabytes is None else _with_memory(command, megabytes)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        try:
            process = subprocess.Popen(
                _tied(asked) if tied else asked, cwd=folder, env={**(environment or {}), **os.environ},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output if together else error,
                start_new_session=True,
            )  # fmt: skip
        except OSError as refusal:
            said = f"{asked[0]}: {refusal}".encode("utf-8", "replace")
            return Ended(_NOT_STARTED, said if together else b"", said, unstarted=refusal)
        running.add(process.pid)
        killed = threading.Event()
        timer = _timer(seconds, process.pid, killed)
        try:
            _, raw, usage = os.wait4(process.pid, 0)
        except BaseException:
            _kill_group(process.pid)
            process.wait()
            raise
        finally:
            timer.cancel()
            running.remove(process.pid)
        process.returncode = os.waitstatus_to_exitcode(raw)
        said, complained = _whole(output), _whole(error)
    cpu = usage.ru_utime + usage.ru_stime
    return Ended(process.returncode, said, complained, cpu, killed.is_set())


def version_of(command: tuple[str, ...], todo: str, seconds: float = _VERSION_SECONDS) -> str:
    """What a tool prints when asked for its version.

    Args:
        command: the tool and how it is asked.
        todo: how it is installed.
        seconds: it is stopped after so many.

    Raises:
        UserError: it is missing, does not run or fails.
    """
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} is not installed", todo=todo)
    done = run_limited(command, seconds, tied=False)
    if done.killed or done.unstarted:
        why = done.unstarted or f"no answer within {seconds} s"
        raise UserError(f"{command[0]} does not run: {why}", todo=todo)
    if done.status != 0:
        asked = " ".join(command[1:])
        raise UserError(f"{command[0]} {asked} ends with exit status {done.status}", todo=todo)
    return done.text.strip()


def _timer(seconds: float | None, group: int, killed: threading.Event) -> threading.Timer:
    def kill() -> None:
        killed.set()
        _kill_group(group)

    timer = threading.Timer(seconds or 0, kill)
    if seconds is not None:
        timer.start()
    return timer


def _tied(command: Sequence[str]) -> Sequence[str]:
    """A command that ends with whoever starts it, though that is killed: where Linux' setpriv is there.

    The system ends it with the thread that starts it, which therefore has to wait for it.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv and shutil.which(command[0]) else command


def _with_memory(command: Sequence[str], megabytes: int) -> list[str]:
    limited = 'ulimit -v "$1"; shift; exec "$@"'
    return ["sh", "-c", limited, "sh", str(megabytes * 1000), *command]


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it has ended already
