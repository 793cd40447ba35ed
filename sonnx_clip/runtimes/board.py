"""The memory by which the checker, the guardian and the process of a runtime speak.

A runtime may write to every descriptor, or close them all: none of its own leads here. Answers are written
into it call by call, so that what was answered before a death is kept; the checker reads them where they are.
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
"""What `call` says before the first call: the runtime is imported, or opened for an element type."""

_HEAD = 4096
_REQUEST, _LOG, _BITS = 1 << 25, 1 << 23, 1 << 27  # taken from the machine only where they are written


def unnamed_file(size: int) -> int:
    """The descriptor of a new file without a name, of so many bytes."""
    if sys.platform.startswith("linux"):
        descriptor = os.memfd_create("sonnx-clip")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, size)
    return descriptor


class Board:
    """Shared memory: of who makes it, of a process that is started with it, and of what that forks."""

    def __init__(self, descriptor: int | None = None, token: str | None = None) -> None:
        """Make it; or open one that another process made.

        Args:
            descriptor: that process's `descriptor`, handed to this one.
            token: its `token`.
        """
        made = unnamed_file(_HEAD + _REQUEST + _LOG + _BITS) if descriptor is None else descriptor
        self.descriptor, self.token = made, token or secrets.token_hex(8)
        self._memory = mmap.mmap(made, 0)
        self._head = np.frombuffer(self._memory, np.int64, 6)

    def close_descriptor(self) -> None:
        """No further process is to open it; a runtime must find no descriptor that leads here."""
        os.close(self.descriptor)

    @property
    def state(self) -> int:
        """`IDLE`, `ASKED` or `DONE`."""
        return int(self._head[0])

    @state.setter
    def state(self, value: int) -> None:
        self._head[0] = value

    @property
    def call(self) -> int:
        """The call that is running."""
        return int(self._head[1])

    @call.setter
    def call(self, value: int) -> None:
        self._head[1] = value

    @property
    def helper(self) -> int:
        """The id of the process that the process of the runtime needs to make calls; 0 if it needs none."""
        return int(self._head[4])

    def own(self, pid: int) -> None:
        """Say which process that is: it is not left behind when it is ended with the runtime."""
        self._head[4] = pid

    @property
    def one_by_one(self) -> bool:
        """Whether several calls at once were found to do what none of them does alone."""
        return bool(self._head[5])

    def ask_one_by_one(self) -> None:
        """Say so; it holds for later processes of the runtime, too."""
        self._head[5] = 1

    @property
    def folder(self) -> Path:
        """Where the process of the runtime may keep files: it makes this folder, the guardian removes it."""
        return Path(tempfile.gettempdir()) / f"sonnx-clip-{self.token}"

    def say(self, words: str) -> None:
        """Note what the process of the runtime waits for, or why it ends: see `last_words`."""
        self.note({"last": words})

    def last_words(self) -> str:
        """What the process of the runtime said of its own end, or of what it waits for; else nothing."""
        return str(next((found["last"] for found in reversed([*self.notes()]) if "last" in found), ""))

    def ask(self, request: object) -> None:
        """Write a request, for `asked`; what was noted before is forgotten."""
        data = pickle.dumps(request)
        if len(data) > _REQUEST:
            raise ValueError("a request is too large for the memory that is shared")
        self._memory[_HEAD : _HEAD + len(data)] = data
        self._head[1:4] = OPENS, 0, len(data)
        self.state = ASKED

    def asked(self) -> Any:
        """The request."""
        data = self._memory[_HEAD : _HEAD + int(self._head[3])]
        return pickle.loads(data)  # noqa: S301 - the guardian wrote it

    def bits(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
        """Where the bits of the results are, of a shape and a type.

        Raises:
            ValueError: they are too many.
        """
        start = _HEAD + _REQUEST + _LOG
        return np.frombuffer(self._memory, dtype, shape[0] * shape[1], start).reshape(shape)

    def clear(self) -> None:
        """Forget what was noted."""
        self._head[2] = 0

    def note(self, record: dict[str, Any]) -> None:
        """Note something beside the results; what has no room is dropped."""
        data = json.dumps(record).encode("ascii") + b"\n"
        start, used = _HEAD + _REQUEST, int(self._head[2])
        if used + len(data) <= _LOG:
            self._memory[start + used : start + used + len(data)] = data
            self._head[2] = used + len(data)

    def notes(self) -> Iterator[dict[str, Any]]:
        """What was noted; a line that is damaged is left out."""
        start = _HEAD + _REQUEST
        for line in self._memory[start : start + max(0, min(int(self._head[2]), _LOG))].splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found
