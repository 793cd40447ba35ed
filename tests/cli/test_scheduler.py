"""--scheduler: errors before anything is judged are one message and status 2."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import dask
import distributed  # noqa: F401 - it reads the settings that a test changes

from tests.command import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOWHERE = "tcp://127.0.0.1:1"
CHECK = ("check", "--runtime", "numpy", "--dtype", "int8", "--build", "build", "--scheduler", NOWHERE)


def test_unreachable_scheduler_is_one_message(tmp_path: Path) -> None:
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        done = run(*CHECK, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {NOWHERE}: the scheduler cannot be reached: ")
    assert len(done.stderr.splitlines()) == 2


def test_missing_extra_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run(*CHECK, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'sonnx-clip[dask]'" in done.stderr
