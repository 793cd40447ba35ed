"""`check --contexts` that is killed and resumed, or that is run by Dask workers, gives the same report."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from sonnx_clip.conform.check_report import Report
from sonnx_clip.root.folders import repo_root
from tests.command import COMMAND
from tests.machines.cluster import Cluster

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.nightly

WORDS = (
    "check", "--optimiser", "tests.contexts.planted_optimisers:drops_relu", "--dtype", "int8", "--brief",
    "--few-calls", "--contexts", "relu-clip,clip-relu,clip-clip,max-clip",
)  # fmt: skip


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *WORDS, *words], cwd=repo_root(),
        env={**os.environ, "PYTHONPATH": str(repo_root())}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def report_of(file, *words):
    """The report of a whole run, as text without its duration."""
    _, error = (process := start("-o", str(file), *words)).communicate()
    assert process.returncode == 1, error
    report = Report.model_validate_json(file.read_text(encoding="utf-8"))
    assert [context.verdict for found in report.types for context in found.contexts].count(
        "context"
    ) == 1
    return report.model_dump_json(exclude={"seconds"})


def units_in(journal):
    """How many units a journal has; none while its table is not there."""
    try:
        with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as connection:
            tables = connection.execute(
                "select name from sqlite_master where type = 'table'"
            ).fetchall()
            return max(
                (
                    connection.execute(f"select count(*) from {name}").fetchone()[0]
                    for (name,) in tables
                ),
                default=0,
            )
    except sqlite3.OperationalError:
        return 0


def test_killed_run_is_resumed_to_the_same_report(tmp_path):
    journal = tmp_path / "journal"
    process = start("--journal", str(journal))
    while process.poll() is None and units_in(journal) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    resumed = report_of(tmp_path / "resumed.json", "--journal", str(journal))
    assert resumed == report_of(tmp_path / "whole.json")


def test_workers_of_dask_give_the_same_report(tmp_path):
    cluster = Cluster(tmp_path)
    try:
        cluster.worker(2)
        by_workers = report_of(tmp_path / "workers.json", "--scheduler", cluster.address)
    finally:
        cluster.close()
    assert by_workers == report_of(tmp_path / "here.json")
