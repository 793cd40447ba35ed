"""What a Dask worker runs: it hands a call to a process beside it, and ends that process when nobody waits.

The processes of a campaign are used again by its next calls, as Python and NumPy take a second to start. One
that has nothing to do ends after some seconds, and all of them when the campaign ends.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.machines.far_process import FarProcess, FarProcessEndedError, FarReply, HomeVariables

if TYPE_CHECKING:
    from collections.abc import Callable

IDLE = 10.0
"""Seconds after which a process that has nothing to do ends."""

_AT_WORK = ("running", "paused", "closing_gracefully")


@dataclass(frozen=True)
class FarCaller:
    """Who asks.

    Args:
        token: names the campaign.
        variables: those of its home.
    """

    token: str
    variables: HomeVariables


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


@dataclass
class _Processes:
    """The processes of this worker, by campaign: those at work, and those with nothing to do."""

    busy: dict[str, set[FarProcess]] = field(default_factory=dict)
    idle: dict[str, list[FarProcess]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, caller: FarCaller, payload: bytes, gone: Callable[[], bool]) -> FarReply:
        with self.lock:
            waiting = self.idle.get(caller.token)
            process = waiting.pop() if waiting else FarProcess(caller.variables)
            self.busy.setdefault(caller.token, set()).add(process)
        try:
            found = process.call(payload, gone)
        except FarProcessEndedError:
            with self.lock:
                self.busy[caller.token].discard(process)
            process.close()
            raise
        with self.lock:
            self.busy[caller.token].discard(process)
            self.idle.setdefault(caller.token, []).append(process)
        timer = threading.Timer(IDLE, self._end_idle, [caller.token, process])
        timer.daemon = True
        timer.start()
        return found

    def _end_idle(self, token: str, process: FarProcess) -> None:
        with self.lock:
            waiting = self.idle.get(token, [])
            if process not in waiting:
                return
            waiting.remove(process)
        process.close()

    def end(self, token: str) -> None:
        with self.lock:
            waiting, busy = self.idle.pop(token, []), list(self.busy.get(token, ()))
        for process in waiting:
            process.close()
        for process in busy:
            process.kill()


_PROCESSES = _Processes()
