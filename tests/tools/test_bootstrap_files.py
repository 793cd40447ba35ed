"""The files that make a fresh machine work: requirements.lock, Makefile and .ci/run."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import EXTRAS

if TYPE_CHECKING:
    from pathlib import Path

LOCK = repo_file("requirements.lock").read_text()


def _pins() -> dict[str, list[str]]:
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", LOCK, flags=re.MULTILINE):
        pins.setdefault(name, []).append(version)
    return pins


def test_the_lock_pins_what_the_project_asks_for() -> None:
    project = tomllib.loads(repo_file("pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # A user installs a runtime to judge the version that there is; docs/runtimes.md says which were judged.
    unlocked = {"bench", "import", *EXTRAS.values()} - {"onnx"}
    locked = [text for extra, texts in extras.items() if extra not in unlocked for text in texts]
    wanted = [Requirement(text) for text in project["dependencies"] + locked]
    pins = _pins()
    for requirement in wanted:
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name == project["name"]:
            assert requirement.extras <= extras.keys()
            continue
        assert name in pins, f"{requirement} is not in requirements.lock: run `make lock`"
        for version in pins[name]:
            assert version in requirement.specifier, f"{name} {version} is not {requirement}: run `make lock`"


def test_every_pin_has_hashes_and_no_place_is_named() -> None:
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)
    pinned = [entry for entry in entries if "==" in entry.split("\n")[0]]
    assert len(pinned) >= 20
    assert all("--hash=sha256:" in entry for entry in pinned)
    assert "://" not in LOCK
    assert "index-url" not in LOCK


MAKE = """#!/bin/bash
if [[ $1 == test ]]; then echo "$CLOSING"; fi
if [[ $1 == prove ]]; then mkdir -p build; touch build/ledger.sqlite; fi
[[ $1 != "$FAILS" ]]
"""


@pytest.mark.parametrize(
    ("fails", "closing"),
    [
        ("none", "===== 41 passed, 2 skipped in 12.05s ====="),
        ("test", "===== 1 failed, 40 passed in 65.00s (0:01:05) ====="),
        ("prove", "41 passed in 3.10s"),
        ("lint", "41 passed in 3.10s"),
        ("test", "===== 3 errors in 0.21s ====="),
    ],
)
def test_ci_fails_with_its_part_and_ends_with_the_closing_line(
    tmp_path: Path, fails: str, closing: str
) -> None:
    programs = {"make": MAKE, ".venv/bin/python": "#!/bin/sh\n", "sonnx_clip/prove/ledger.py": ""}
    for name, text in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / ".ci").mkdir()
    shutil.copy(repo_file(".ci/run"), tmp_path / ".ci/run")
    here = {
        "PATH": f"{tmp_path}:/usr/bin:/bin", "FAILS": fails, "CLOSING": closing,
        "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }  # fmt: skip
    done = subprocess.run([tmp_path / ".ci/run"], env=here, capture_output=True, text=True, check=False)
    assert done.returncode == (0 if fails == "none" else 1)
    verdict, last = done.stdout.splitlines()[-2:]
    assert last == closing
    assert verdict == ("== all parts passed" if fails == "none" else f"== failed: make {fails}")
    assert bool(list(tmp_path.glob("cache/sonnx-clip/ledger-*.sqlite"))) == (fails in ("none", "lint"))
    assert not list(tmp_path.glob("tmp.*"))
