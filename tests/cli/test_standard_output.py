"""`-o -` is standard output where a command can write there, and refused elsewhere: never a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.export import write_export
from sonnx_clip.root import files
from sonnx_clip.root.errors import UserError

REFUSED = (
    ["export", "npz", "--dtype", "int8", "-o", "-"],
    ["check", "--runtime", "numpy", "--dtype", "int8", "--repro", "-"],
)


def test_check_prints_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["check", "--runtime", "numpy", "--dtype", "int8", "--build", str(tmp_path / "build"), "-o"]
    printed = CliRunner().invoke(app.app, [*arguments, "-"])
    assert json.loads(printed.stdout)["runtime"] == "numpy"
    written = CliRunner().invoke(app.app, [*arguments, "report.json"])
    assert written.exit_code == printed.exit_code
    assert json.loads(Path("report.json").read_text())["format"] == json.loads(printed.stdout)["format"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build", "report.json"]


def refused(folder: Path, arguments: list[str]) -> bool:
    """Whether a command refuses standard output and makes nothing of its name."""
    found = CliRunner().invoke(app.app, arguments)
    said = isinstance(found.exception, UserError) and "standard output" in str(found.exception)
    return said and not (folder / "-").exists()


@pytest.mark.parametrize("arguments", REFUSED, ids=["export", "repro"])
def test_other_commands_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(tmp_path, arguments)


@pytest.mark.parametrize("arguments", REFUSED, ids=["export", "repro"])
def test_a_writer_that_takes_it_for_a_name_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "_no_standard_output", lambda _: None)
    monkeypatch.setattr(write_export, "is_standard_output", lambda _: False)
    assert not refused(tmp_path, arguments)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["findings"], ["--help"]])
def test_a_full_standard_output_is_an_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "sonnx_clip", *arguments]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output cannot be written: No space left on device")
    assert "Traceback" not in done.stderr
