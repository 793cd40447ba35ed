"""Memory shared by the checker, the supervisor and the runtime's process.

No descriptor leads here, since a runtime may write to all of them or close them. Results are written call by
call, so those before a crash are kept.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.root.dtypes import Array

IMPORTS, OPENS = -2, -1
"""Values of `call` before the first call: the runtime is imported, or opened for an element type."""

# Bytes of each part. They are generous, since only pages that are written take memory.
_HEAD = 1 << 12
_REQUEST = 1 << 25
_LOG = 1 << 23
_BITS = 1 << 27
# Offsets of the last two parts.
_NOTES = _HEAD + _REQUEST
_RESULTS = _NOTES + _LOG


class Asked(Protocol):
    """A request whose answer is a row of `length` values for each of `count` calls, of the type of `pool`."""

    @property
    def count(self) -> int:
        """The rows."""

    @property
    def length(self) -> int:
        """The values of a row."""

    @property
    def pool(self) -> Array:
        """An array of the type of the values."""


def unnamed_file(size: int) -> int:
    """The descriptor of a new file of `size` bytes without a name."""
    # Without a name, nothing is left of it when all processes have ended, however they end.
    if sys.platform.startswith("linux"):
        descriptor = os.memfd_create("sonnx-clip")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, size)
    return descriptor


def _word(index: int) -> Any:
    """A property: a word of the head of the memory."""

    def read(board: Board) -> int:
        return int(board._head[index])  # noqa: SLF001

    def write(board: Board, value: int) -> None:
        board._head[index] = value  # noqa: SLF001

    return property(read, write)


class Board:
    """Shared memory: made by the checker, opened by its descriptor, inherited by the runtime's process.

    Its head holds `done` (whether the runtime's process waits) and `call` (the number of the running call).
    """

    done: int = _word(0)
    call: int = _word(1)
    _log_size: int = _word(2)
    _request_size: int = _word(3)

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None:
            descriptor = unnamed_file(_RESULTS + _BITS)
        self.descriptor = descriptor
        self._memory = mmap.mmap(self.descriptor, 0)
        # The words above, at the start of the memory.
        self._head = np.frombuffer(self._memory, np.int64, 4)

    def close_descriptor(self) -> None:
        """Close the descriptor, when no other process needs it any more; the memory stays."""
        os.close(self.descriptor)

    def begin(self, call: int) -> None:
        """Clear the notes, before a new process or a request."""
        self._log_size = 0
        self.call = call
        self.done = False

    def write_request(self, request: object) -> None:
        """Write a request and clear the notes."""
        # By pickle, since a request has arrays of any length; a note is JSON, which a runtime may
        # damage.
        data = pickle.dumps(request)
        size = len(data)
        # It would run into the notes.
        if size > _REQUEST:
            raise ValueError("a request is larger than the shared memory")
        self._memory[_HEAD : _HEAD + size] = data
        self._request_size = size
        self.begin(OPENS)

    def read_request(self) -> Any:
        """The request that was written last."""
        data = self._memory[_HEAD : _HEAD + self._request_size]
        return pickle.loads(data)  # noqa: S301 - the checker wrote it

    def bits(self, request: Asked) -> Array:
        """The bits of the results, shape (calls, length); TypeError if they do not fit."""
        shape = (request.count, request.length)
        return np.ndarray(shape, request.pool.dtype, self._memory, _RESULTS)

    def note(self, **record: Any) -> None:
        """Append a note; it is dropped when the log is full."""
        # A line of ASCII: JSON escapes the ends of lines in texts, so that `notes` can split.
        data = json.dumps(record).encode("ascii") + b"\n"
        begin = _NOTES + self._log_size
        end = begin + len(data)
        if end <= _RESULTS:
            self._memory[begin:end] = data
            # The size last: a runtime that dies in between leaves no half note.
            self._log_size += len(data)

    def notes(self, key: str) -> Iterator[dict[str, Any]]:
        """The notes that have a key; lines that a runtime has damaged are skipped."""
        # A runtime may have written on the size, too.
        size = max(0, min(self._log_size, _LOG))
        for line in self._memory[_NOTES : _NOTES + size].splitlines():
            try:
                note = json.loads(line)
            except ValueError:
                continue
            if isinstance(note, dict) and key in note:
                yield note

    def last_words(self) -> str:
        """What the process of the runtime waits for, or why it exits: its last note of `last`."""
        words = ""
        for note in self.notes("last"):
            words = str(note["last"])
        return words
