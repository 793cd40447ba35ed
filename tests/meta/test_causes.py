"""Planted runtimes whose mistake a report names by its cause; and what a report says of refused calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

import pytest

from sonnx_clip.conform import describe
from sonnx_clip.conform.call_plan import chosen
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator, machine_types
from sonnx_clip.conform.report_lines import notes
from sonnx_clip.conform.units import CheckOptions
from tests.meta.judged import few_calls, first_of_each, judged, printed, require_repeated

TYPES = [etype.id for etype in machine_types((), clip_operator())]
nightly = pytest.mark.nightly


def plain_calls(etype, *of):
    """The bounds in use and all pairs of special bounds in plain calls: for mistakes in any layout."""
    requests = [
        (request, table)
        for request, table in chosen(etype, *of)
        if request.purpose in ("bounds in use", "special values")
    ]
    for request, table in requests:
        if request.layout == "contiguous":
            yield request, table


def calls_of_relu6(etype, *of):
    """The plain calls under the bounds in use."""
    yield from first_of_each(chosen(etype, *of), ["contiguous"])


@cache
def found(name, dtype, plan=plain_calls):
    """The report on a planted runtime, without reproducers, which take most of the time."""
    with patch.object(describe, "shortest", lambda deviations, *_: list(deviations)):
        report, _ = judged(f"planted_causes:{name}", dtype, plan)
    return report, report.types[0]


def violations(one):
    """The deviations of an element type that no latitude accepts, of calls and of forms of a model."""
    every = [d for c in one.classes for d in c.deviations]
    every += [d for form in one.forms or () for d in form.deviations.values()]
    return [d for d in every if d.kind == "violates"]


@dataclass(frozen=True)
class Planted:
    """A planted runtime, and what the report on it must name.

    Args:
        name: of the runtime in `planted_causes`.
        dtype: the element type.
        cause: the key phrase of the cause of every violation.
        shown: an example, with the right value.
        plan: the calls.
        marks: of pytest.
    """

    name: str
    dtype: str
    cause: str
    shown: str = ""
    plan: object = plain_calls
    marks: tuple = ()

    @property
    def parameter(self):
        return pytest.param(self, id=f"{self.name}-{self.dtype}", marks=self.marks)


RELU6 = "where L == 0 and M == 6: the upper bound is ignored"
NO_MAX = "where L == 0 and 0 < M: the upper bound is ignored"
SIX = "where L == 0 and 0 < M: max is read as 6"
NUMBERS = "allowed by the reading formula-2019-number"
NO_MAX_THERE = "there, the upper bound is ignored"
NEIGHBOURS = "the triple alone is right: the result depends on its neighbours"
CAUSES = [
    # bounds in use
    Planted("zero_min_drops_max", "float32", NO_MAX, "X=inf min=0 max=6: got inf, expected 6"),
    Planted("zero_min_drops_max", "int8", NO_MAX, "X=7 min=0 max=6: got 7, expected 6"),
    Planted("zero_min_drops_max", "uint64", "the upper bound is ignored", marks=nightly),
    Planted("zero_min_as_relu6", "float32", SIX, "X=20 min=0 max=20: got 6, expected 20"),
    Planted("zero_min_as_relu6", "int32", SIX, marks=nightly),
    # arithmetic
    Planted("zero_without_sign", "float32", "only the sign of zero differs"),
    Planted("zero_without_sign", "bfloat16", "only the sign of zero differs", marks=nightly),
    Planted("flushes_subnormals", "float32", "as if subnormals were zeros"),
    Planted("flushes_subnormals", "float64", "as if subnormals were zeros", marks=nightly),
    Planted("int32_through_float32", "int32", "as if through float32"),
    Planted("int64_through_float64", "int64", "as if through float64"),
    Planted("int64_by_low_32_bits", "int64", "only the low 32 bits count"),
    Planted("uint8_compared_as_int8", "uint8", "compared as if signed"),
    Planted("int16_compared_as_uint16", "int16", "compared as if unsigned"),
    Planted("float32_through_float16", "float32", "as if through float16"),
    Planted("float64_through_float32", "float64", "as if through float32", marks=nightly),
    # bounds
    Planted("infinite_bounds_made_finite", "float32", "infinite bounds are made finite"),
    Planted("bounds_limited_to_int32", "int64", "bounds are limited to the range of int32"),
    Planted("bounds_swapped", "int16", "min and max are exchanged", "X=7 min=2 max=1: got 2, expected 1"),
    Planted("bounds_swapped", "float16", "min and max are exchanged", marks=nightly),
    Planted("inverted_bounds_swapped", "int8", "inverted bounds are exchanged", "got 2, expected 1"),
    Planted("inverted_bounds_swapped", "float32", "inverted bounds are exchanged", marks=nightly),
    # NaN
    Planted("nan_becomes_zero", "float32", "a NaN of X becomes 0", "got 0, expected 1"),
    Planted("numbers_before_nan", "float32", NUMBERS, "got 0, expected nan"),
    # places in a call
    Planted("first_lane_for_four", "uint64", NEIGHBOURS, plan=few_calls, marks=nightly),
    Planted("tail_of_16_not_written", "int16", "only in the last N mod 16 entries", plan=few_calls),
    Planted("wrong_from_entry_1024", "int32", "only from entry 1,024 on", plan=few_calls),
    Planted("wrong_from_length_33", "float32", "only at lengths from 33 on", plan=few_calls, marks=nightly),
    Planted("wrong_from_length_33", "int16", "only at lengths from 33 on", plan=few_calls),
    Planted("wrong_in_rank_3", "int16", f"only in layout rank-3: {NO_MAX_THERE}", plan=few_calls),
    Planted("wrong_for_0_d", "int16", f"only in layout 0-d: {NO_MAX_THERE}", plan=few_calls),
    # two causes
    Planted("two_mistakes_above_max", "int32", "the upper bound is ignored; or min and max are exchanged"),
]  # fmt: skip


@pytest.mark.parametrize("planted", [planted.parameter for planted in CAUSES])
def test_cause_of_a_planted_mistake_is_named(planted):
    report, one = found(planted.name, planted.dtype, planted.plan)
    assert report.failed
    assert one.verdict == "violates"
    every = violations(one)
    assert every
    assert {d.shown for d in every if planted.cause not in (d.explanation or "")} == set()
    assert any(planted.shown in d.shown for d in every)
    assert planted.cause in printed(report)
    assert one.refusal is None


FAST_TYPES = "float32", "int8", "uint64"


@pytest.mark.parametrize(
    "dtype", [t if t in FAST_TYPES else pytest.param(t, marks=nightly) for t in TYPES]
)
def test_relu6_without_its_upper_bound_is_found_in_every_type(dtype):
    _, one = found("relu6_as_relu", dtype, plain_calls)
    assert one.verdict == "violates"
    assert {d.explanation for d in violations(one)} == {RELU6}
    (example,) = [d.shown for c in one.classes if c.id == "high_ordinary" for d in c.deviations]
    assert example == "X=7 min=0 max=6: got 7, expected 6"


def test_relu6_without_its_upper_bound_has_a_reproducer():
    report, _ = judged("planted_causes:relu6_as_relu", "int16", calls_of_relu6)
    (example,) = [d for *_, d in report.deviations]
    assert example.length == 1
    require_repeated(example)
    assert RELU6 in printed(report)


def test_reading_that_allows_every_answer_is_named():
    _, one = found("numbers_before_nan", "float32")
    assert one.readings.allowed_by == ("formula-2019-number",)
    for deviation in violations(one):
        assert deviation.allowed_by == ("formula-2019-number",)


def test_mistake_of_operands_has_no_place_in_a_call():
    _, one = found("bounds_swapped", "int16")
    assert not any("only " in d.explanation for d in violations(one))


def test_unknown_cause_is_not_guessed():
    report, one = found("scrambled_above_max", "int16", few_calls)
    assert one.verdict == "violates"
    assert {d.explanation for d in violations(one)} == {None}
    assert not any(d.allowed_by for d in violations(one))
    assert "no known cause" in printed(report)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_right_runtime_has_neither_cause_nor_refusal(dtype):
    report, _ = judged("planted:right", dtype, plain_calls)
    (one,) = report.types
    assert one.verdict == "conforms"
    assert one.refusal is None
    assert not list(report.deviations)
    assert not list(notes(report))


# --- Bounds that are constants of a model


def found_in_models(name, dtype):
    options = CheckOptions(f"onnx:tests.meta.planted_causes:{name}", [dtype], of=clip_operator())
    with (
        patch.object(describe, "shortest", lambda deviations, *_: list(deviations)),
        patch("sonnx_clip.conform.judge.chosen", calls_of_relu6),
    ):
        report = run_campaign(options)
    return report, report.types[0]


IN_CONSTANTS = {
    "constant_relu6_as_relu": RELU6,
    "constant_zero_min_drops_max": "the upper bound is ignored",
    "constant_zero_min_as_relu6": "max is read as 6",
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("constant_relu6_as_relu", "int16"),
        *(pytest.param(name, "float32", marks=nightly) for name in IN_CONSTANTS),
    ],
)
def test_mistake_in_constant_bounds_alone_is_found_and_named(name, dtype):
    report, one = found_in_models(name, dtype)
    assert report.failed
    verdicts = {form.form.bounds: form.verdict for form in one.served_forms if form.form.rank}
    assert verdicts == {
        "inputs": "conforms",
        "initializers": "violates",
        "Constant nodes": "violates",
    }
    assert {c.verdict for c in one.classes if c.id == "high_ordinary"} == {"depends"}
    every = violations(one)
    assert every
    assert all(IN_CONSTANTS[name] in d.explanation for d in every)
    assert IN_CONSTANTS[name] in printed(report)


def test_mistake_of_a_runtime_that_takes_constant_bounds_only_is_found_and_plain_calls_are_not_claimed():
    report, one = found_in_models("constants_only_zero_min_drops_max", "int16")
    assert one.verdict == "violates"
    assert all("the upper bound is ignored" in d.explanation for d in violations(one))
    compared, _ = report.scope
    assert compared.startswith("compared: ")
    assert " forms of a model (" in compared.split(";")[0]
    assert "layout" not in compared
    assert "every combination" not in compared


# --- Refused calls


@dataclass(frozen=True)
class Refused:
    """A planted runtime that refuses calls, and the condition that the report must name.

    Args:
        example: the call with the simplest operands that is refused, as far as it matters.
        verdict: of the element type.
        plan: the calls.
        marks: of pytest.
    """

    name: str
    dtype: str
    condition: str
    example: str
    verdict: str = "violates"
    plan: object = plain_calls
    marks: tuple = ()

    @property
    def parameter(self):
        return pytest.param(self, id=f"{self.name}-{self.dtype}", marks=self.marks)


NAN_IN_X = "is_nan(X) for an entry of X"
NOT_RELU6 = "not (L == 0 and M == 6)"
REFUSED = [
    Refused("refuses_max_at_most_min", "float32", "M <= L", "X=0 min=0 max=0"),
    Refused("refuses_max_at_most_min", "uint16", "M <= L", "X=0 min=0 max=0", marks=nightly),
    Refused("refuses_bounds_out_of_order", "float32", "M <= L or is_nan(L) or is_nan(M)", "X=0 min=0 max=0"),
    Refused("refuses_infinite_bounds", "float32", "is_infinite(L) or is_infinite(M)", "inf"),
    Refused("refuses_negative_min", "int16", "L < 0", "X=0 min=-1 max=0"),
    Refused("refuses_nan_in_x", "float32", NAN_IN_X, "X=nan min=0 max=0", plan=few_calls),
    Refused("serves_relu6_only", "float32", NOT_RELU6, "X=0 min=0 max=0", "refused"),
    Refused("serves_relu6_only", "uint8", NOT_RELU6, "X=0 min=0 max=0", "refused", marks=nightly),
    Refused("refuses_more_than_1000_entries", "int32", "X has more than 1,000 entries", "", plan=few_calls),
]  # fmt: skip


@pytest.mark.parametrize("refused", [refused.parameter for refused in REFUSED])
def test_condition_of_refused_calls_is_named(refused):
    report, one = found(refused.name, refused.dtype, refused.plan)
    assert one.verdict == refused.verdict
    assert one.refusal.condition == refused.condition
    assert one.refusal.is_refusal
    assert 0 < one.refusal.refused < one.refusal.calls
    assert refused.example in one.refusal.example.shown
    assert f"where {refused.condition}: ValueError: " in printed(report)
    # What was answered is right: it is no deviation.
    assert not violations(one)


def test_condition_on_entries_is_not_named_where_another_layout_serves_them():
    report, one = found("refuses_nan_in_strided_x", "float32", few_calls)
    assert one.refusal.condition is None
    assert NAN_IN_X not in printed(report)


def test_what_was_compared_says_how_many_calls_gave_a_result():
    report, one = found("refuses_max_at_most_min", "float32")
    compared, blind_spots = report.scope
    special = one.tried["special values"]
    assert 0 < special.judged < special.planned
    share = f"({special.judged:,} of {special.planned:,} calls)"
    assert f"every combination of special values of X, min, max {share}" in compared
    assert "the calls that were refused or gave no result" in blind_spots


def test_runtime_of_one_pair_of_bounds_is_judged_where_it_gives_results():
    report, one = found("serves_relu6_only", "float32")
    verdicts = {c.id: c.verdict for c in one.classes}
    assert verdicts["high_ordinary"] == verdicts["inside_ordinary"] == "conforms"
    assert verdicts["inverted_ordinary"] == "refused"
    compared, _ = report.scope
    assert compared.startswith("compared: the values around all bounds in use")
    assert "every combination" not in compared
