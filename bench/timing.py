"""Interleaved timing and targets.

Each round times every contestant once, in an order that changes from round to round, so that other load on
the machine falls on all alike. A target that is missed is measured a second time before it counts.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from timeit import timeit
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Call: TypeAlias = "Callable[[], object]"

SAMPLE = 200e-6  # seconds; long enough that the clock's own cost does not count
FEWEST_ROUNDS = 7
HEADER = "| what | measured | goal | verdict | worst case |\n| --- | ---: | ---: | --- | --- |"


def medians(contestants: Mapping[str, Call], budget: float) -> dict[str, float]:
    """Median seconds per call of each contestant, measured in about `budget` seconds together."""
    repeats = {name: _repeats(call) for name, call in contestants.items()}
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    names, number, end = list(contestants), 0, time.perf_counter() + budget
    while number < FEWEST_ROUNDS or time.perf_counter() < end:
        start = number // 2 % len(names)
        order = names[start:] + names[:start]
        for name in order[:: 1 if number % 2 else -1]:
            samples[name].append(timeit(contestants[name], number=repeats[name]) / repeats[name])
        number += 1
    return {name: statistics.median(found) for name, found in samples.items()}


def _repeats(call: Call) -> int:
    """Warm up, and return how many calls fill one sample."""
    call()
    fastest = min(timeit(call, number=1) for _ in range(3))
    return max(1, math.ceil(SAMPLE / max(fastest, 1e-9)))


def cpu_seconds(command: Sequence[str], times: int = 1) -> float:
    """Median processor seconds of a command and its children; SystemExit for a status of 2 or more."""
    found = []
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)}: status {process.returncode}\n{said[-2000:]}")
        found.append(used.ru_utime + used.ru_stime)
    return statistics.median(found)


@dataclass(frozen=True)
class Target:
    """An upper bound on one figure.

    Args:
        name: the row's name.
        limit: the largest value that meets it.
        unit: ``x`` for a ratio, ``CPU-s`` for processor time.
        gates: whether missing it twice makes the benchmark fail.
    """

    name: str
    limit: float
    unit: str = "x"
    gates: bool = True


def judge(target: Target, measure: Callable[[], tuple[float, str]]) -> bool:
    """Measure, again if the target is missed; print a row of a Markdown table; False if it was missed twice.

    Args:
        target: the bound.
        measure: returns the figure and the case in which it is worst.
    """
    figure, worst = measure()
    again = ""
    if figure > target.limit:
        again = f" (first measurement: {figure:.3g})"
        figure, worst = measure()
    met = figure <= target.limit
    verdict = "met" if met else f"missed by {figure / target.limit:.2f} x"
    columns = (
        target.name,
        f"{figure:.3g} {target.unit}",
        f"<= {target.limit:.3g}",
        verdict + again,
        worst,
    )
    print(f"| {' | '.join(columns)} |", flush=True)
    return met or not target.gates
