"""What a command costs from start to end, and the whole of `make prove` where nothing has changed.

    python -m bench.commands [--times 5] [--without-all]

Prints, for each command, the processor seconds of the whole process (median), its ratio to an interpreter
that imports NumPy and ends, and the target. What misses its target is measured again; exit status 1 where
one misses twice. `make bench-self` runs it after `bench.prove`, which proves everything anew.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SONNX_CLIP = (sys.executable, "-m", "sonnx_clip")
PYTHON = (sys.executable, "-c", "import numpy")
ONNX = (sys.executable, "-c", "import onnx")
MODEL = Path("tests/models/relu6_op13.onnx")


@dataclass(frozen=True)
class Row:
    """A command and its target.

    Args:
        name: what the table calls it.
        command: what is run; its output is thrown away.
        limit: the most that it may take.
        unit: ``CPU-s`` for processor time, ``s`` for time by the clock.
        besides: a command whose processor time does not count, such as an import that is not ours.
    """

    name: str
    command: tuple[str, ...]
    limit: float
    unit: str = "CPU-s"
    besides: tuple[str, ...] = ()


START = (
    Row("explain", (*SONNX_CLIP, "explain", "float32", "--x", "nan", "--min", "1", "--max", "0"), 0.4),
    Row("dialect", (*SONNX_CLIP, "dialect", "onnx-6", "float16", "--x", "inf"), 0.4),
    Row("readings", (*SONNX_CLIP, "readings"), 0.4),
    Row("findings", (*SONNX_CLIP, "findings"), 0.4),
    Row("lint, beside import onnx", (*SONNX_CLIP, "lint", str(MODEL)), 0.4, besides=ONNX),
)
WHOLE = (Row("sonnx-clip all, unchanged", (*SONNX_CLIP, "all"), 15.0, unit="s"),)


@dataclass(frozen=True)
class Cost:
    """Seconds of one process, its children included."""

    cpu: float
    wall: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command once; whatever its status, since lint and check report what they find by it."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - began)


def measured(row: Row, times: int, cost: Callable[[Sequence[str]], Cost] = cost_of) -> float:
    """The median of a row's figure, after a run that is not counted."""
    cost(row.command)
    if row.unit == "s":
        return median(cost(row.command).wall for _ in range(times))
    without = [cost(row.besides).cpu for _ in range(times)] if row.besides else [0.0]
    return max(0.0, median(cost(row.command).cpu for _ in range(times)) - median(without))


def judge(row: Row, times: int, base: float, cost: Callable[[Sequence[str]], Cost] = cost_of) -> bool:
    """Measure a row, again if it misses, and print it; whether it met its target."""
    figures = [measured(row, times, cost)]
    if figures[0] > row.limit:
        figures.append(measured(row, times, cost))
    met = min(figures) <= row.limit
    seconds = " and ".join(f"{figure:.2f}" for figure in figures)
    ratio = f", {figures[-1] / base:.1f} x import numpy" if row.unit == "CPU-s" else ""
    verdict = "met" if met else "missed twice"
    print(f"{row.name}: {seconds} {row.unit}{ratio} (at most {row.limit:g}): {verdict}", flush=True)
    return met


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every row; 1 where one misses twice."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.commands", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--times", type=int, default=5, help="counted runs of each command (default: 5)")
    parser.add_argument("--without-all", action="store_true", help="leave out sonnx-clip all")
    asked = parser.parse_args(arguments)
    base = median(cost_of(PYTHON).cpu for _ in range(asked.times))
    print(f"an interpreter that imports NumPy: {base:.2f} CPU-s")
    met = [judge(row, asked.times, base) for row in START]
    if not asked.without_all:
        met += [judge(row, 1, base) for row in WHOLE]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
