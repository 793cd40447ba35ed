"""Which reading a runtime behaves as: measured on the runtimes, and on functions whose reading is known."""

import numpy as np
import pytest

from sonnx_clip.conform import judge
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
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


def match(name, dtype="float32"):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "chosen", three_layouts)
        report = run_campaign(CheckOptions(f"{PLANTED}:{name}", [dtype], of=clip_operator()))
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
    assert (
        f"; the nearest, cases, does not allow {found.left} that deviate, in high_equal_bounds"
        in line
    )
