"""An interrupted run leaves no program behind."""

import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.meta.judged import wait_until
from tests.prove.tools import fake

PATIENCE = 60  # seconds
# Tests that run in the background may have been told to ignore interrupts, which a process inherits.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sonnx_clip.cli.app import main
main()
"""


@pytest.mark.parametrize(
    ("interruption", "program"),
    [(signal.SIGINT, "z3"), pytest.param(signal.SIGTERM, "why3", marks=pytest.mark.nightly)],
)
def test_an_interrupted_run_leaves_no_program_behind(interruption, program, real_bench, tmp_path):
    pids = tmp_path / "pids"
    fault = f"trap '' INT TERM; sleep 600 & echo $! >>{pids}; echo $$ >>{pids}; wait"
    fake(program, fault, tmp_path / "bin", real_bench.monkeypatch)
    asked = [
        "--build",
        str(real_bench.build),
        "--jobs",
        "1",
        "--only",
        "int8.*_inhabited",
        "--prover",
        "z3",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "prove", *asked],
        cwd=real_bench.root, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: pids.is_file() and len(pids.read_text().split()) >= 2, PATIENCE)
    process.send_signal(interruption)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, 2)
    assert "Traceback" not in out + err
    for pid in pids.read_text().split():
        wait_until(lambda pid=pid: _ended(pid), PATIENCE)
    assert not (real_bench.build / "proofs.json").exists()


def _ended(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "Z"  # init has yet to take note of it
    except (FileNotFoundError, ProcessLookupError):
        return True
