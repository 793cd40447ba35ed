"""A process of its own for what a hostile model may bring down or keep busy for ever."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def run_child(
    program: Path, *words: str, given: bytes, seconds: float, folder: Path | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Run a program of Python; None if it did not end in time and was killed.

    Args:
        program: the file.
        words: its arguments.
        given: its standard input.
        seconds: how long it may take.
        folder: where it runs; here by default.
    """
    # -P keeps the folder of the child, whose file names are common words, off its module path.
    command = [sys.executable, "-P", str(program), *words]
    try:
        return subprocess.run(
            command, input=given, capture_output=True, timeout=seconds, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return None
