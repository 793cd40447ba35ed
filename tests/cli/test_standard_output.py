"""`-o -` is standard output where a command can write there, and refused elsewhere: never a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import run


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "npz", "--dtype", "int8", "-o", "-"],
        ["check", "--runtime", "numpy", "--dtype", "int8", "--repro", "-"],
    ],
    ids=["export", "repro"],
)
def test_other_commands_refuse_it(tmp_path: Path, arguments: list[str]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "standard output" in done.stderr
    assert not (tmp_path / "-").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_standard_output_is_an_error() -> None:
    command = [sys.executable, "-m", "sonnx_clip", "--help"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: standard output cannot be written: No space left on device"
    )
    assert "Traceback" not in done.stderr
