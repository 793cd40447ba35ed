"""Ratios and verdicts, from made-up figures."""

from dataclasses import replace

import pytest

from bench.contestants import NUMPY, OURS, OURS_C, OURS_NUMPY
from bench.targets import TARGETS, Target, judge, ratio_of, relative
from tests.bench.made import cell

SPEED = Target("speed", OURS, (NUMPY,), "at least", 40, ("float16",), ("ordinary", "zero"))
COST = Target("cost", OURS, (NUMPY,), "at most", 1.05, ("int8", "int16"), ("ordinary",))
ONE = replace(COST, types=("int8",))


def row(target, *cells):
    (found,) = judge(cells, [target])
    return found


def test_a_ratio_is_ours_over_the_fastest_of_theirs():
    found = cell(ours=3, numpy=6, torch=2)
    assert ratio_of(found, OURS, (NUMPY,)) == pytest.approx(0.5)
    assert ratio_of(found, OURS, (NUMPY, "torch.clamp")) == pytest.approx(1.5)
    assert ratio_of(found, OURS, ("onnxruntime",)) is None
    assert ratio_of(found, OURS_C, (NUMPY,)) is None


def test_relative_is_over_the_faster_copy():
    assert relative(cell(ours=3, copy=2, copyto=1))[OURS] == pytest.approx(3)
    assert relative(cell(ours=3, copy=2, copyto=4))[OURS] == pytest.approx(1.5)
    assert relative(cell(ours=3)) == {}


def test_met_exactly_is_met():
    assert row(SPEED, cell(ours=1, numpy=40)).verdict == "met"
    exactly = [cell(etype, ours=105, numpy=100) for etype in COST.types]
    assert row(COST, *exactly).verdict == "met"


@pytest.mark.parametrize(
    ("target", "found", "verdict"),
    [
        (SPEED, cell(ours=1, numpy=32), "missed by 25 %"),
        (SPEED, cell(ours=1, numpy=10), "missed by a factor of 4.0"),
        (ONE, cell("int8", ours=1.26, numpy=1), "missed by 20 %"),
        (ONE, cell("int8", ours=4.2, numpy=1), "missed by a factor of 4.0"),
        (ONE, cell("int8", ours=1.051, numpy=1), "missed by 0.1 %"),
    ],
)
def test_what_is_missed_is_said_with_its_measure(target, found, verdict):
    assert row(target, found).verdict == verdict
    assert row(target, found).met is False


def test_the_worst_case_counts():
    slow = row(SPEED, cell(ours=1, numpy=100), cell(kind="zero", ours=1, numpy=41))
    assert (slow.figure, slow.worst, slow.cases) == (pytest.approx(41), "float16, zero", 2)
    dear = row(COST, cell("int8", ours=2, numpy=1), cell("int16", ours=1, numpy=1))
    assert (dear.figure, dear.worst, dear.cases) == (2, "int8", 2)


def test_other_types_kinds_and_sizes_do_not_count():
    others = [
        cell("float32", ours=9, numpy=1),
        cell(kind="nan", ours=9, numpy=1),
        cell(size=1000, ours=9, numpy=1),
    ]
    assert row(SPEED, *others, cell(ours=1, numpy=50)).figure == pytest.approx(50)


def test_what_was_not_measured_is_neither_met_nor_missed():
    found = row(SPEED, cell(numpy=1, absent={OURS: "no compiler"}))
    assert (found.figure, found.met, found.verdict, found.cases) == (None, None, "not measured", 0)
    assert found.note == "without float16: no compiler"
    assert row(SPEED).verdict == "not measured"


def test_a_type_without_anybody_to_compare_with_is_named():
    found = row(COST, cell("int8", ours=1, numpy=1), cell("int16", ours=1, absent={NUMPY: "unknown"}))
    assert (found.figure, found.cases) == (1, 1)
    assert found.note == "without int16: nobody to compare with"
    assert (found.met, found.verdict) == (True, "met; not compared: int16")


def test_a_type_that_was_not_measured_at_all_is_named():
    found = row(COST, cell("int16", ours=1.26, numpy=1))
    assert found.verdict == "missed by 20 %; not compared: int8"


def test_a_type_that_was_compared_in_some_cases_alone_is_named():
    found = row(SPEED, cell(ours=1, numpy=50), cell(kind="zero", ours=1, absent={NUMPY: "unknown"}))
    assert found.verdict == "met; not compared: float16"


def test_the_targets_are_distinct_and_possible():
    assert len({target.what for target in TARGETS}) == len(TARGETS)
    for target in TARGETS:
        assert target.limit > 0
        assert target.types
        assert target.ours in (OURS, OURS_C, OURS_NUMPY)
        assert target.goal == (target.ours != OURS_NUMPY)
