"""What a Dask worker runs: it hands a call to a process beside it, and ends that process when nobody waits.

The processes of a campaign are used again by its next calls, as Python and NumPy take a second to start. One
that has nothing to do ends after some seconds, and all of them when the campaign ends.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.machines.far_process import FarProcess, FarReply, HomeVariables

if TYPE_CHECKING:
    from collections.abc import Callable

IDLE = 10.0
"""Seconds after which a process that has nothing to do ends, if nothing else is said."""

_AT_WORK = ("running", "paused", "closing_gracefully")


@dataclass(frozen=True)
class FarCaller:
    """Who asks.

    Args:
        token: names the campaign.
        variables: those of its home.
        idle: seconds after which a process of it that has nothing to do ends.
    """

    token: str
    variables: HomeVariables
    idle: float = IDLE


def run_far(caller: FarCaller, payload: bytes) -> tuple[str, FarReply]:
    """A task of Dask: the worker's address, and what comes of a call.

    Raises:
        FarProcessEndedError: its process ended; Dask asks again.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def gone() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name not in _AT_WORK

    return worker.address, _PROCESSES.call(caller, payload, gone)


async def answer_far(caller: FarCaller, payload: bytes) -> FarReply:
    """The same outside of Dask's queue: for what every worker is asked before the start."""
    return await asyncio.to_thread(_PROCESSES.call, caller, payload, lambda: False)


async def end_far(token: str) -> None:
    """End every process of a campaign."""
    await asyncio.to_thread(_PROCESSES.end, token)


class _Processes:
    """The processes of this worker: those at work, and those with nothing to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: dict[FarProcess, str] = {}  # each with the campaign that it is for
        self._idle: dict[FarProcess, tuple[str, threading.Timer]] = {}

    def call(self, caller: FarCaller, payload: bytes, gone: Callable[[], bool]) -> FarReply:
        """What comes of a call, in a process that is there or a new one; see `FarProcess.call`."""
        process = self._take(caller)
        try:
            found = process.call(payload, gone)
        except BaseException:
            with self._lock:
                del self._busy[process]
            process.close()
            raise
        timer = threading.Timer(caller.idle, self._end_idle, [process])
        timer.daemon = True
        with self._lock:
            self._idle[process] = self._busy.pop(process), timer
            timer.start()
        return found

    def _take(self, caller: FarCaller) -> FarProcess:
        with self._lock:
            for process, (token, timer) in reversed(self._idle.items()):  # the others come to their end
                if token == caller.token:
                    timer.cancel()
                    del self._idle[process]
                    break
            else:
                process = FarProcess(caller.variables)
            self._busy[process] = caller.token
        return process

    def _end_idle(self, process: FarProcess) -> None:
        with self._lock:
            if self._idle.pop(process, None) is None:
                return
        process.close()

    def end(self, token: str) -> None:
        """End every process of a campaign."""
        with self._lock:
            busy = [process for process, its in self._busy.items() if its == token]
            waiting = [(process, timer) for process, (its, timer) in self._idle.items() if its == token]
            for process, _ in waiting:
                del self._idle[process]
        for process, timer in waiting:
            timer.cancel()
            process.close()
        for process in busy:
            process.kill()


_PROCESSES = _Processes()
