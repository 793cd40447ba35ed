"""Processor time of `check` of np.clip, float32, one job: in seconds, and relative to np.clip's own.

    python -m bench.judge

Informs only: the exit status is 0.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from bench.commands import CLIP
from bench.timing import HEADER, Target, cpu_seconds, judge

OPTIONS = "--dtype float32 --again --jobs 1 --level"
_TIMED = """
import os, time
import numpy as np
total, file = 0, os.open(f"{folder}/{os.getpid()}", os.O_WRONLY | os.O_CREAT)
@np.errstate(invalid="ignore")
def clip(x, low, high):
    global total
    began = time.process_time_ns()
    result = np.clip(x, low, high)
    total += time.process_time_ns() - began
    os.pwrite(file, b"%d" % total, 0)
    return result
"""
"""np.clip as a runtime whose processes leave their nanoseconds in files."""


def seconds(level: str) -> tuple[float, str]:
    """Median processor seconds of three runs, start-up included."""
    return cpu_seconds((*CLIP, "check", "--runtime", "numpy", *OPTIONS.split(), level), 3), ""


def ratio(level: str) -> tuple[float, str]:
    """All processor time over that inside np.clip."""
    with tempfile.TemporaryDirectory() as folder:
        runtime, spent = Path(folder, "timed.py"), Path(folder, "spent")
        spent.mkdir()
        runtime.write_text(f"folder = {str(spent)!r}{_TIMED}", encoding="utf-8")
        whole = cpu_seconds(
            (*CLIP, "check", "--runtime", f"{runtime}:clip", *OPTIONS.split(), level)
        )
        inside = sum(int(file.read_text() or 0) for file in spent.iterdir()) / 1e9
    return whole / inside, f"{inside:.2f} of {whole:.2f} CPU-s, {inside / whole:.0%}"


if __name__ == "__main__":
    print(HEADER)
    for level, most, share in (("quick", 0.8, 0.15), ("standard", 2.5, 0.25)):
        judge(Target(f"check, {level}", most, "CPU-s", gates=False), partial(seconds, level))
        judge(
            Target(f"check, {level}, over np.clip", 1 / share, gates=False), partial(ratio, level)
        )
