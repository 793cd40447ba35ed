"""tools/unchanged.sh: a command runs again as soon as a byte of what it reads or writes has changed."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    "spec/clip.yaml",
    "build/proofs.json",
    ".venv/lib/python3/site-packages/a.dist-info/RECORD",
)


def test_command_runs_again_after_a_change_or_a_failure(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was\n")
    (tmp_path / "tools").mkdir()
    script = shutil.copy(repo_root() / "tools/unchanged.sh", tmp_path / "tools")
    log = tmp_path / "build/runs"
    log.touch()

    def run(command: str = "echo done") -> tuple[int, str, bool]:
        """Exit status and output, and whether the command ran."""
        before = log.read_text()
        asked = [script, "name", "build/proofs.json", "--", "sh", "-c", f"echo >>{log}; {command}"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, log.read_text() > before

    assert run() == (0, "done\n", True)
    assert run() == (0, "done\n", False)
    for name in (*FILES, "spec/new.yaml"):
        (tmp_path / name).write_text("changed\n")
        assert run() == (0, "done\n", True), name
    (tmp_path / FILES[0]).unlink()
    assert run()[2]
    assert run("echo open; exit 3") == (3, "open\n", True)
    assert run("echo x >>spec/clip.yaml; echo done") == (0, "done\n", True)
    assert run() == (0, "done\n", True)
