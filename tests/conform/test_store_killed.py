"""`sonnx-clip check --journal` killed, interrupted, run twice at once: in the end the report is the same.

tests/conform/test_store.py interrupts campaigns in its own process.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_root
from tests.conform.small_campaign import UNITS
from tests.meta.judged import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.nightly

WRONG = "tests.meta.planted:ignores_upper"
TYPES = ("int16", "uint8")
EVERY = len(TYPES) * (1 + UNITS)
PATIENCE = 120  # seconds


def start(file: Path, report: Path, *more: str) -> subprocess.Popen[str]:
    types = [word for etype in TYPES for word in ("--dtype", etype)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conform.small_campaign", "check", "--runtime", WRONG, *types,
         "--level", "standard", "--journal", str(file), "-o", str(report), "--brief", *more],
        cwd=repo_root(), env={**os.environ, "PYTHONPATH": str(repo_root())}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], status: int) -> tuple[str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, out + err
    return out, err


def text(report: Path) -> str:
    """A report as it was written, but for the time that it took."""
    lines = report.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith(' "seconds": '))


def done(file: Path) -> int:
    # There may be none yet, or it is being written; what a killed command left half done is taken back.
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True)) as base,
    ):
        return base.execute("SELECT count(DISTINCT key) FROM results").fetchone()[0]
    return 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a campaign that nothing has interrupted."""
    found = tmp_path_factory.mktemp("whole")
    ended(start(found / "j.sqlite", found / "report.json", "--jobs", "1"), 1)
    assert done(found / "j.sqlite") == EVERY
    return text(found / "report.json")


def test_killed_campaign_resumes(whole: str, tmp_path: Path) -> None:
    file, report, moments = tmp_path / "j.sqlite", tmp_path / "report.json", random.Random(5)
    counts = [0]
    for _ in range(3):
        process = start(file, report, "--jobs", "2")
        wait_until(
            lambda process=process: done(file) > counts[-1] or process.poll() is not None, PATIENCE
        )
        time.sleep(moments.random() * 0.1)
        process.kill()  # itself alone: what it started has to notice
        process.communicate(timeout=PATIENCE)
        counts.append(done(file))
    assert counts == sorted(set(counts))
    assert not report.exists()
    out, err = ended(start(file, report, "--jobs", "2"), 1)
    assert text(report) == whole
    assert f"{counts[-1]} of them in {file}" in err
    assert "violate" in out
    with closing(sqlite3.connect(file)) as base:
        assert base.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_two_campaigns_share_a_journal(whole: str, tmp_path: Path) -> None:
    file, reports = tmp_path / "j.sqlite", [tmp_path / "1.json", tmp_path / "2.json"]
    both = [start(file, report, "--jobs", "2") for report in reports]
    for process in both:
        ended(process, 1)
    assert [text(report) for report in reports] == [whole, whole]
    assert done(file) == EVERY
