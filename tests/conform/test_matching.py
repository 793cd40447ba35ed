"""Which reading a runtime behaves as: measured on the runtimes, and on functions whose reading is known."""

import numpy as np
import pytest

from sonnx_clip.conform import judge
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import ReadingMatch, Report, TypeReport
from sonnx_clip.conform.report_text import behaviour
from sonnx_clip.conform.units import CheckOptions
from tests.meta.judged import three_layouts

PLANTED = "tests.conform.test_matching"


def directml(x, low, high):
    """max(L, min(X, M)) with comparisons that return the second operand in doubt."""
    low, high = np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)
    inner = np.where(x < high, x, high)
    return np.where(low > inner, low, inner)


def cases_but_for_one(x, low, high):
    """The cases, but for 1 above two bounds of 0."""
    from sonnx_clip import clip

    found = clip(x, low, high).copy()
    found[(x == 1) & (low == 0) & (high == 0)] = 1
    return found


def raises(x, low, high):
    raise ValueError("no")


def match(name, dtype="float32"):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "chosen", three_layouts)
        report = run_campaign(CheckOptions(f"{PLANTED}:{name}", [dtype]))
    return report.types[0].readings, list(behaviour(report))


def test_a_function_of_another_reading_is_named():
    found, lines = match("directml")
    assert found.allowed_by == ("directml", "directml-c")
    assert found.exactly == ("directml-c",)  # the words of the page leave more open
    assert found.answers > 10_000
    kept = f"all {found.answers:,} answers kept are those that the reading directml-c requires, bit for bit"
    assert lines == [f"{PLANTED}:directml, float32: {kept}"]


def test_one_answer_that_no_reading_allows_is_found_and_its_class_is_named():
    found, (line,) = match("cases_but_for_one")
    assert found.allowed_by == ()
    assert found.nearest == "cases"
    assert found.left >= 1
    assert found.left_in == ("high_equal_bounds",)
    assert line.startswith(f"{PLANTED}:cases_but_for_one, float32: no reading allows all ")
    assert f"; the nearest, cases, does not allow {found.left} of them, in high_equal_bounds" in line


def test_raising_runtime_matches_no_reading():
    found, lines = match("raises")
    assert found is None
    assert lines == []


def report(**matches):
    types = tuple(
        TypeReport(type=name, verdict="conforms", compared=1, classes=(), readings=found)
        for name, found in matches.items()
    )
    return Report(
        tool="t", spec_sha256="0", runtime="r", runtime_version="r 1", python="3", numpy="2", machine="m",
        policy="default", seconds=1.0, types=types,
    )  # fmt: skip


def test_types_that_behave_differently_have_a_line_each():
    one = ReadingMatch(answers=10, allowed_by=("cases", "numpy"), exactly=("cases", "numpy"))
    two = ReadingMatch(answers=5, allowed_by=("onnx-body",), exactly=("onnx-body",))
    bad = ReadingMatch(answers=7, allowed_by=(), exactly=(), nearest="cases", left=2, left_in=("low_tie",))
    kept = "answers kept are those that the"
    none = "no reading allows all 7 answers kept; the nearest,"
    lines = list(behaviour(report(int8=one, uint8=one, float32=two, int64=bad, float64=None)))
    assert lines == [
        f"r 1, int8, uint8: all 20 {kept} readings cases and numpy require, bit for bit",
        f"r 1, float32: all 5 {kept} reading onnx-body requires, bit for bit",
        f"r 1, int64: {none} cases, does not allow 2 of them, in low_tie",
    ]


def test_one_reading_for_all_types_has_one_line():
    ints = ReadingMatch(answers=10, allowed_by=("cases", "numpy"), exactly=("cases", "numpy"))
    floats = ReadingMatch(answers=5, allowed_by=("numpy",), exactly=())
    (line,) = behaviour(report(int8=ints, float32=floats))
    assert (
        line
        == "r 1, int8, float32: the reading numpy allows all 15 answers kept, and leaves some answers open"
    )
