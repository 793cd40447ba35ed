"""What a runtime touches that is not its own is told with its place; what it says and changes is told too."""

import subprocess
import sys

import numpy as np
import pytest

from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import Caller, Request, read_answer
from sonnx_clip.runtimes.words import printable, words_of
from tests.meta import planted_memory
from tests.meta.judged import judged as judged_by

pytestmark = pytest.mark.usefixtures("brief")


def judged(name, dtype="int16"):
    report, classes = judged_by(f"planted_memory:{name}", dtype)
    return report.types[0], {id_: found for id_, found in classes.items() if found.case}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("writes_into_x", "it wrote into its input X"),
        ("writes_and_restores", "it writes into its input X what is there already"),
        ("writes_past_x", "it wrote past the end of X"),
        ("writes_before_x", "it wrote before the start of X"),
        ("reads_past_x", "it reads past the end of X"),
        ("reads_before_x", "it reads before the start of X"),
        ("writes_into_min", "it wrote into its input min"),
        ("writes_past_max", "it wrote past the end of max"),
    ],
)
def test_stray_memory_access_is_reported_with_its_place(name, words):
    report, classes = judged(name)
    assert report.verdict == "violates"
    assert {c.verdict for c in classes.values()} <= {"violates", "conforms"}
    assert words in {c.words for c in classes.values()}
    assert classes["inside_ordinary"].compared > 1000  # the run goes on


def test_memory_that_is_touched_hides_no_wrong_value():
    _, classes = judged("writes_into_x_and_is_wrong")
    assert classes["high_ordinary"].violating > 1000


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("returns_x", "its result is the memory of X itself"),
        ("prints", "it writes on standard output: spam \\x1b[31m"),
        ("prints", "it writes on standard error: careful"),
    ],
)
def test_side_effect_is_remarked(name, remark):
    report, _ = judged(name)
    assert report.verdict == "conforms"
    assert any(found.startswith(remark) for found in report.remarks)


@pytest.mark.parametrize("name", ["writes_on_every_descriptor", "closes_every_descriptor", "forks"])
def test_descriptors_and_copies_of_the_process_do_not_matter(name):
    report, _ = judged(name)
    assert report.verdict == "conforms"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("interrupts", "KeyboardInterrupt"),
        ("leaves", "SystemExit: bye"),
        ("raises_a_giant", "(50,000,000 characters)"),
        ("raises_no_text", "_NoText (its text cannot be had: ValueError)"),
        ("raises_what_is_no_text", "ValueError: bad \\ud800 text \\x1b[31m red \\x00"),
        ("recurses", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_exception_is_reported(name, words):
    report, classes = judged(name)
    assert report.verdict == "violates"
    assert words in classes["inside_ordinary"].words
    assert len(classes["inside_ordinary"].words) < 1000
    report.model_dump_json().encode("utf-8")


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
    report, _ = judged("is_wrong_in_call_3")
    (first,) = [d for found in report.classes for d in found.deviations]
    assert first.words == "it depends on earlier calls: in a new process call 3 of this kind gives it"
    assert "for _ in range(3)][-1]" in first.reproduce
    done = subprocess.run(
        [sys.executable, "-c", first.reproduce],
        cwd=repo_root(), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "'0x2a'" in done.stdout


def test_a_deviation_that_is_not_repeated_says_so():
    report, _ = judged("is_wrong_in_call_300")
    (first,) = [d for found in report.classes for d in found.deviations]
    assert report.verdict == "violates"
    assert first.words.startswith("not repeated: asked again 3 times, the answer was another one, nor is it")
