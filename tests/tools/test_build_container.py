"""The nightly part that builds the Containerfile is skipped, not failed, where nothing can build it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        (None, 2, "neither podman nor docker"),
        ("exit 1", 2, "podman info"),
        ('echo "$@"; [ "$1" = info ]', 1, "build --file Containerfile"),
    ],
)
def test_build_is_skipped_without_a_builder(
    tmp_path: Path, script: str | None, status: int, says: str
) -> None:
    for tool in ("bash", "dirname"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    if script is not None:
        (tmp_path / "podman").write_text(f"#!{shutil.which('bash')}\n{script}\n")
        (tmp_path / "podman").chmod(0o755)
    done = subprocess.run(
        [str(shutil.which("bash")), str(repo_root() / "tools/build_container.sh")],
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert says in done.stdout
