"""`sonnx-clip all`, which `make prove` runs: each stage is a process, side by side where they can be.

The proofs and the comparisons with runtimes need nothing of each other and use the cores together; the
evidence follows both. Each stage is a command that can be run by itself, and keeps what it has finished: an
interrupted run goes on where it was. What the stages print comes in one order, whichever ends first.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import IO, TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sonnx_clip.root.terminal import GENERATED, VARIABLE
from sonnx_clip.runtimes.runtime import OURS, RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.progress import TaskID

OTHERS = tuple(name for name in RUNTIMES if name not in OURS)
"""What is judged by default beside our own: what these do otherwise is a finding, and no failure."""

PROGRAM = (sys.executable,)
"""Stages are modules of this interpreter."""

_COMMAND = ("-m", "sonnx_clip")

_GRACE = 10.0  # seconds in which a stage that is told to end ends its own processes
_TICK = 0.1


@dataclass(frozen=True)
class Stage:
    """A command of the whole.

    Args:
        name: what people see.
        arguments: what the interpreter is given.
        after: the stages that must have ended before, or the milestones that one must have come to.
        decides: status 1 of it is that of the whole.
        needed: a status above 1 ends the whole.
    """

    name: str
    arguments: tuple[str, ...]
    after: tuple[str, ...] = ()
    decides: bool = True
    needed: bool = True


def stages(others: Sequence[str], jobs: int, build: Path, *, again: bool) -> tuple[Stage, ...]:
    """What `make prove` does, in the order in which it is printed.

    Args:
        others: the runtimes that are judged beside our own.
        jobs: how many processes a stage runs at once.
        build: where ledger, verdicts and evidence go.
        again: judge anew what was kept; the provers' answers are not asked again.
    """
    where = ("--build", str(build))
    judging = (*where, "--brief", "--jobs", str(jobs), *(["--again"] if again else []))
    found = [
        Stage("prove", (*_COMMAND, "prove", "--generate", *where, "--jobs", str(jobs))),
        # Without a library `sonnx_clip.clip` stays with the kernels of NumPy.
        Stage("C for clip", ("-m", "sonnx_clip.oracle.built"), (GENERATED,), decides=False, needed=False),
    ]
    before = "C for clip"
    for runtime in dict.fromkeys((*OURS, *others)):
        output = str(build / "verdicts" / f"{runtime.replace(':', '-')}.json")
        arguments = (*_COMMAND, "check", "--runtime", runtime, "-o", output, *judging)
        found.append(Stage(f"check {runtime}", arguments, (before,), decides=runtime in OURS))
        before = f"check {runtime}"
    found.append(Stage("compare-dialects", (*_COMMAND, "compare-dialects", *judging), (before,)))
    found.append(Stage("evidence", (*_COMMAND, "evidence", *where), ("prove", "compare-dialects")))
    return tuple(found)


@dataclass
class _Running:
    """A stage at work."""

    stage: Stage
    process: subprocess.Popen[bytes]
    reader: int
    printed: IO[bytes]
    began: float = field(default_factory=time.monotonic)
    unread: bytes = b""


class _Run:
    """One run of all stages."""

    def __init__(self, every: Sequence[Stage], program: Sequence[str], console: Console) -> None:
        self._every, self._program, self._console = tuple(every), tuple(program), console
        self._waiting = list(every)
        self._running: dict[str, _Running] = {}
        self._ended: dict[str, int] = {}
        self._reached: set[str] = set()  # stages that have ended, and milestones
        self._printed: dict[str, str] = {}
        self._selector = selectors.DefaultSelector()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[at_work]}"),
        )  # fmt: skip
        self._bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._tasks: dict[str, TaskID] = {}
        self._fifths: dict[str, int] = {}

    def __call__(self) -> int:
        with self._bars:
            try:
                while self._waiting or self._running:
                    self._start()
                    if not self._running:
                        return self._stuck()
                    self._read(_TICK)
                    if (status := self._collect()) is not None:
                        return status
            finally:
                self._stop()
        return int(any(self._ended[stage.name] for stage in self._every if stage.decides))

    def _start(self) -> None:
        for stage in [s for s in self._waiting if self._reached.issuperset(s.after)]:
            self._waiting.remove(stage)
            reader, writer = os.pipe()
            printed = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
            process = subprocess.Popen(
                [*self._program, *stage.arguments],
                stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
                pass_fds=(writer,), env=os.environ | self._environment(writer),
            )  # fmt: skip
            os.close(writer)
            self._running[stage.name] = running = _Running(stage, process, reader, printed)
            self._selector.register(reader, selectors.EVENT_READ, running)
            self._tasks[stage.name] = self._bars.add_task(stage.name, total=None, at_work="")
            self._say(f"{stage.name}: started")

    def _stuck(self) -> int:
        """Nothing runs and something still waits: whoever should have reached it has ended without."""
        missing = {name for stage in self._waiting for name in stage.after} - self._reached
        names = ", ".join(stage.name for stage in self._waiting)
        print(f"error: {names} did not run: {', '.join(sorted(missing))} was not reached", file=sys.stderr)
        return 2

    def _environment(self, writer: int) -> Mapping[str, str]:
        wide = {"COLUMNS": str(self._console.width)}
        return {VARIABLE: str(writer), **(wide if self._console.is_terminal else {})}

    def _say(self, line: str) -> None:
        """A line for a log; a terminal has the bars."""
        if not self._console.is_terminal:
            print(line, file=sys.stderr, flush=True)

    def _read(self, seconds: float) -> bool:
        """Take what the stages have written about their progress; whether there was something."""
        if not self._selector.get_map():
            time.sleep(seconds)
        heard = self._selector.select(seconds)
        for key, _ in heard:
            running: _Running = key.data
            data = os.read(running.reader, 1 << 16)
            if not data:
                self._selector.unregister(running.reader)
                continue
            *lines, running.unread = (running.unread + data).split(b"\n")
            self._heard(running.stage.name, [line.decode(errors="replace") for line in lines])
        return bool(heard)

    def _heard(self, name: str, lines: Sequence[str]) -> None:
        self._reached |= {line[2:] for line in lines if line.startswith("= ")}
        if far := [line for line in lines if not line.startswith("= ")]:
            self._progress(name, far[-1])

    def _progress(self, name: str, line: str) -> None:
        first, second, at_work = line.split(" ", 2)
        done, total = int(first), int(second)
        self._bars.update(self._tasks[name], completed=done, total=total, at_work=at_work)
        fifth = 5 * done // max(total, 1)
        if fifth > self._fifths.get(name, 0):
            self._fifths[name] = fifth
            self._say(f"{name}: {done} of {total}")

    def _collect(self) -> int | None:
        """Note which stages have ended and print what comes next; a status if one ends the whole."""
        ended = [(name, r) for name, r in self._running.items() if r.process.poll() is not None]
        while ended and self._read(0):  # what they wrote last
            pass
        for name, running in ended:
            status = running.process.returncode
            del self._running[name]
            self._close(running)
            self._bars.remove_task(self._tasks[name])
            self._ended[name] = status
            self._reached.add(name)
            running.printed.seek(0)
            self._printed[name] = running.printed.read().decode(errors="replace")
            running.printed.close()
            self._say(f"{name}: ended after {time.monotonic() - running.began:.1f} s")
            if running.stage.needed and status not in (0, 1):
                self._print([stage.name for stage in self._every if stage.name in self._ended])
                return status if status > 0 else 128 - status
        names = [stage.name for stage in self._every]
        self._print(list(takewhile(self._ended.__contains__, names)))
        return None

    def _print(self, names: Sequence[str]) -> None:
        for name in names:
            if text := self._printed.pop(name, "").rstrip("\n"):
                self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _close(self, running: _Running) -> None:
        with suppress(KeyError):  # its end was read already
            self._selector.unregister(running.reader)
        os.close(running.reader)

    def _stop(self) -> None:
        """End what still runs: each stage ends its own processes when it is told to."""
        for running in self._running.values():
            running.process.terminate()
        for running in self._running.values():
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(_GRACE)
            if running.process.poll() is None:
                running.process.kill()
                running.process.wait()
            self._close(running)
            running.printed.close()
        self._running.clear()


def run_all(every: Iterable[Stage], console: Console, program: Sequence[str] = PROGRAM) -> int:
    """Run stages, each as soon as those before it have ended.

    Args:
        every: the stages, in the order in which their output is printed.
        console: where to.
        program: the program of which the stages are commands.

    Returns:
        0 if every stage that decides ended with 0; 1 if one of them ended with 1; the status of the first
        stage that is needed and ended with another: then the others stop.
    """
    return _Run(tuple(every), program, console)()
