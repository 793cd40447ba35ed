"""A runtime that takes long for each call: it is told how long, and what was judged is not lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from sonnx_clip.cli.check_command import INTERRUPTED
from sonnx_clip.root.folders import repo_root
from tests.meta.judged import judged

PLANTED = "tests.meta.planted_deaths"
PATIENCE = 120  # seconds
FEW = 120  # calls of a type at most
# Tests that run in the background may have been told to ignore interrupts, which a process inherits.
COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from sonnx_clip.cli.app import main; main()"
)


def start(*arguments: str, **options) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "check", *arguments], cwd=repo_root(), start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(repo_root()), **options.pop("environment", {})},
        stdin=subprocess.DEVNULL, text=True, **options,
    )  # fmt: skip


def test_an_interrupt_in_the_first_unit_gives_what_was_compared(tmp_path):
    report = tmp_path / "report.json"
    runtime = f"{PLANTED}:is_wrong_and_takes_80_ms_after_500_calls"
    process = start(
        "--runtime", runtime, "--dtype", "int16", "-o", str(report), "--build", str(tmp_path),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    told = process.stderr.readline()
    assert told.startswith("int16: ")
    assert " of about 7,000 calls, about " in told
    assert "Ctrl-C" in told
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED, err
    assert "Traceback" not in err
    (found,) = json.loads(report.read_text(encoding="utf-8"))["types"]
    verdicts = {one["id"]: one["verdict"] for one in found["classes"]}
    assert verdicts["high_ordinary"] == "violates"
    assert set(verdicts.values()) == {"violates", "unfinished"}
    assert found["compared"] >= 8000  # the first request of the plan
    assert found["unfinished"] == "1 of 1 unit not judged whole before it was interrupted"
    assert "high_ordinary" in out


def test_few_calls_reach_every_class_and_say_what_they_do_not_see():
    report, classes = judged("planted_deaths:takes_40_ms", "float32", few_calls=True)
    (found,) = report.types
    assert found.few
    assert found.calls < FEW
    assert {one.verdict for one in classes.values()} == {"conforms"}
    assert "what only many calls in one process bring about" in report.scope[1]
    assert "each call had a process of its own" not in report.scope[1]


def marked(mark: str) -> list[bytes]:
    """The processes that carry a mark in their environment."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in file.read_bytes() and int(file.parent.name) != os.getpid():
                found.append((file.parent / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def test_nothing_is_left_at_the_moment_at_which_a_check_ends(tmp_path):
    mark = f"the-mark-of-{tmp_path.name}-{os.getpid()}"
    process = start(
        "--runtime", "tests.meta.planted:right", "--dtype", "int16", "--build", str(tmp_path),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, environment={"SONNX_CLIP_TEST_MARK": mark},
    )  # fmt: skip
    seen = marked(mark)
    while not seen and process.poll() is None:  # the system may show its variables a moment after its start
        seen = marked(mark)
    assert seen
    assert process.wait(PATIENCE) == 0
    assert marked(mark) == []
