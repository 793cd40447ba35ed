"""`sonnx-clip check --journal` killed, interrupted, run twice at once: in the end the report is the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.cli.check_command import INTERRUPTED
from sonnx_clip.conform.store import Store
from sonnx_clip.root.folders import repo_root
from tests.conform.small_campaign import UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG = "tests.meta.planted:ignores_upper"
TYPES = ("int16", "uint8")
EVERY = len(TYPES) * (1 + UNITS)
PATIENCE = 120  # seconds
KILLS = 3
SEED = 5


def start(file: Path, report: Path, *more: str, runtime: str = WRONG) -> subprocess.Popen[str]:
    types = [word for etype in TYPES for word in ("--dtype", etype)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conform.small_campaign", "--runtime", runtime, *types,
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
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True)) as base:
        return base.execute("SELECT count(DISTINCT digest) FROM units").fetchone()[0]
    return 0


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def wait_until_more(count: int, file: Path, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: done(file) > count or process.poll() is not None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal and the report of a campaign that nothing has interrupted."""
    found = tmp_path_factory.mktemp("whole")
    ended(start(found / "j.sqlite", found / "report.json", "--jobs", "1"), 1)
    assert done(found / "j.sqlite") == EVERY
    return found


@pytest.fixture
def whole(folder: Path) -> str:
    """That report."""
    return text(folder / "report.json")


def test_killed_campaign_resumes(whole: str, tmp_path: Path) -> None:
    file, report, moments = tmp_path / "j.sqlite", tmp_path / "report.json", random.Random(SEED)
    counts = [0]
    for _ in range(KILLS):
        process = start(file, report, "--jobs", "2")
        wait_until_more(counts[-1], file, process)
        time.sleep(moments.random() * 0.1)
        process.kill()  # itself alone: what it started has to notice
        process.communicate(timeout=PATIENCE)
        counts.append(done(file))
    assert counts == sorted(set(counts))
    assert not report.exists()
    out, err = ended(start(file, report, "--jobs", "2"), 1)
    assert text(report) == whole
    assert f"{counts[-1]} of them in {file}" in err
    assert "violates" in out
    with closing(sqlite3.connect(file)) as base:
        assert base.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_journal_killed_while_writing_can_be_read(folder: Path, tmp_path: Path) -> None:
    """A copy in the middle of a transaction is what a kill there leaves: SQLite calls its journal hot."""
    file, left = tmp_path / "j.sqlite", tmp_path / "left.sqlite"
    shutil.copy(folder / "j.sqlite", file)
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("PRAGMA cache_size = 1")  # what is changed is written before the end
        base.execute("BEGIN IMMEDIATE")
        base.execute("CREATE TABLE more (words TEXT)")
        base.executemany("INSERT INTO more VALUES (?)", [("x" * 4000,)] * 100)
        for end in ("", "-journal"):
            shutil.copy(f"{file}{end}", f"{left}{end}")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        sqlite3.connect(f"file:{left}?mode=ro", uri=True).execute("SELECT count(*) FROM units")
    journal = Store(left, create=False)
    found = journal.status()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        journal._base.execute("CREATE TABLE more (words TEXT)")
    journal.close()
    assert (found.results, found.damaged) == (EVERY, 0)
    assert not Path(f"{left}-journal").exists()


@pytest.mark.nightly
def test_an_interrupt_gives_the_report_so_far(whole: str, tmp_path: Path) -> None:
    file, report = tmp_path / "j.sqlite", tmp_path / "report.json"
    process = start(file, report, "--jobs", "1")
    wait_until(lambda: done(file) > 0)
    process.send_signal(signal.SIGINT)
    out, err = ended(process, INTERRUPTED)
    assert "interrupted: the report covers the calls made so far" in err
    assert "Traceback" not in err
    assert "unfinished: it was interrupted" in out
    found = json.loads(report.read_text(encoding="utf-8"))
    assert {one["verdict"] for one in found["types"]} <= {"violates", "unfinished"}
    assert not {"conforms", "acceptable"} & {c["verdict"] for one in found["types"] for c in one["classes"]}
    assert "before it was interrupted" in found["types"][-1]["unfinished"]
    ended(start(file, report), 1)
    assert text(report) == whole


@pytest.mark.nightly
def test_two_at_once_do_each_other_no_harm(whole: str, tmp_path: Path) -> None:
    file, reports = tmp_path / "j.sqlite", [tmp_path / "1.json", tmp_path / "2.json"]
    both = [start(file, report, "--jobs", "2") for report in reports]
    for process in both:
        ended(process, 1)
    assert [text(report) for report in reports] == [whole, whole]
    assert done(file) == EVERY
    with closing(sqlite3.connect(file)) as base:
        assert base.execute("SELECT count(*) FROM campaigns").fetchone() == (1,)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sonnx_clip", *words], cwd=repo_root(), capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip


def test_the_status_and_a_file_that_is_no_journal(folder: Path) -> None:
    file, every = folder / "j.sqlite", EVERY
    found = command("check", "--status", "--journal", str(file))
    assert found.returncode == 0
    assert f"finished: {every} of {every} units done" in found.stdout
    (one,) = json.loads(command("check", "--status", "--journal", str(file), "--json").stdout)["campaigns"]
    assert (one["done"], one["units"], one["version"]) == (
        every,
        every,
        "tests.meta.planted:ignores_upper planted",
    )
    for words in (
        ("check", "--status", "--journal", str(folder / "report.json")),
        ("check", "--status", "--journal", str(folder / "none")),
        ("check", "--runtime", WRONG, "--journal", str(folder / "report.json")),
    ):
        found = command(*words)
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.startswith("error: ")
        assert "Traceback" not in found.stderr
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))
