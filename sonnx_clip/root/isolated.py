"""Runs work that may crash, exhaust memory or hang in a separate process with limits."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import signal
import time
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import TYPE_CHECKING, NoReturn

import psutil

from sonnx_clip.root.processes import (
    end_with_parent,
    exit_status,
    how_ended,
    kill_group,
    lead_group,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


_MEMORY = 8 << 30  # beyond what this process has already: room for a model and for a runtime
_ENDING = 5.0  # seconds in which a process that has closed its pipe has to end
_RETURNED, _RAISED = b"0", b"1"


@dataclass(frozen=True)
class IsolatedOutcome:
    """The bytes that the work returned, or its failure; and whether that is that its time was up."""

    result: bytes
    failure: str | None = None
    timed_out: bool = False


def run_isolated(
    work: Callable[..., bytes],
    *arguments: object,
    seconds: float,
    memory: int | None = _MEMORY,
    each_second: Callable[[float], None] | None = None,
) -> IsolatedOutcome:
    """Run a function in a fork of this process, which has its imports; nothing that it starts is left.

    What it prints is dropped.

    Args:
        work: an exception that it raises is returned as its name and text.
        arguments: of `work`.
        seconds: by the clock, after which it is killed.
        memory: the bytes that it may use beyond those of this process; None for no limit of memory, nor of
            processor time.
        each_second: called with the seconds so far, while it runs.
    """
    # A fork, so that the work gets its arguments as they are: models need not be serialised.
    receiver, sender = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        receiver.close()
        _serve(sender, work, arguments, seconds, memory)
    lead_group(child)
    sender.close()  # else the end of the child would not close the pipe
    try:
        # Two messages: whether it returned or raised, and what.
        if not _answers(receiver, seconds, each_second):
            return IsolatedOutcome(b"", f"no answer within {seconds:.3g} s", timed_out=True)
        try:
            has_returned = receiver.recv_bytes() == _RETURNED
            answer = receiver.recv_bytes()
        except (EOFError, OSError):
            return IsolatedOutcome(b"", f"its process ended: {how_ended(_wait_for(child))}")
    finally:
        receiver.close()
        kill_group(child)
        with contextlib.suppress(ChildProcessError):  # it was waited for above
            os.waitpid(child, 0)
    if has_returned:
        return IsolatedOutcome(answer)
    return IsolatedOutcome(b"", answer.decode("utf-8", "replace"))


def _answers(
    receiver: Connection, seconds: float, each_second: Callable[[float], None] | None
) -> bool:
    """Wait for an answer, or the end of the process; whether there is one within the time."""
    begun = time.monotonic()
    while (left := begun + seconds - time.monotonic()) > 0:
        # The end of the process counts, too: its end of the pipe is closed then.
        if receiver.poll(min(left, 1.0)):
            return True
        if each_second is not None:
            each_second(time.monotonic() - begun)
    return False


def _wait_for(child: int) -> int:
    """The exit status of a process that has closed its pipe, and has a moment left to end by itself."""
    deadline = time.monotonic() + _ENDING
    while (status := exit_status(child)) is None:
        if time.monotonic() > deadline:
            kill_group(child)
        time.sleep(0.001)
    return status


def _serve(
    sender: Connection,
    work: Callable[..., bytes],
    arguments: tuple[object, ...],
    seconds: float,
    memory: int | None,
) -> NoReturn:
    """Main function of the child process: send what the work returns or raises."""
    try:
        lead_group()
        end_with_parent()
        faulthandler.disable()  # the parent reports how this process ends
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # An interrupt reaches the parent too, which kills this process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if memory is not None:
            _limit(seconds, memory)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        try:
            kind, answer = _RETURNED, work(*arguments)
        except BaseException as error:  # noqa: BLE001  # the parent reports it
            text = f"{type(error).__name__}: {error}"
            kind, answer = _RAISED, text.encode("utf-8", "replace")
        sender.send_bytes(kind)
        sender.send_bytes(answer)
    finally:
        os._exit(0)  # nothing of the parent's is to be flushed or ended twice


def _limit(seconds: float, memory: int) -> None:
    limits = {
        resource.RLIMIT_AS: psutil.Process().memory_info().vms + memory,
        # Of all processors together, and some more: the clock of the parent comes first.
        resource.RLIMIT_CPU: int(seconds * (os.cpu_count() or 1)) + 10,
        # A crash is an outcome here, of which no core file is wanted.
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        # Beyond a hard limit that the user has set, setrlimit would fail.
        _, hard = resource.getrlimit(kind)
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (soft, hard))
