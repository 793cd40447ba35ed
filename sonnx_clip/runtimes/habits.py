"""Notices what calls of a runtime change and should leave as it is: how numbers are rounded, memory that
grows, and more.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


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


# --- Notices what calls of a runtime change and should leave as it is: how numbers are rounded, and more ----


_ENVIRONMENT_SIZE = 256  # bytes; fenv_t is smaller everywhere


class Habits:
    """What is as it should be when this is made; each change is told once."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._forks = 0
        os.register_at_fork(after_in_parent=self._forked)
        self._folder = _folder()
        self._saved = ctypes.create_string_buffer(_ENVIRONMENT_SIZE)
        self._library = ctypes.CDLL(None)
        if not hasattr(self._library, "fegetenv"):
            with suppress(OSError):
                self._library = ctypes.CDLL("libm.so.6")
        if hasattr(self._library, "fegetenv"):
            self._library.fegetenv(self._saved)

    def _forked(self) -> None:
        self._forks += 1

    def noticed(self) -> Iterator[str]:
        """What is not as it was, in words; arithmetic is restored."""
        for words in self._changes():
            if words not in self._told:
                self._told.add(words)
                yield words

    def _changes(self) -> Iterator[str]:
        if self._forks:
            yield "it forks: its process goes on twice"
        if _folder() != self._folder:
            yield "it changes the current folder"
        changed = [*_arithmetic()]
        if changed and hasattr(self._library, "fesetenv"):
            self._library.fesetenv(self._saved)
        yield from changed


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - in each request
    except OSError:
        return None


def _arithmetic() -> Iterator[str]:
    """How this thread computes where that is not to the nearest, with subnormals."""
    with np.errstate(all="ignore"):
        one, little = np.float32(1), np.float32(2.0**-25)
        if one + little > one:
            yield "it leaves the rounding mode changed: upward"
        elif -one - little < -one:
            yield "it leaves the rounding mode changed: downward"
        elif one - little < one:
            yield "it leaves the rounding mode changed: towards zero"
        subnormal = np.array([1], np.uint32).view(np.float32)[0]
        if subnormal * one == 0:
            yield "it leaves subnormal numbers flushed to zero"
