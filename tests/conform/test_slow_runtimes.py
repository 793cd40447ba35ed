"""A runtime that takes long for each call: the time left is reported, and what was judged is not lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from sonnx_clip.cli.check_command import INTERRUPTED
from sonnx_clip.root.folders import repo_root
from tests.command import COMMAND

PATIENCE = 120  # seconds


@pytest.mark.nightly
def test_interrupt_in_the_first_unit_reports_what_was_compared(tmp_path):
    report = tmp_path / "report.json"
    runtime = "tests.meta.planted_deaths:is_wrong_and_takes_80_ms_after_500_calls"
    options = ("--dtype", "int16", "-o", str(report), "--build", str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "check", "--runtime", runtime, *options],
        cwd=repo_root(), start_new_session=True, env={**os.environ, "PYTHONPATH": str(repo_root())},
        stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    first = process.stderr.readline()
    assert first.startswith("int16: ")
    assert " of about 7,000 calls, about " in first
    assert "Ctrl-C" in first
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED, err
    assert "Traceback" not in err
    (found,) = json.loads(report.read_text(encoding="utf-8"))["types"]
    verdicts = {one["id"]: one["verdict"] for one in found["classes"]}
    assert verdicts["high_ordinary"] == "violates"
    assert set(verdicts.values()) == {"violates", "unfinished"}
    assert found["compared"] >= 8000  # the first request of the plan
    assert found["unfinished"] == "1 of 1 unit not fully judged before the interrupt"
    assert "high_ordinary" in out
