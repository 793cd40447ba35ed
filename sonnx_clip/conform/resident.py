"""Notices that the memory of a process grows with the calls of a runtime: for `calls`."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

_STATUS = Path("/proc/self/status")
_WARM = 2_000  # calls, in which caches and pools fill
_CALLS = 10_000  # over so many more it has to grow
_LEAST = 1 << 20  # bytes
_EACH = 32  # bytes a call: less than any object; runtimes that keep nothing stay below 4


class Resident:
    """The memory of this process after each request; growth is told once.

    Memory that is taken at once, for a cache or for a long X, is no growth: it has to grow by some bytes a
    call in each quarter of the calls.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._points: list[tuple[int, int]] = []
        self._told = False

    def after(self, calls: int) -> str | None:
        """What is noticed after so many more calls, in words."""
        self._calls += calls
        held = None if self._told else own_memory()
        if held is None or self._calls < _WARM:
            return None
        self._points.append((self._calls, held))
        first, base = self._points[0]
        if self._calls - first < _CALLS:
            return None
        grown, marks = held - base, [first + (self._calls - first) * n // 4 for n in range(5)]
        at = [next(point for point in self._points if point[0] >= mark) for mark in marks]
        if grown < _LEAST or any(b[1] - a[1] < _EACH * (b[0] - a[0]) for a, b in pairwise(at)):
            return None
        self._told = True
        number = self._calls - first
        each = round(grown / number)
        return f"its memory grows by about {each:,} bytes a call: {grown / 2**20:.1f} MB in {number:,} calls"


def own_memory() -> int | None:
    """The bytes that this process holds and shares with no other; None where the system does not say."""
    with suppress(OSError, ValueError):
        for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return None
