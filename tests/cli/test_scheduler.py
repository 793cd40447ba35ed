"""--scheduler: what a person is told before anything is judged, in one message and with status 2."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import dask
import distributed  # noqa: F401 - it reads the settings that a test changes
import pytest

from sonnx_clip.cli import app
from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOWHERE = "tcp://127.0.0.1:1"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    words = [
        "sonnx-clip",
        "check",
        "--runtime",
        "numpy",
        "--dtype",
        "int8",
        "--build",
        str(tmp_path),
        "--scheduler",
        NOWHERE,
    ]
    monkeypatch.setattr(sys, "argv", words)
    before = signal.getsignal(signal.SIGTERM)  # the signals are pytest's
    yield words
    signal.signal(signal.SIGTERM, before)


def error(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        app.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "Traceback" not in err
    return err


def test_a_scheduler_that_is_not_there(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        lines = error(capsys).splitlines()
    assert lines[0].startswith(f"error: {NOWHERE}: the scheduler cannot be reached: ")
    assert lines[1:] == ["  give the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786"]


def test_the_extra_that_is_not_installed(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert error(capsys).splitlines() == [
        "error: this needs the package distributed, which is not installed",
        "  install it: pip install 'sonnx-clip[dask]'",
    ]


def test_nothing_imports_dask_unless_it_is_asked_for() -> None:
    program = (
        "import sys, sonnx_clip.cli.check_command;sys.exit(len({'dask', 'distributed'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repo_root(), check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
