"""How long a runtime may take, and how that is measured: by its own time, not by the clock of a busy machine.

This is the one place of the limits, for the command line and for whoever calls `run_campaign`. A call that
goes on counts what its processes computed; while none of them wants a processor it counts the time that goes
by. So a machine under load makes nothing hang, and each call that returns begins the count anew.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Clock = Callable[[], float]

CALL = 10.0
START = 60.0

_PROC = Path("/proc")
_LONGEST_LOOK = 0.5  # seconds that one look counts at most: the checker, too, may have waited for a processor
_EVERY = 0.1


@dataclass(frozen=True)
class Limits:
    """Seconds of its own time that a runtime may take, and how often it may die.

    Args:
        call: for one call.
        start: to be imported and opened for an element type.
        deaths: in a form of a model, or in all other calls; then it is given up.
    """

    call: float = CALL
    start: float = START
    deaths: int = 80


LIMITS = Limits()
"""Where nothing else is asked for."""


@dataclass(frozen=True)
class _Seen:
    """What a look at processes shows: seconds computed by all of them, and whether one wants to compute."""

    computed: float
    wants: bool


class Patience:
    """Counts the own time of a process and of all that it started, since the last call of `reset`.

    Args:
        leader: the id of the process, which leads a session of its own.
        clock: seconds by the clock.
    """

    def __init__(self, leader: int, clock: _Clock = time.monotonic) -> None:
        self._leader, self._clock = leader, clock
        self.reset()

    def reset(self) -> None:
        """Begin anew: a call has returned."""
        self._last, self._spent = self._clock(), 0.0
        self._seen: _Seen | None = None

    def spent(self) -> float:
        """The own time up to now, in seconds; it looks at most ten times a second."""
        now = self._clock()
        passed = min(now - self._last, _LONGEST_LOOK)
        if passed < _EVERY:
            return self._spent
        seen = _look(self._leader)
        if seen is None or not seen.wants:
            self._spent += passed
        elif self._seen is not None:
            self._spent += min(passed, max(0.0, seen.computed - self._seen.computed))
        self._last, self._seen = now, seen
        return self._spent


def _look(session: int) -> _Seen | None:
    """What the processes of a session do; None where the system does not say."""
    found = [fields for fields in _fields_of_all() if fields[3] == str(session)]
    if not found:
        return None
    ticks = os.sysconf("SC_CLK_TCK")
    computed = sum(int(fields[11]) + int(fields[12]) for fields in found) / ticks
    return _Seen(computed, any(_wants(fields) for fields in found))


def _wants(fields: list[str]) -> bool:
    """Whether a thread of a process runs, waits for a processor, or for a disk."""
    states = [fields[0]]
    for file in _PROC.glob(f"{fields[-1]}/task/*/stat"):
        with suppress(OSError, IndexError):
            states.append(file.read_text(errors="replace").rpartition(") ")[2][0])
    return bool({"R", "D"} & set(states))


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal, as far as the system tells."""
    with suppress(OSError, IndexError):
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        return text.rpartition(") ")[2][0] == "T"
    return False


def _fields_of_all() -> Iterator[list[str]]:
    """Of each process what stands behind its name in /proc: state, parent, group, session, …; its id last."""
    with suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - of names alone
            if name.isdigit():
                with suppress(OSError):
                    text = (_PROC / name / "stat").read_text(errors="replace")
                    yield [*text.rpartition(") ")[2].split(), name]


def descendants(ancestor: int) -> set[int]:
    """The ids of the processes that descend from one, as far as the system tells."""
    children: dict[int, list[int]] = {}
    for fields in _fields_of_all():
        children.setdefault(int(fields[1]), []).append(int(fields[-1]))
    found: set[int] = set()
    left = [ancestor]
    while left:
        for child in children.get(left.pop(), ()):
            if child not in found:
                found.add(child)
                left.append(child)
    return found
