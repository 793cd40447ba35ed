"""Runs a program within limits of time and memory, in a process group of its own that ends with it.

Provers, Why3, Coq, Frama-C, compilers and reproducers run so. docs/architecture.md lists what else starts
processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Self

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.processes import kill_group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"}
"""Of the GNU C library: memory in large pages. Half of what it takes to start Z3 is 5,000 small ones."""

_BLOCK = 512  # bytes of `ulimit -f`
_NOT_STARTED = 127  # as a shell has it
_NOT_EXECUTED = (126, _NOT_STARTED)  # of a shell that cannot execute a program


class Running:
    """The process groups of running programs; leaving the context, or `stop`, ends them all."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._lock = threading.Lock()  # programs start and end in many threads
        self.stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def add(self, group: int) -> None:
        """Register a program that has started; it ends at once if the run has stopped meanwhile."""
        with self._lock:
            self._groups.add(group)
        # After it is registered: either `stop` finds it in the set, or it is ended here.
        if self.stopped:
            kill_group(group)

    def remove(self, group: int) -> None:
        """Remove a program that has ended, and end the processes that it left behind."""
        kill_group(group)
        with self._lock:
            self._groups.discard(group)

    def stop(self) -> None:
        """End every program."""
        with self._lock:
            self.stopped = True
            groups = list(self._groups)
        for group in groups:
            kill_group(group)


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    status: int  # negative for the signal that ended it; 127 if it could not be started
    output: bytes  # its standard output, and its standard error where both go together
    error: bytes = b""  # its standard error; or why it could not be started
    cpu: float = 0.0  # seconds of processor time that it and its children used
    killed: bool = False  # its time was up
    unstarted: OSError | None = None  # why the system did not start it

    @property
    def text(self) -> str:
        """The output, as UTF-8."""
        return self.output.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """Standard error, as UTF-8."""
        return self.error.decode("utf-8", "replace")


def run_limited(
    command: Sequence[str],
    seconds: float | None,
    running: Running | None = None,
    *,
    folder: Path | None = None,
    megabytes: int | None = None,
    largest_file: int | None = None,
    environment: Mapping[str, str] | None = None,
    together: bool = False,
    tied: bool = True,
) -> Ended:
    """Run a program to its end, without input; processes that it leaves behind in its group end with it.

    Args:
        command: program and arguments.
        seconds: after which its group is killed; None for no limit.
        running: keeps its group while it runs, so that another thread can end it.
        folder: where it runs; here by default.
        megabytes: of address space that it may have; no limit by default.
        largest_file: bytes of each file that it may write, its outputs included, rounded up to blocks of 512;
            a write beyond them fails, and by default SIGXFSZ ends the program.
        environment: variables that it gets where the user has not set them.
        together: whether standard error goes where standard output goes.
        tied: whether the program ends with the thread that starts it, even if that is killed: where Linux'
            setpriv is there. A program that cannot be executed then ends with status 126 or 127, and
            `unstarted` is None.
    """
    running = running or Running()
    full = _limited_by_shell(command, megabytes, largest_file)
    # Not for a program that is missing: the error would be one of setpriv.
    setpriv = shutil.which("setpriv") if tied and sys.platform == "linux" else None
    if setpriv and shutil.which(full[0]):
        full = [setpriv, "--pdeathsig", "KILL", *full]
    # Files and no pipes: a program that prints much would wait until it is read.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        try:
            process = subprocess.Popen(
                full, cwd=folder, env={**(environment or {}), **os.environ}, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output if together else error, start_new_session=True,
            )  # fmt: skip
        except OSError as refusal:
            reason = f"{command[0]}: {refusal}".encode("utf-8", "replace")
            return Ended(_NOT_STARTED, reason if together else b"", reason, unstarted=refusal)
        running.add(process.pid)
        # Apart from the status: a program may end by SIGKILL for other reasons.
        killed = threading.Event()

        def kill() -> None:
            killed.set()
            kill_group(process.pid)

        # Without a limit it is never started, and cancelled all the same.
        timer = threading.Timer(seconds or 0, kill)
        if seconds is not None:
            timer.start()
        try:
            # Popen's own wait has no times; wait4 has those of the program and of its children.
            _, raw, usage = os.wait4(process.pid, 0)
        except BaseException:
            kill_group(process.pid)
            process.wait()
            raise
        finally:
            timer.cancel()
            running.remove(process.pid)
        # Else Popen would wait for it once more.
        process.returncode = os.waitstatus_to_exitcode(raw)
        for file in (output, error):
            file.seek(0)
        cpu = usage.ru_utime + usage.ru_stime
        ended = Ended(process.returncode, output.read(), error.read(), cpu, killed.is_set())
    by_shell = ended.error.startswith(b"sh: ")
    if largest_file is not None and ended.status in _NOT_EXECUTED and by_shell:
        # The shell could not execute it: without the shell the system refuses it, in words that are reported.
        return run_limited(
            command, seconds, running, folder=folder, megabytes=megabytes, environment=environment,
            together=together, tied=tied,
        )  # fmt: skip
    return ended


def version_of(command: tuple[str, ...], todo: str, seconds: float = 20) -> str:
    """The version that a tool prints; UserError, with how to install it, if it is missing or fails."""
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} is not installed", todo=todo)
    done = run_limited(command, seconds, tied=False)
    if done.killed or done.unstarted:
        why = done.unstarted or f"no answer within {seconds} s"
        raise UserError(f"{command[0]} does not run: {why}", todo=todo)
    if done.status != 0:
        raise UserError(f"{' '.join(command)} ends with exit status {done.status}", todo=todo)
    return done.text.strip()


def _limited_by_shell(
    command: Sequence[str], megabytes: int | None, largest_file: int | None
) -> list[str]:
    """The command, started by a shell that sets its limits before."""
    # Before it starts: on a busy machine, a program had written 57 MB before it was limited from outside.
    limits: list[str] = []
    if megabytes is not None:
        # In units of 1,024 bytes: a little more than was wanted.
        limits.append(f"ulimit -v {megabytes * 1000}")
    if largest_file is not None:
        blocks = ceil(largest_file / _BLOCK)
        limits.append(f"ulimit -f {blocks}")
    if not limits:
        return [*command]
    script = "; ".join([*limits, 'exec "$@"'])
    # The second "sh" is what the shell calls itself in messages, by which `run_limited` tells them.
    return ["sh", "-c", script, "sh", *command]
