"""Coverage of what forked children run: self-checks of models, and what reads files that may crash.

A child notes the lines that it ran when it ends by itself; one that is killed leaves none.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slipcover import Slipcover

NOTES = tempfile.TemporaryFile()  # noqa: SIM115  # children inherit it; it has no name that would be left


def note_lines_of_children(watch: Slipcover) -> None:
    """Have every forked child of this process note the lines that it runs, a line of JSON for each child."""
    leave, tests = os._exit, os.getpid()

    def note_and_leave(status: int) -> None:
        if os.getpid() != tests:
            lines = {file: sorted(seen) for file, seen in watch._get_newly_seen().items()}
            with contextlib.suppress(OSError):
                os.write(NOTES.fileno(), json.dumps(lines).encode() + b"\n")
        leave(status)

    os._exit = note_and_leave
    os.register_at_fork(after_in_child=watch.signal_child_process)


def add_lines_of_children(watch: Slipcover) -> None:
    """Count the noted lines as run."""
    NOTES.seek(0)
    for note in NOTES.read().splitlines():
        with contextlib.suppress(ValueError):  # of a child that was killed as it wrote
            for file, lines in json.loads(note).items():
                watch.all_seen[file].update(lines)
