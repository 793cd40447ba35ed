"""Interleaved timing: each round times every contestant once, in an order that changes from round to round.

What else the machine does then falls on all alike, and a ratio of medians stays true on a busy machine.
"""

from __future__ import annotations

import gc
import itertools
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Call: TypeAlias = Callable[[], object]
Clock: TypeAlias = Callable[[], float]

# One sample lasts at least this long, so that the clock's own cost (50 ns) does not count, nor what the one
# before has left in the caches.
SAMPLE_SECONDS = 200e-6
FEWEST_ROUNDS = 7
MOST_ROUNDS = 400


@dataclass(frozen=True)
class Figure:
    """How long one call takes, in seconds.

    Args:
        median: of all rounds.
        lower: first quartile.
        upper: third quartile.
        rounds: how many samples there are.
        calls: how many calls one sample holds.
    """

    median: float
    lower: float
    upper: float
    rounds: int
    calls: int


class Race:
    """Some contestants and the samples of them so far.

    Args:
        contestants: name -> what to call; each is called a few times at once, to warm up.
        clock: a function that tells seconds.
    """

    def __init__(self, contestants: Mapping[str, Call], clock: Clock = time.perf_counter) -> None:
        self._contestants = dict(contestants)
        self._clock = clock
        self._calls = {name: _calls_per_sample(call, clock) for name, call in contestants.items()}
        self._samples: dict[str, list[float]] = {name: [] for name in contestants}
        self._rounds = 0

    def run(self, budget: float) -> None:
        """Time all contestants for about `budget` seconds together, in the fewest rounds at least."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            end = self._clock() + budget
            for number in range(MOST_ROUNDS):
                if number >= FEWEST_ROUNDS and self._clock() >= end:
                    break
                for name in order_of_round(list(self._contestants), self._rounds):
                    sample = _sample(self._contestants[name], self._calls[name], self._clock)
                    self._samples[name].append(sample)
                self._rounds += 1
        finally:
            if collecting:
                gc.enable()

    def figures(self) -> dict[str, Figure]:
        """Name -> figure, in the order of the contestants."""
        return {name: summarise(samples, self._calls[name]) for name, samples in self._samples.items()}


def interleave(
    contestants: Mapping[str, Call], budget: float, clock: Clock = time.perf_counter
) -> dict[str, Figure]:
    """The figures of a race of about `budget` seconds."""
    race = Race(contestants, clock)
    race.run(budget)
    return race.figures()


def summarise(samples: list[float], calls: int) -> Figure:
    """The figure of some samples of `calls` calls each; ValueError if there are none."""
    if not samples:
        raise ValueError("there is nothing to summarise")
    each = sorted(sample / calls for sample in samples)
    lower, median, upper = statistics.quantiles(each, n=4, method="inclusive") if len(each) > 1 else each * 3
    return Figure(median, lower, upper, len(each), calls)


def order_of_round(names: list[str], number: int) -> list[str]:
    """Who comes when: every other round runs backwards, and each pair of rounds begins one further.

    Backwards, so that nobody always finds the caches as the same other one left them.
    """
    start = number // 2 % len(names) if names else 0
    order = names[start:] + names[:start]
    return order[::-1] if number % 2 else order


def _calls_per_sample(call: Call, clock: Clock) -> int:
    """Warm up, and say how many calls fill one sample."""
    call()
    fastest = min(_sample(call, 1, clock) for _ in range(3))
    return max(1, math.ceil(SAMPLE_SECONDS / max(fastest, 1e-9)))


def _sample(call: Call, calls: int, clock: Clock) -> float:
    begin = clock()
    for _ in itertools.repeat(None, calls):
        call()
    return clock() - begin
