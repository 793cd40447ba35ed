"""The command line, run in this process: most tests of a message need no process of their own."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from sonnx_clip.cli.app import main

# Tests that run in the background may have been told to ignore interrupts, which a process inherits.
COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from sonnx_clip.cli.app import main; main()"
)


@dataclass(frozen=True)
class Ended:
    """How a command ended, with the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, cwd: Path) -> Ended:
    """Run ``sonnx-clip`` with these arguments in a folder."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["sonnx-clip", *arguments]),
        mock.patch.dict(os.environ),  # --quiet and --no-color set variables, for this command alone
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Ended(status, out.getvalue(), err.getvalue())


def printed(*arguments: str) -> str:
    """Standard output of a command that succeeds."""
    done = run(*arguments, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    return done.stdout
