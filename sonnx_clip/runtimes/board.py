"""Memory shared by the checker, the supervisor and the runtime's process.

A runtime may write to every descriptor or close them all: none leads here. Results are written call by call,
so answers given before a crash are kept.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.root.dtypes import Array

IDLE, ASKED, DONE = range(3)
IMPORTS, OPENS = -2, -1
"""Values of `call` before the first call: the runtime is imported, or opened for an element type."""

_HEAD, _REQUEST, _LOG, _BITS = 1 << 12, 1 << 25, 1 << 23, 1 << 27  # only pages that are written take memory


def unnamed_file(size: int) -> int:
    """The descriptor of a new file of `size` bytes without a name."""
    if sys.platform.startswith("linux"):
        descriptor = os.memfd_create("sonnx-clip")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, size)
    return descriptor


def _word(index: int) -> Any:
    """A property: a word of the head of the memory."""
    return property(
        lambda board: int(board._head[index]),  # noqa: SLF001
        lambda board, value: board._head.__setitem__(index, value),  # noqa: SLF001
    )


class Board:
    """Shared memory: made by the checker, opened by the supervisor, inherited by the runtime's process.

    Its head holds `state` (`IDLE`, `ASKED` or `DONE`) and `call` (the number of the running call).

    Args:
        descriptor: of the memory; new memory if None.
        token: a random word that names the folder.
    """

    state: int = _word(0)
    call: int = _word(1)
    _log_size: int = _word(2)
    _request_size: int = _word(3)

    def __init__(self, descriptor: int | None = None, token: str | None = None) -> None:
        self.descriptor = unnamed_file(_HEAD + _REQUEST + _LOG + _BITS) if descriptor is None else descriptor
        self.token = token or secrets.token_hex(8)
        self._memory = mmap.mmap(self.descriptor, 0)
        self._head = np.frombuffer(self._memory, np.int64, 4)

    def close_descriptor(self) -> None:
        """Close the descriptor once no other process has to open it."""
        os.close(self.descriptor)

    @property
    def folder(self) -> Path:
        """Folder for files of the runtime's process; the supervisor removes it."""
        return Path(tempfile.gettempdir()) / f"sonnx-clip-{self.token}"

    def ask(self, request: object) -> None:
        """Write a request and clear the notes."""
        data = pickle.dumps(request)
        if len(data) > _REQUEST:
            raise ValueError("a request is too large for the memory that is shared")
        self._memory[_HEAD : _HEAD + len(data)] = data
        self.call, self._log_size, self._request_size = OPENS, 0, len(data)
        self.state = ASKED

    def asked(self) -> Any:
        """The request."""
        data = self._memory[_HEAD : _HEAD + self._request_size]
        return pickle.loads(data)  # noqa: S301 - the checker wrote it

    def bits(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
        """The bits of the results; ValueError if they do not fit."""
        start = _HEAD + _REQUEST + _LOG
        return np.frombuffer(self._memory, dtype, shape[0] * shape[1], start).reshape(shape)

    def begin(self) -> None:
        """Prepare for a new process, which is about to import the runtime."""
        self._log_size, self.call, self.state = 0, IMPORTS, ASKED

    def note(self, record: dict[str, Any]) -> None:
        """Append a note; it is dropped when the log is full."""
        data = json.dumps(record).encode("ascii") + b"\n"
        start, used = _HEAD + _REQUEST, self._log_size
        if used + len(data) <= _LOG:
            self._memory[start + used : start + used + len(data)] = data
            self._log_size = used + len(data)

    def notes(self) -> Iterator[dict[str, Any]]:
        """The notes; damaged lines are skipped."""
        start = _HEAD + _REQUEST
        for line in self._memory[start : start + max(0, min(self._log_size, _LOG))].splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found

    def say(self, words: str) -> None:
        """Note what the runtime's process waits for, or why it exits."""
        self.note({"last": words})

    def last_words(self) -> str:
        """The last words of `say`."""
        return str(next((found["last"] for found in reversed([*self.notes()]) if "last" in found), ""))
