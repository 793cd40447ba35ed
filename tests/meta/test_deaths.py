"""Runtimes that die or hang: deaths are narrowed, and the rest is judged."""

from types import SimpleNamespace

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.runtimes import supervisor
from sonnx_clip.runtimes.runtime import Limits
from tests.meta.judged import (
    Due,
    few_calls,
    nightly_but,
    require_due,
    require_repeated,
    three_layouts,
)
from tests.meta.judged import judged as judged_by

SHORT = Limits(call=0.3)


def judged(name, dtype="int16", plan=few_calls, **options):
    report, classes = judged_by(f"planted_deaths:{name}", dtype, plan, **options)
    return report.types[0], classes


GIVEN_UP = "; not restarted after 3 crashes"
NAN_BOUNDS = ("high_min_nan", "inside_nan_and_nan_bound", "inside_min_nan", "inside_both_nan")
FAULTS = {
    "aborts": Due("crashed", f"killed by SIGABRT{GIVEN_UP}", others="crashed"),
    "exits": Due("crashed", f"exited with status 0{GIVEN_UP}", others="crashed"),
    "overflows_the_stack": Due("crashed", f"killed by SIGSEGV{GIVEN_UP}", others="crashed"),
    "segfaults_on_a_nan_bound": Due("crashed", "SIGSEGV", dict.fromkeys(NAN_BOUNDS, "crashed"), "conforms"),
    "segfaults_inverted_and_is_wrong": Due(
        "crashed", "", {"inverted_ordinary": "crashed", "high_ordinary": "violates"}),
    "dies_once_in_a_while": Due("crashed", "killed by SIGABRT, but not if this call is made alone"),
    "stops_its_parent": Due("crashed", "SIGSTOP"),
}  # fmt: skip
FAST = {
    "aborts",
    "exits",
    "segfaults_inverted_and_is_wrong",
    "dies_once_in_a_while",
    "stops_its_parent",
}


@pytest.mark.parametrize("name", nightly_but(FAST, FAULTS))
def test_deadly_runtime_gets_its_verdict(name):
    report, classes = judged(name, "float32" if "nan" in name else "int16")
    require_due(report, FAULTS[name])
    if GIVEN_UP in FAULTS[name].words:
        first = next(d for c in classes.values() for d in c.deviations)
        assert f"from tests.meta.planted_deaths import {name}" in first.reproduce


@pytest.mark.nightly
def test_runtime_that_hangs_in_a_fork_has_the_shortest_reproducer():
    report, classes = judged("is_wrong_and_hangs_in_a_fork", plan=three_layouts)
    require_due(report, Due("violates", "", {"high_ordinary": "violates"}))
    (first,) = classes["high_ordinary"].deviations
    assert first.length == 1
    require_repeated(first)


def test_death_is_narrowed_to_its_class_and_triple_and_the_rest_is_judged():
    report, classes = judged("segfaults_inverted")
    require_due(report, Due("crashed", "", {"inverted_ordinary": "crashed"}, "conforms"))
    (first,) = [d for d in classes["inverted_ordinary"].deviations if d.kind == "crashed"]
    assert first.operands["max"] ^ 0x8000 < first.operands["min"] ^ 0x8000
    assert first.words == "killed by SIGSEGV in a call of layout contiguous"
    assert first.reproduce
    assert classes["inside_ordinary"].compared > 50_000


def test_death_by_one_number_is_narrowed_to_it():
    report, classes = judged("segfaults_on_one_number", "float32")
    assert report.verdict == "crashed"
    deaths = [d for c in classes.values() for d in c.deviations if d.kind == "crashed"]
    assert len(deaths) > 1
    assert {d.operands["X"] for d in deaths} == {0x40A00000}
    assert "0x40a00000" in deaths[0].reproduce
    assert classes["inside_nan"].verdict == classes["low_zero_tie"].verdict == "conforms"


@pytest.mark.usefixtures("brief")
def test_one_type_that_dies_leaves_the_others_judged():
    found = run_campaign(
        CheckOptions(
            "tests.meta.planted_deaths:aborts_on_int16", ["int16", "uint16"], of=clip_operator()
        )
    ).types
    assert [one.verdict for one in found] == ["crashed", "conforms"]


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    "name",
    nightly_but({"hangs"}, ["hangs", "hangs_and_computes", "hangs_and_holds_the_interpreter"]),
)
def test_hanging_runtime_is_stopped_and_reported(name):
    report, classes = judged(name, plan=None, limits=SHORT)
    require_due(report, Due("crashed", "no answer within 0.3 s of its own time"))
    assert classes["inside_ordinary"].compared > 1000  # in the other layouts


def test_process_that_waits_for_a_processor_spends_nothing(monkeypatch):
    """A machine under load: the process wants to compute, and gets a tenth of the time."""
    now, seen, wants = [0.0], [], [True]
    monkeypatch.setattr(supervisor, "_look", lambda: (now[0] / 10, wants[-1]))
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: now[0]))
    time_taken = supervisor.OwnTime()
    for _ in range(100):
        now[0] += 0.2
        seen.append(time_taken.spent())
    assert 1.8 < seen[-1] < 2.1  # of 20 seconds
    wants.append(False)
    now[0] += 0.4
    assert time_taken.spent() == pytest.approx(seen[-1] + 0.4)  # it waits of its own accord
    now[0] += 60
    assert time_taken.spent() == pytest.approx(
        seen[-1] + 0.9
    )  # the supervisor itself was not running
    time_taken.reset()
    assert time_taken.spent() == 0
