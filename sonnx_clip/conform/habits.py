"""Notices what calls of a runtime change and should leave as it is: how numbers are rounded, and more."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

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
