"""tools/unchanged.sh: a command runs again as soon as a byte of what it reads or writes has changed."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "tools/unchanged.sh"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("spec/clip.yaml", "build/proofs.json", ".venv/lib/python3/site-packages/a.dist-info/RECORD"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was\n")
    (tmp_path / "tools").mkdir()
    shutil.copy(repo_root() / SCRIPT, tmp_path / SCRIPT)
    return tmp_path


def run(checkout: Path, command: str = "echo done") -> tuple[int, str, bool]:
    """Exit status and output, and whether the command ran."""
    note = f"echo >>{checkout}/build/runs; {command}"
    before = runs(checkout)
    asked = [checkout / SCRIPT, "name", "build/proofs.json", "--", "sh", "-c", note]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, runs(checkout) > before


def runs(checkout: Path) -> int:
    log = checkout / "build/runs"
    return len(log.read_text().splitlines()) if log.is_file() else 0


def test_unchanged_command_is_not_run_again(checkout: Path) -> None:
    assert run(checkout) == (0, "done\n", True)
    assert run(checkout) == (0, "done\n", False)


@pytest.mark.parametrize(
    "name",
    [
        "spec/clip.yaml",
        "spec/new.yaml",
        "build/proofs.json",
        ".venv/lib/python3/site-packages/a.dist-info/RECORD",
    ],
)
def test_changed_file_runs_it_again(name: str, checkout: Path) -> None:
    run(checkout)
    (checkout / name).write_text("changed\n")
    assert run(checkout) == (0, "done\n", True)


def test_removed_file_runs_it_again(checkout: Path) -> None:
    run(checkout)
    (checkout / "spec/clip.yaml").unlink()
    assert run(checkout)[2]


def test_run_that_fails_or_changes_a_file_is_not_kept(checkout: Path) -> None:
    assert run(checkout, "echo open; exit 3") == (3, "open\n", True)
    assert run(checkout, "echo x >>spec/clip.yaml; echo done") == (0, "done\n", True)
    assert run(checkout) == (0, "done\n", True)
