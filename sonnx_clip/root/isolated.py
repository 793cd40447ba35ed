"""Does work that may die, take all memory or never end, in a process of its own with limits; and work that
makes many objects without Python's collector.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import multiprocessing
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection


# Beyond what this process has already: room for a model and for a runtime.
MEMORY = 8 << 30
_DONE, _RAISED = b"0", b"1"


@dataclass(frozen=True)
class IsolatedOutcome:
    """What the work returned, or why it returned nothing; it `hung` if its time was up."""

    result: bytes
    failure: str | None = None
    hung: bool = False


def run_isolated(
    work: Callable[..., bytes],
    *given: object,
    seconds: float,
    folder: Path | None = None,
    memory: int = MEMORY,
) -> IsolatedOutcome:
    """Do some work in a process of its own.

    Where the system can fork, the process starts with everything that is imported and loaded here.

    Args:
        work: a function of a module; its result comes back, an exception as the name and its text.
        given: its arguments.
        seconds: how long it may take; it is killed after that.
        folder: where it runs; here by default.
        memory: how many bytes it may take beyond what this process has.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(  # type: ignore[attr-defined]
        target=_child, args=(sender, work, given, folder, memory, seconds), daemon=True
    )
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return IsolatedOutcome(b"", f"no answer within {seconds:.3g} s", hung=True)
        try:
            kind, answer = receiver.recv_bytes(), receiver.recv_bytes()
        except (EOFError, OSError):
            process.join(5)
            return IsolatedOutcome(b"", f"its process ended with status {process.exitcode}")
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        receiver.close()
    if kind == _DONE:
        return IsolatedOutcome(answer)
    return IsolatedOutcome(b"", answer.decode("utf-8", "replace"))


def _child(
    sender: Connection,
    work: Callable[..., bytes],
    given: tuple[object, ...],
    folder: Path | None,
    memory: int,
    seconds: float,
) -> None:
    faulthandler.disable()  # how this process dies is what the parent reports
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and kills this process
    _limit(memory, seconds)
    _silence()
    if folder is not None:
        os.chdir(folder)
    try:
        kind, answer = _DONE, work(*given)
    except BaseException as error:  # noqa: BLE001  # whatever it is, the parent says it
        kind, answer = _RAISED, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    sender.send_bytes(kind)
    sender.send_bytes(answer)
    sender.close()
    os._exit(0)  # nothing of the parent's is to be flushed or ended twice


def _limit(memory: int, seconds: float) -> None:
    if sys.platform == "win32":
        return
    import resource

    used = 0
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    cpu = int(seconds * (os.cpu_count() or 1)) + 10
    for kind, limit in (
        (resource.RLIMIT_AS, used + memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _silence() -> None:
    """What C++ says goes nowhere: the parent says what matters."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


# --- Python's garbage collector put off while many objects are made that live on ----------------------------


@contextmanager
def without_collection() -> Iterator[None]:
    """No collection inside: each would go through all objects that a large model has, and free none."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
