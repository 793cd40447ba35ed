"""Memory that the checker, the supervisor and the process of a runtime share.

A runtime may write to every descriptor, or close them all: none of its own leads here. Results are written
call by call, so that what was answered before a death is kept.
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

_HEAD = 4096
_REQUEST, _LOG, _BITS = 1 << 25, 1 << 23, 1 << 27  # the system provides the pages that are written alone


def unnamed_file(size: int) -> int:
    """The descriptor of a new file without a name, of so many bytes."""
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
    """Shared memory: the checker makes it, the supervisor opens it, the runtime's process has it by fork.

    Args:
        descriptor: of the memory; new memory if None.
        token: a random word that names the folder.
    """

    state: int = _word(0)
    """`IDLE`, `ASKED` or `DONE`."""
    call: int = _word(1)
    """The number of the running call."""
    _log_size: int = _word(2)
    _request_size: int = _word(3)
    helper: int = _word(4)
    """The id of a process without which the runtime's makes no calls; 0 if there is none."""
    one_by_one: int = _word(5)
    """Not 0 once several calls at once did what none of them does alone; kept over restarts."""

    def __init__(self, descriptor: int | None = None, token: str | None = None) -> None:
        made = unnamed_file(_HEAD + _REQUEST + _LOG + _BITS) if descriptor is None else descriptor
        self.descriptor, self.token = made, token or secrets.token_hex(8)
        self._memory = mmap.mmap(made, 0)
        self._head = np.frombuffer(self._memory, np.int64, 6)

    def close_descriptor(self) -> None:
        """Close it once no further process is to open it."""
        os.close(self.descriptor)

    @property
    def folder(self) -> Path:
        """Where the runtime's process may keep files; it makes this folder, the supervisor removes it."""
        return Path(tempfile.gettempdir()) / f"sonnx-clip-{self.token}"

    def ask(self, request: object) -> None:
        """Write a request, and clear the notes."""
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
        """The bits of the results, of a shape and a type; ValueError if they are too many."""
        start = _HEAD + _REQUEST + _LOG
        return np.frombuffer(self._memory, dtype, shape[0] * shape[1], start).reshape(shape)

    def clear(self) -> None:
        """Clear the notes."""
        self._log_size = 0

    def note(self, record: dict[str, Any]) -> None:
        """Add a note beside the results; one for which there is no room is dropped."""
        data = json.dumps(record).encode("ascii") + b"\n"
        start, used = _HEAD + _REQUEST, self._log_size
        if used + len(data) <= _LOG:
            self._memory[start + used : start + used + len(data)] = data
            self._log_size = used + len(data)

    def notes(self) -> Iterator[dict[str, Any]]:
        """The notes; a damaged line is skipped."""
        start = _HEAD + _REQUEST
        for line in self._memory[start : start + max(0, min(self._log_size, _LOG))].splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found

    def say(self, words: str) -> None:
        """Note what the runtime's process waits for, or why it ends."""
        self.note({"last": words})

    def last_words(self) -> str:
        """The last words of `say`."""
        return str(next((found["last"] for found in reversed([*self.notes()]) if "last" in found), ""))
