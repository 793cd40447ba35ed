"""An explanation of all answers is told only where it gives each of them."""

from __future__ import annotations

import numpy as np
import pytest

from sonnx_clip.conform import explanations
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.conform.report_text import behaviour

PLANTED = "tests.meta.test_explained_answers"


def sse(x, low, high):
    """The order of operands of SSE."""
    inner = np.where(x > low, x, low)
    return np.where(inner < high, inner, high)


def sse_but_for_one(x, low, high):
    """One answer among all is that of no formula."""
    found = sse(x, low, high)
    found[(x == 1) & (low == 0) & (high == 0)] = 1
    return found


def found_of(name):
    report = run_campaign(CheckOptions(f"{PLANTED}:{name}", ["float32"]))
    (line,) = behaviour(report)
    return report.types[0].readings, line


def test_order_of_sse_is_explained_with_answers():
    found, line = found_of("sse")
    assert found.allowed_by == ()
    assert found.explained_by == "`v = X > L ? X : L; Y = v < M ? v : M`"
    assert line.endswith(" follow from `v = X > L ? X : L; Y = v < M ? v : M`")


def test_one_answer_that_it_does_not_give_rules_it_out():
    found, line = found_of("sse_but_for_one")
    assert found.explained_by is None
    assert "all of them" not in line


@pytest.mark.parametrize("where", [0, 1, -1])
def test_an_answer_outside_the_sample_counts(where):
    from tests.conform.test_operand_orders import SPEC, triples
    from tests.conform.test_operand_orders import sse as of_columns

    x, l, m = triples("float32")
    got = of_columns(x, l, m)
    ask = (clip_operator(), SPEC.element_type("float32"), (x, l, m), got)
    assert explanations.explained(*ask, sample=3) is not None
    got[where] = -got[where] if np.isfinite(got[where]) else 5
    assert explanations.explained(*ask, sample=3) is None
