"""Runtimes that touch what is not theirs, or raise odd things: verdict and words, and the run goes on."""

import numpy as np
import pytest

from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import Caller, Request, read_answer
from sonnx_clip.runtimes.words import printable, words_of
from tests.meta import planted_memory
from tests.meta.judged import Due, repeated, require_due
from tests.meta.judged import judged as judged_by

pytestmark = pytest.mark.usefixtures("brief")


def judged(name):
    report, _ = judged_by(f"planted_memory:{name}", "int16")
    return report.types[0]


INSIDE = {"inside_ordinary": "violates"}
FAULTS = {
    "writes_into_x": Due("violates", "it wrote into its input X"),
    "writes_and_restores": Due("violates", "it writes into its input X what is there already"),
    "writes_past_x": Due("violates", "it wrote past the end of X"),
    "writes_before_x": Due("violates", "it wrote before the start of X"),
    "reads_past_x": Due("violates", "it reads past the end of X"),
    "reads_before_x": Due("violates", "it reads before the start of X"),
    "writes_into_min": Due("violates", "it wrote into its input min"),
    "writes_past_max": Due("violates", "it wrote past the end of max"),
    "interrupts": Due("violates", "KeyboardInterrupt", INSIDE),
    "leaves": Due("violates", "SystemExit: bye", INSIDE),
    "raises_a_giant": Due("violates", "(50,000,000 characters)", INSIDE),
    "raises_no_text": Due("violates", "_NoText (its text cannot be had: ValueError)", INSIDE),
    "raises_what_is_no_text": Due("violates", "ValueError: bad \\ud800 text \\x1b[31m red \\x00", INSIDE),
    "recurses": Due("violates", "RecursionError: maximum recursion depth exceeded", INSIDE),
    "returns_x": Due("conforms", "its result is the memory of X itself"),
    "prints": Due("conforms", "it writes on standard output: spam \\x1b[31m"),
    "writes_on_every_descriptor": Due("conforms"),
    "closes_every_descriptor": Due("conforms"),
    "forks": Due("conforms"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_harmful_runtime_gets_its_verdict(name):
    report = judged(name)
    require_due(report, FAULTS[name])
    inside = next(found for found in report.classes if found.id == "inside_ordinary")
    assert inside.compared > 1000  # the run goes on
    assert len(inside.words or "") < 1000
    report.model_dump_json().encode("utf-8")
    if name == "prints":
        assert "it writes on standard error: careful" in report.remarks


def test_touched_memory_hides_no_wrong_value():
    report = judged("writes_into_x_and_is_wrong")
    assert {found.id: found.violating for found in report.classes}["high_ordinary"] > 1000


def test_text_is_made_fit_to_print():
    assert printable("a\x1b\ud800é\n") == "a\\x1b\\ud800é\n"
    assert printable("abc", 2) == "ab… (3 characters)"
    assert words_of(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("writes_into_x", "it wrote into its input X"),
        ("writes_past_x", "it wrote past the end of X"),
        ("writes_into_min", "it wrote into its input min"),
        ("right", None),
    ],
)
def test_without_guards_it_is_seen_after_the_call(name, words):
    calls = 3
    bounds = np.zeros(calls, np.uint16), np.full(calls, 9, np.uint16)
    request = Request(
        "rank-3", 63, np.arange(20, dtype=np.uint16), np.arange(calls), bounds, guards=frozenset()
    )
    board = Board()
    Caller(getattr(planted_memory, name), "int16")(request, board)
    found = read_answer(board, request)
    assert {failure.words for failure in found.failures.values()} == ({words} if words else set())
    assert found.bits[0].tolist() == [min(9, k % 20) for k in range(63)]


def test_a_deviation_that_comes_with_the_third_call_is_repeated_by_three():
    report = judged("is_wrong_in_call_3")
    (first,) = [d for found in report.classes for d in found.deviations]
    assert first.words.startswith("it depends on earlier calls: the line makes 64")
    assert "'0x2a'" in repeated(first.reproduce)


def test_a_deviation_that_is_not_repeated_says_so():
    report = judged("is_wrong_in_call_300")
    (first,) = [d for found in report.classes for d in found.deviations]
    assert report.verdict == "violates"
    assert first.words.startswith("no line of Python shows it in a new process")
