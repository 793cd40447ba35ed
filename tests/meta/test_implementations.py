"""Planted mistakes in implementations, each caught by the classes it touches; and in the checker itself."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sonnx_clip.conform import call_plan, judge
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.chosen_bounds import together
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.conform.operator import Operator, clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.spec import load_spec
from tests.meta.judged import few_calls, repeated, three_layouts
from tests.meta.judged import judged as judged_by

INVERTED = {"inverted_zero_tie", "inverted_infinite", "inverted_ordinary"}
LOW = {"low_tie", "low_equal_bounds", "low_infinite", "low_ordinary"}
HIGH = {"high_tie", "high_equal_bounds", "high_infinite", "high_ordinary"}


@cache  # a planted runtime is judged alike again
def judged(name, dtype="float32", plan=few_calls, **options):
    return judged_by(f"planted:{name}", dtype, plan, **options)


def violated(classes):
    return {id_ for id_, found in classes.items() if found.verdict == "violates"}


def test_right_implementation_conforms():
    report, classes = judged("right", plan=None)
    assert not report.failed
    assert {c.verdict for c in classes.values()} == {"conforms"}
    assert report.runtime_version == "tests.meta.planted:right planted"


# What each mistake must be caught by (at least), and what it does not touch.
IN_VALUES = {  # the same in every layout
    ("swapped_bounds", "float32"): ({"high_ordinary", "inside_ordinary"}, {"low_tie"}),
    ("low_before_inverted", "float64"): ({"inverted_ordinary", "inverted_infinite"}, LOW | HIGH),
    ("ignores_upper", "int32"): ({"high_equal_bounds", "high_ordinary"}, {"low_ordinary"}),
    ("nan_min_propagates", "float32"): (
        {"high_min_nan", "inside_min_nan", "inside_both_nan"}, {"low_max_nan"}),
    ("nan_max_propagates", "bfloat16"): (
        {"low_max_nan", "inside_max_nan", "inside_both_nan"}, {"high_min_nan"}),
    ("nan_becomes_min", "float16"): ({"inside_nan"}, {"inside_nan_and_nan_bound", "inverted_nan"}),
    ("infinite_bound_is_none", "float32"): ({"inverted_infinite", "inside_infinite"}, {"inside_ordinary"}),
    # The zero of the other sign than that of all operands, which no reading returns.
    ("clears_sign_of_zero", "float32"): (
        {"low_zero_tie", "high_zero_tie", "inverted_zero_tie", "inside_zero"}, {"inside_ordinary"}),
    ("flushes_subnormals", "float16"): ({"inside_subnormal"}, {"inside_zero", "low_zero_tie"}),
    ("through_float64", "int64"): ({"inside_ordinary", "low_ordinary"}, set()),
    ("unsigned_comparison", "int16"): ({"low_ordinary", "high_ordinary", "inside_ordinary"}, set()),
    ("wider_type", "float32"): ({"C3", "inside_ordinary"}, {"C1"}),
    ("masks_everything", "float32"): ({"C1", "C3", "inside_ordinary"}, set()),
}  # fmt: skip
IN_SOME_CALLS = {
    ("swapped_bounds", "uint8"): ({"high_ordinary", "inside_ordinary", "inside_widest_bounds"}, set()),
    ("wraps_at_the_extreme", "int8"): ({"inside_widest_bounds", "high_ordinary"}, {"inverted_ordinary"}),
    ("wrong_at_one_x", "float16"): ({"inside_ordinary", "inverted_ordinary"}, {"inside_zero", "low_tie"}),
    ("tail_of_seven", "float32"): ({"low_ordinary", "high_ordinary"}, {"inside_ordinary", "inside_nan"}),
    ("wrong_above_1024", "float64"): ({"inside_ordinary", "high_ordinary"}, {"C1", "C3"}),
    ("strides_ignored", "float64"): ({"inside_ordinary", "inside_nan"}, INVERTED),
    ("wrong_with_stride_0", "uint32"): ({"inside_ordinary", "high_ordinary"}, {"low_tie", "low_ordinary"}),
    ("rank_2_by_columns", "float32"): ({"inside_ordinary"}, {"C1", "C3"}),
    ("flattens_rank_3", "int16"): ({"C1", "inside_ordinary"}, {"C3"}),
    ("wrong_shape", "float32"): ({"C1", "inside_ordinary"}, {"C3"}),
    ("returns_nothing", "int16"): ({"C1", "C3", "inside_ordinary"}, set()),
    ("wrong_type_when_empty", "int16"): ({"C3"}, {"C1", "inside_ordinary"}),
    ("returns_one_buffer", "int16"): ({"inside_ordinary", "low_ordinary"}, {"C1", "C3"}),
    ("refuses_nan_bounds", "float32"): (
        # An empty X touches no class, and there, too, a result of its shape and type is due.
        {"low_max_nan", "high_min_nan", "inside_both_nan", "C1", "C3"}, {"inside_nan"}),
    ("refuses_inverted", "int16"): ({"inverted_ordinary", "C1", "C3"}, {"inside_ordinary"}),
}  # fmt: skip
CAUGHT = IN_VALUES | IN_SOME_CALLS


# Many entries deviate in these, and their shortest calls take long to find.
SLOW = {
    ("wrong_above_1024", "float64"),
    ("strides_ignored", "float64"),
    ("rank_2_by_columns", "float32"),
    ("flattens_rank_3", "int16"),
    ("wrong_at_one_x", "float16"),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(*planted, marks=pytest.mark.nightly) if planted in SLOW else planted
        for planted in CAUGHT
    ],
)
def test_mistake_is_caught_by_its_classes(name, dtype):
    plan = three_layouts if (name, dtype) in IN_VALUES else few_calls
    report, classes = judged(name, dtype, plan)
    caught, untouched = CAUGHT[name, dtype]
    assert report.failed
    assert caught <= violated(classes)
    assert not untouched & violated(classes)
    for id_ in caught:
        (first, *_) = [d for d in classes[id_].deviations if d.kind in ("violates", "raises")]
        assert first.got != first.expected
        assert first.reproduce


# Mistakes that the latitude covers: acceptable, and violations where the policy is strict.
COVERED = {
    "strict_comparison": ({"low_zero_tie", "low_max_nan"}, "zero-sign"),
    "max_zero_from_x": ({"high_zero_tie", "high_min_nan"}, "zero-sign"),
    "max_of_tied_bounds": ({"low_equal_bounds"}, "zero-sign"),
}


@pytest.mark.parametrize("name", COVERED)
def test_covered_deviation_is_acceptable_but_not_under_strict_policy(name):
    classes_touched, latitude = COVERED[name]
    _, classes = judged(name, plan=three_layouts)
    for id_ in classes_touched:
        assert classes[id_].verdict == "acceptable"
        assert set(classes[id_].latitude) == {latitude}
        assert classes[id_].deviations[0].latitude == latitude
    report, classes = judged(name, plan=three_layouts, policy="strict")
    assert report.failed
    assert classes_touched <= violated(classes)


def test_lost_payload_is_accepted_and_reported_under_both_policies():
    for policy in ("default", "strict"):
        report, classes = judged("loses_payload", plan=three_layouts, policy=policy)
        assert not report.failed
        assert classes["inside_nan"].verdict == "acceptable"
        assert "nan-payload" in classes["inside_nan"].latitude


def test_mistake_of_one_layout_is_reproduced_in_it():
    def in_two_layouts(etype, of):
        found = call_plan.chosen(etype, of)
        return (
            (request, table)
            for request, table in found
            if request.layout in ("contiguous", "unaligned")
        )

    _, classes = judged("strides_ignored", "float64")
    (first,) = classes["inside_ordinary"].deviations
    assert first.layout in {"every-second", "reversed"}
    _, classes = judged("wrong_where_not_aligned", "int32", in_two_layouts)
    (first,) = classes["low_ordinary"].deviations
    assert first.layout == "unaligned"
    assert r"np.frombuffer(b'\0' + " in first.reproduce


def test_input_is_not_writable():
    report, classes = judged("writes_into_x", "int16", three_layouts)
    assert report.failed
    assert {c.verdict for c in classes.values() if c.case} == {"unsupported"}
    assert "read-only" in classes["inside_ordinary"].words
    assert classes["inside_ordinary"].deviations == ()


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("refuses_inverted", "inverted_ordinary", "ValueError: min is greater than max"),
        ("masks_everything", "C3", "it returned MaskedArray, not an array (numpy.ndarray itself)"),
        ("flattens_rank_3", "C1", "it returned shape (63,), expected (3, 3, 7)"),
        ("returns_one_buffer", "low_ordinary", "its result is overwritten by the next call"),
    ],
)
def test_invalid_result_is_described(name, row, words):
    _, classes = judged(name, "int16")
    assert classes[row].words == words
    assert classes[row].deviations[0].words == words


def test_reused_result_buffer_is_reproduced_by_two_calls():
    _, classes = judged("returns_one_buffer", "int16")
    (first,) = classes["high_tie"].deviations
    assert "the next call changes the result" in first.reproduce
    assert repeated(first.reproduce) != repeated(
        first.reproduce.replace("returns_one_buffer", "right")
    )


# --- Refusals -----------------------------------------------------------------------------------------------


def test_refused_type_is_unsupported_and_the_others_are_judged(monkeypatch):
    monkeypatch.setattr(judge, "chosen", three_layouts)
    options = CheckOptions(
        "tests.meta.planted:refuses_bfloat16", ["bfloat16", "uint16"], of=clip_operator()
    )
    report = run_campaign(options)
    assert [found.verdict for found in report.types] == ["unsupported", "conforms"]
    assert "bfloat16 is not supported" in report.types[0].words
    assert not report.failed
    report, _ = judged("refuses_bfloat16", "bfloat16", three_layouts)
    assert report.failed  # it supports nothing that was asked


# By name: the layouts that it refuses, and the verdict on shapes.
FORMS = {
    "refuses_rank_0": ({"0-d"}, "conforms"),
    "refuses_the_empty": ({"length-0", "rank-2-empty", "rank-3-empty"}, "refused"),
    "refuses_what_is_not_aligned": ({"unaligned"}, "conforms"),
}


@pytest.mark.parametrize("name", FORMS)
def test_form_that_is_always_refused_is_no_violation(name):
    layouts, verdict = FORMS[name]
    report, classes = judged(name, "int16")
    assert not report.failed
    assert set(report.types[0].refused_layouts) == layouts
    assert classes["C1"].verdict == classes["C3"].verdict == verdict
    assert {c.verdict for c in classes.values() if c.case} == {"conforms"}


def test_refusal_hides_no_wrong_value():
    report, classes = judged("refuses_rank_2_and_is_wrong", "int16")
    assert report.failed
    assert set(report.types[0].refused_layouts) == {"transposed", "rank-2", "rank-2-empty"}
    assert classes["high_ordinary"].verdict == "violates"
    assert classes["high_ordinary"].deviations[0].got is not None


def test_assertion_is_an_error_and_no_refusal():
    report, classes = judged("asserts", "int16", three_layouts)
    assert report.failed
    assert {c.verdict for c in classes.values() if c.case} == {"violates"}
    assert classes["inside_ordinary"].words.startswith("AssertionError: x.ndim")


# --- Faults of the checker ----------------------------------------------------------------------------------


def one_two_and_three(etype, of):
    """Calls with three numbers alone, in float32."""
    numbers = np.array([0x3F800000, 0x40000000, 0x40400000], np.uint32)
    table = tabulate(etype, together(numbers, 1), together(numbers, 2), of)
    starts = np.zeros(table.count, int)
    yield Request("contiguous", len(numbers), table.pool, starts, table.scalars), table


def test_class_that_no_vector_reaches_is_a_failure():
    report, classes = judged_by("planted:right", "float32", one_two_and_three)
    assert report.failed
    assert classes["inside_nan"].verdict == "unreached"
    assert classes["low_ordinary"].verdict == "conforms"


def test_run_that_compares_nothing_is_a_failure():
    report, classes = judged_by("planted:right", "float32", lambda *_: iter(()))
    assert report.failed
    assert report.compared == 0
    assert {c.verdict for c in classes.values()} == {"unreached"}


def test_oracle_of_another_specification_is_refused():
    another = Operator(load_spec(), SimpleNamespace(SPEC_DIGEST="0" * 64))
    with pytest.raises(UserError, match="sonnx-clip generate"):
        run_campaign(CheckOptions("sonnx", ["int8"], of=another))
