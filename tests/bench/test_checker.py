"""The rows of the checker, and that a blind one is not measured."""

import pytest

from bench import checker
from bench.inputs import make_case
from sonnx_clip.conform.triples import EveryTriple
from sonnx_clip.root.errors import UserError

CASE = make_case("float32", "nan", 1000)


def test_there_is_a_row_for_each_target_with_a_figure():
    rows = checker.rows(["int8", "float16"], 0.0)
    assert [row.limit for row in rows] == [1.3, 5, 10, 60]
    assert [row.unit for row in rows] == ["×", "×", "ms", "ms"]
    assert all(row.figure > 0 for row in rows)
    assert [row.cases for row in rows] == [2, 2, 1, 1]
    assert {row.worst for row in rows[:2]} <= {"int8", "float16"}
    assert "the first call" in rows[2].note


@pytest.mark.parametrize("answer", [True, False])
def test_a_comparison_that_always_says_the_same_is_found_out(monkeypatch, answer):
    monkeypatch.setattr(checker, "same_bits", lambda *_: answer)
    with pytest.raises(UserError, match="float32: same_bits sees"):
        checker.comparison(CASE)


def test_a_histogram_that_counts_one_entry_too_many_is_found_out(monkeypatch):
    right = checker.class_histogram

    def wrong(*arguments):
        counts = right(*arguments)
        return counts | {"inside_between": counts.get("inside_between", 0) + 1}

    assert sum(checker.histogram(CASE)().values()) == 1000
    monkeypatch.setattr(checker, "class_histogram", wrong)
    with pytest.raises(UserError, match="class_histogram counts"):
        checker.histogram(CASE)


@pytest.mark.parametrize("found", [EveryTriple(1 << 24, 0, None), EveryTriple(1 << 24, 1, (0, 0, 0))])
def test_a_sweep_that_always_says_the_same_is_found_out(monkeypatch, found):
    monkeypatch.setattr(checker, "compare_every_triple", lambda *_: found)
    with pytest.raises(UserError, match="compare_every_triple found"):
        checker.every_triple(0.0)
