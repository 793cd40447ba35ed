"""Runs work that may crash, exhaust memory or hang in a separate process with limits."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import resource
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


_MEMORY = 8 << 30  # beyond what this process has already: room for a model and for a runtime
_DONE, _RAISED = b"0", b"1"


@dataclass(frozen=True)
class IsolatedOutcome:
    """The bytes that the work returned, or its failure."""

    result: bytes
    failure: str | None = None


def run_isolated(
    work: Callable[..., bytes],
    *arguments: object,
    seconds: float,
    memory: int = _MEMORY,
    each_second: Callable[[float], None] | None = None,
) -> IsolatedOutcome:
    """Run a function in a separate process, forked so that its imports are loaded.

    What it prints is dropped.

    Args:
        work: a function of a module; an exception is returned as its name and text.
        arguments: its arguments.
        seconds: it is killed after this time.
        memory: the bytes that it may use beyond those of this process.
        each_second: called with the seconds so far, while it runs.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_child, args=(sender, work, arguments, seconds, memory), daemon=True
    )
    process.start()
    sender.close()
    try:
        if not _answers(receiver, seconds, each_second):
            return IsolatedOutcome(b"", f"no answer within {seconds:.3g} s")
        try:
            done, answer = receiver.recv_bytes() == _DONE, receiver.recv_bytes()
        except (EOFError, OSError):
            process.join(5)
            return IsolatedOutcome(b"", f"its process ended with status {process.exitcode}")
    finally:
        process.kill()
        process.join()
        receiver.close()
    return (
        IsolatedOutcome(answer) if done else IsolatedOutcome(b"", answer.decode("utf-8", "replace"))
    )


def _answers(
    receiver: Connection, seconds: float, each_second: Callable[[float], None] | None
) -> bool:
    """Wait for an answer; whether there is one within the time."""
    begun = time.monotonic()
    while (left := begun + seconds - time.monotonic()) > 0:
        if receiver.poll(min(left, 1.0)):
            return True
        if each_second is not None:
            each_second(time.monotonic() - begun)
    return False


def _child(
    sender: Connection,
    work: Callable[..., bytes],
    arguments: tuple[object, ...],
    seconds: float,
    memory: int,
) -> None:
    faulthandler.disable()  # the parent reports how this process dies
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the parent is interrupted too, and kills this process
    _limit(seconds, memory)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        kind, answer = _DONE, work(*arguments)
    except BaseException as error:  # noqa: BLE001  # the parent reports it
        kind, answer = _RAISED, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    sender.send_bytes(kind)
    sender.send_bytes(answer)
    sender.close()
    os._exit(0)  # nothing of the parent's is to be flushed or ended twice


def _limit(seconds: float, memory: int) -> None:
    limits = {
        resource.RLIMIT_AS: psutil.Process().memory_info().vms + memory,
        resource.RLIMIT_CPU: int(seconds * (os.cpu_count() or 1)) + 10,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(
                kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
            )
