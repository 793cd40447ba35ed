"""What a Dask worker runs: it hands a call to a process beside it, and kills that when nobody waits.

A worker lives long, and Dask's nanny gives it variables of its own. So each call runs in a process that
begins with the variables of the caller's machine, reads every module anew, and can be killed with all that it
has started. A process serves further calls of the same campaign. It ends after `IDLE` seconds without a call,
and when the worker is gone.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IDLE = 10.0
"""Seconds after which a process without a call ends."""

_LOOK = 0.1  # seconds between two looks whether anybody waits for the answer
_SAID = 300  # characters of what a process wrote last
_AT_WORK = ("running", "paused", "closing_gracefully")


class FarProcessEndedError(Exception):
    """The process ended before it had answered, or was killed because nobody waits for the answer."""


@dataclass(frozen=True)
class FarCaller:
    """The campaign that calls.

    Args:
        token: its name.
        prefixes: of the environment variables that a process has as the caller's machine has them.
        variables: those of them that are set there; others are not set.
        idle: seconds after which a process without a call ends.
    """

    token: str
    prefixes: tuple[str, ...]
    variables: Mapping[str, str]
    idle: float = IDLE

    def environment(self) -> dict[str, str]:
        """The environment of this process with the caller's variables."""
        others = {name: value for name, value in os.environ.items() if not name.startswith(self.prefixes)}
        return {**others, **self.variables}


@dataclass(frozen=True)
class FarReply:
    """The outcome of a call: a value; what, where and what to do, of a UserError; or a traceback."""

    value: Any = None
    refused: tuple[str, str | None, str | None] | None = None
    failed: str | None = None


class FarProcess:
    """A process that answers calls.

    Args:
        caller: whose calls.
    """

    def __init__(self, caller: FarCaller) -> None:
        self._connection, theirs = Pipe()
        self._wrote = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        with theirs:
            program = f"from {__name__} import serve; serve({theirs.fileno()}, {caller.idle!r})"
            self._process = subprocess.Popen(
                [sys.executable, "-c", program], env=caller.environment(), pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._wrote,
            )  # fmt: skip
        threading.Thread(target=self._process.wait, daemon=True).start()  # no zombie is left of it

    @property
    def lives(self) -> bool:
        """Whether it can take a call."""
        return self._process.poll() is None

    def call(self, payload: bytes, gone: Callable[[], bool] = lambda: False) -> FarReply:
        """The outcome of a call.

        Args:
            payload: a function of no arguments, pickled.
            gone: whether nobody waits for the answer any more; the process is then killed.

        Raises:
            FarProcessEndedError: it has ended.
        """
        try:
            self._connection.send_bytes(payload)
            while not self._connection.poll(_LOOK):
                if gone():
                    raise FarProcessEndedError("nobody waits for the answer")
            found = self._connection.recv()
        except (EOFError, OSError):
            raise FarProcessEndedError(self._how_ended()) from None
        assert isinstance(found, FarReply)
        return found

    def close(self) -> None:
        """Kill it; what it has started notices that."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._wrote.close()

    def _how_ended(self) -> str:
        self._process.kill()
        status = self._process.wait()
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        said = ""
        with suppress(OSError, ValueError):
            self._wrote.seek(0)
            said = self._wrote.read().decode("utf-8", "replace").strip().rpartition("\n")[2][-_SAID:]
        return f"a process of {sys.executable} ended {how}{': ' if said else ''}{said}"


def serve(descriptor: int, idle: float) -> None:
    """The program of such a process: answer the calls that come by a descriptor, one after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker's to answer
    connection: Connection = Connection(descriptor)
    calls: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        """Take calls; when the worker is gone, end at once, whatever is at work."""
        try:
            while True:
                calls.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    with suppress(Empty):
        while True:
            connection.send(_answer(calls.get(timeout=idle)))


def _answer(payload: bytes) -> FarReply:
    try:
        return FarReply(value=pickle.loads(payload)())  # noqa: S301 - a scheduler executes what it is sent
    except UserError as error:
        return FarReply(refused=(error.what, error.where, error.todo))
    except Exception:  # noqa: BLE001 - raised again where it was called
        return FarReply(failed=traceback.format_exc())


# --- In the worker itself -----------------------------------------------------------------------------------


_WAITING: dict[str, list[FarProcess]] = {}  # by campaign, processes without a call
_LOCK = threading.Lock()


def run_far(caller: FarCaller, payload: bytes) -> tuple[str, FarReply]:
    """A task of Dask: the worker's address, and the outcome of a call.

    Raises:
        FarProcessEndedError: its process ended; Dask tries again.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def gone() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name not in _AT_WORK

    return worker.address, _call(caller, payload, gone)


async def answer_far(caller: FarCaller, payload: bytes) -> FarReply:
    """The same outside of Dask's queue: for what every worker is asked before the start."""
    return await asyncio.to_thread(_call, caller, payload)


async def end_far(token: str) -> None:
    """End the processes of a campaign that have no call; the others end when their tasks are cancelled."""
    with _LOCK:
        waiting = _WAITING.pop(token, [])
    for process in waiting:
        await asyncio.to_thread(process.close)


def _call(caller: FarCaller, payload: bytes, gone: Callable[[], bool] = lambda: False) -> FarReply:
    with _LOCK:
        every = [(token, process) for token, waiting in _WAITING.items() for process in waiting]
        _WAITING.clear()
        for token, process in every:
            if process.lives:
                _WAITING.setdefault(token, []).append(process)
            else:
                process.close()
        known = _WAITING.get(caller.token)
        found = known.pop() if known else None
    process = found or FarProcess(caller)
    try:
        reply = process.call(payload, gone)
    except BaseException:
        process.close()
        raise
    with _LOCK:
        _WAITING.setdefault(caller.token, []).append(process)
    return reply
