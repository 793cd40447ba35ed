"""Memory that grows with each call is noticed; what is taken once, for a cache or a long X, is no growth."""

import mmap
import sys

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.runtimes import habits
from sonnx_clip.runtimes.habits import Resident


def told(sizes, monkeypatch, calls=1000):
    """What is noticed while the memory is of these sizes, one after each `calls` calls."""
    found, watch = iter(sizes), Resident()
    monkeypatch.setattr(habits, "own_memory", lambda: next(found))
    return [words for words in (watch.after(calls) for _ in sizes) if words]


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize(
    ("name", "begin"), [("leaks", "its memory grows by about "), ("fills_a_cache", None)]
)
def test_a_runtime_that_keeps_what_it_was_given(name, begin):
    (report,) = run_campaign(f"tests.meta.planted_memory:{name}", ["int16"]).types
    assert report.verdict == "conforms"
    assert [words[: len(begin or "")] for words in report.remarks] == ([begin] if begin else [])


def test_growth_is_told_once_with_its_size(monkeypatch):
    sizes = [50_000_000 + 300_000 * n for n in range(40)]
    assert told(sizes, monkeypatch) == ["its memory grows by about 300 bytes a call: 2.9 MB in 10,000 calls"]


@pytest.mark.parametrize(
    "sizes",
    [
        [50_000_000 + 9_000 * n for n in range(40)],  # less than what is looked for
        [50_000_000] * 20 + [60_000_000] * 20,  # at once
        [10_000_000, 50_000_000] + [50_000_000] * 38,  # before it is warm
        [50_000_000] * 39 + [90_000_000],  # the last, long calls
        [50_000_000 + 400_000 * (n // 10) for n in range(40)],  # in steps, as pools grow
        [20_288_000, 20_752_000, 27_512_000, 21_116_000, *[21_588_000] * 8, 23_980_000],  # seen
        [50_000_000 + 300_000 * n for n in range(9)],  # too few calls
        [None] * 40,  # the system does not say
    ],
)
def test_what_is_no_growth(sizes, monkeypatch):
    assert told(sizes, monkeypatch) == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_the_memory_of_this_process():
    before = habits.own_memory()
    with mmap.mmap(-1, 50_000_000, flags=mmap.MAP_PRIVATE) as more:  # new pages: not what was freed before
        more.write(b"x" * len(more))
        assert habits.own_memory() - before > 40_000_000
