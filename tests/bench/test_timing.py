"""The statistics, with a clock that only the contestants move."""

import gc

import pytest

from bench.timing import (
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    SAMPLE_SECONDS,
    Race,
    interleave,
    order_of_round,
    summarise,
)


class Clock:
    """Seconds that pass only when somebody works."""

    def __init__(self):
        self.now = 0.0
        self.worked = []

    def __call__(self):
        return self.now

    def worker(self, name, seconds):
        """A contestant; `seconds` is a number, or a function of the time."""

        def call():
            self.worked.append(name)
            self.now += seconds(self.now) if callable(seconds) else seconds

        return call


def test_every_other_round_runs_backwards_and_each_pair_begins_one_further():
    rounds = ["".join(order_of_round(["a", "b", "c"], number)) for number in range(7)]
    assert rounds == ["abc", "cba", "bca", "acb", "cab", "bac", "abc"]


@pytest.mark.parametrize("many", range(1, 10))
def test_everybody_is_once_in_each_round_and_as_often_first_as_the_others(many):
    names = [f"n{i}" for i in range(many)]
    rounds = [order_of_round(names, number) for number in range(2 * many)]
    assert all(sorted(order) == names for order in rounds)
    firsts = [order[0] for order in rounds]
    assert {firsts.count(name) for name in names} == {2}


def test_medians_are_those_of_one_call():
    clock = Clock()
    figures = interleave({"slow": clock.worker("slow", 3e-3), "fast": clock.worker("fast", 1e-6)}, 1.0, clock)
    assert list(figures) == ["slow", "fast"]
    assert figures["slow"].median == pytest.approx(3e-3)
    assert figures["fast"].median == pytest.approx(1e-6)
    assert (figures["slow"].calls, figures["fast"].calls) == (1, pytest.approx(SAMPLE_SECONDS / 1e-6, abs=1))
    assert figures["slow"].rounds == figures["fast"].rounds


def test_the_budget_ends_it_after_the_fewest_rounds():
    clock = Clock()
    figures = interleave({"a": clock.worker("a", 1.0), "b": clock.worker("b", 2.0)}, 0.0, clock)
    assert {figure.rounds for figure in figures.values()} == {FEWEST_ROUNDS}
    figures = interleave({"a": clock.worker("a", 1.0)}, 30.0, clock)
    assert figures["a"].rounds == 30
    figures = interleave({"a": clock.worker("a", 1e-3)}, 1e6, clock)
    assert figures["a"].rounds == MOST_ROUNDS


def test_a_machine_that_becomes_slow_halfway_slows_all_alike():
    clock = Clock()

    def slowed(seconds):
        return lambda now: seconds * (5 if now > 0.35 else 1)

    contestants = {name: clock.worker(name, slowed(cost)) for name, cost in (("a", 1e-3), ("b", 3e-3))}
    figures = interleave(contestants, 1.0, clock)
    assert figures["b"].median / figures["a"].median == pytest.approx(3, rel=0.01)


def test_one_long_pause_moves_no_median():
    clock = Clock()
    paused = {"a": clock.worker("a", lambda now: 1e-3 if not 0.1 < now < 0.102 else 0.05)}
    figure = interleave(paused, 0.5, clock)["a"]
    assert (figure.lower, figure.median, figure.upper) == pytest.approx((1e-3, 1e-3, 1e-3))


def test_quartiles():
    figure = summarise([2.0, 8.0, 4.0, 6.0, 10.0], 2)
    assert (figure.lower, figure.median, figure.upper) == (2.0, 3.0, 4.0)
    assert (figure.rounds, figure.calls) == (5, 2)
    assert summarise([4.0], 4).median == 1.0


def test_nothing_has_no_median():
    with pytest.raises(ValueError, match="nothing"):
        summarise([], 1)


def test_nobody_takes_part():
    assert interleave({}, 0.0, Clock()) == {}


def test_the_garbage_collector_rests_and_comes_back_even_after_a_failure():
    seen = []

    def fail_in_the_end():
        seen.append(gc.isenabled())
        if len(seen) > 20:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        interleave({"a": fail_in_the_end}, 1.0)
    assert not seen[-1]
    assert gc.isenabled()


def test_a_race_goes_on_where_it_stopped():
    clock = Clock()
    race = Race({name: clock.worker(name, 1.0) for name in "abc"}, clock)
    clock.worked.clear()
    race.run(0)
    first, clock.worked = clock.worked, []
    race.run(0)
    assert "".join(first + clock.worked).startswith("abccbabcaacbcabbac")
    assert len(first) == len(clock.worked) == 3 * FEWEST_ROUNDS
    assert "".join(clock.worked).startswith("".join(order_of_round(list("abc"), FEWEST_ROUNDS)))
    assert {figure.rounds for figure in race.figures().values()} == {2 * FEWEST_ROUNDS}
