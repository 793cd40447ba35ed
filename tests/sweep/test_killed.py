"""A sweep that is killed at any moment goes on where it was, and leaves no process behind."""

import subprocess
import sys
import time
from pathlib import Path

from sonnx_clip.sweep.slices import find_subject, slices, swept_types
from sonnx_clip.sweep.sweep_record import record_of

PATIENCE = 120


def wait_for(what):
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_killed_sweep_goes_on(tmp_path):
    record = record_of(find_subject("c"), tmp_path / "sweep")
    tool = str(Path(sys.executable).with_name("sonnx-clip"))
    words = [
        tool,
        "sweep",
        "--dtype",
        "int8",
        "--implementation",
        "c",
        "--jobs",
        "2",
        "--build",
        str(tmp_path),
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as first:
        wait_for(record.finished)
        first.kill()
        # The workers hold the pipe too: it ends when the last of them has.
        first.communicate(timeout=PATIENCE)
    before = record.finished()
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    expected = {part.id for part in slices(swept_types()[0], in_c=True)}
    assert set(record.finished()) == expected
    assert before.items() <= record.finished().items()
    # Nothing finished was swept again; a line may have been cut off.
    assert len(record.path.read_text().splitlines()) <= len(expected) + 1
    assert "16,777,216 of 16,777,216 results agree" in done.stdout
    assert "the table agrees with the oracle on 52,920 of 52,920" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["sweep"]  # a part of the sweeps is no result
