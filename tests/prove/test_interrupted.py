"""An interrupted run leaves no program behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.prove.tools import fake

ASK = ("--only", "int8.*_inhabited", "--prover", "z3")
PATIENCE = 60  # seconds


# Tests that run in the background may have been told to ignore interrupts, which a process inherits.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sonnx_clip.cli.app import main
main()
"""


def _start(bench, *arguments):
    program = [sys.executable, "-c", PROGRAM]
    return subprocess.Popen(
        [*program, "prove", "--build", str(bench.build), "--jobs", "1", *arguments],
        cwd=bench.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("interruption", "program"),
    [(signal.SIGINT, "z3"), pytest.param(signal.SIGTERM, "why3", marks=pytest.mark.nightly)],
)
def test_an_interrupted_run_leaves_no_program_behind(interruption, program, real_bench, tmp_path):
    pids = tmp_path / "pids"
    fault = f"trap '' INT TERM; sleep 600 & echo $! >>{pids}; echo $$ >>{pids}; wait"
    fake(program, fault, tmp_path / "bin", real_bench.monkeypatch)
    process = _start(real_bench, *ASK)
    _wait_until(lambda: pids.is_file() and len(pids.read_text().split()) >= 2)
    process.send_signal(interruption)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, 2)
    assert "Traceback" not in out + err
    for pid in pids.read_text().split():
        _wait_until(lambda pid=pid: _ended(pid))
    assert not (real_bench.build / "proofs.json").exists()


def _ended(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "Z"  # init has yet to take note of it
    except (FileNotFoundError, ProcessLookupError):
        return True
