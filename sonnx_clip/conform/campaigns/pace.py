"""Says of a unit that takes long how far it is and how long it will take yet: for `campaign`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sonnx_clip.root.progress import duration

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST, _THEN = 5.0, 60.0  # seconds before the first time that something is said, and between two times
_LONG = 60.0  # seconds: of a unit that ends before that nothing is said


class Pace:
    """Counts the calls of a unit that have returned, and reckons from their rate.

    Args:
        name: what is judged: ``float32``.
        calls: about how many calls it will be.
        more: what comes after them, in words; None if nothing does.
        say: takes the words; called once soon, if it will take long, and then once a minute.
        clock: seconds by the clock.
    """

    def __init__(
        self,
        name: str,
        calls: int,
        more: str | None,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._calls, self._say, self._clock = name, calls, say, clock
        self._more = f", and then {more}" if more else ""
        self._began = self._said = clock()
        self._wait, self._before = _FIRST, 0

    def at(self, call: int) -> None:
        """So many calls of the request at work have returned."""
        now, done = self._clock(), self._before + call
        if done <= 0 or now - self._said < self._wait:
            return
        left = max(0, self._calls - done) * (now - self._began) / done
        if left < _LONG:
            return
        self._said, self._wait = now, _THEN
        calls = f"{done:,} of about {self._calls:,} calls"
        self._say(f"{self._name}: {calls}, about {duration(left)} left{self._more}")

    def answered(self, calls: int) -> None:
        """All calls of a request have returned."""
        self._before += calls
        self.at(0)
