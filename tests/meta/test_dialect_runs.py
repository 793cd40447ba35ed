"""Runtimes of models with one mistake each, which the comparison with versions of Clip finds."""

import pytest

from sonnx_clip.cli.against_command import check_against
from sonnx_clip.conform.dialects import compare_dialects
from sonnx_clip.runtimes.limits import Limits


def compared(name, version, dtype, **options):
    return compare_dialects(f"tests.meta.planted_models:{name}", [version], [dtype], **options)


def verdicts(report):
    return {cell.form: cell.verdict for cell in report.cells}


def causes(report):
    return {cell.cause for cell in report.cells if cell.verdict == "violates"}


@pytest.mark.parametrize(
    ("version", "dtype"), [(6, "float16"), (11, "float64"), (12, "int8"), (13, "bfloat16")]
)
def test_right_runtime_conforms_in_every_form(version, dtype):
    report = compared("right", version, dtype)
    assert not report.failed
    assert set(verdicts(report).values()) == {"conforms"}
    assert report.runtime_version == "tests.meta.planted_models:right planted"


@pytest.mark.parametrize(("version", "dtype"), [(6, "float32"), (13, "int16"), (13, "int64")])
def test_swapped_operands_violate_without_a_cause(version, dtype):
    report = compared("swapped", version, dtype)
    assert report.failed
    assert verdicts(report)["both"] == "violates"
    assert None in causes(report)
    named = {id_ for cell in report.cells for id_ in cell.obligations}
    assert f"{dtype}.onnx_{version}_is_sonnx" in named


@pytest.mark.parametrize(("version", "dtype"), [(6, "float32"), (13, "float32"), (13, "bfloat16")])
def test_dropped_default_is_named(version, dtype):
    report = compared("drops_a_default", version, dtype)
    assert causes(report) == {"it takes a missing bound as no bound"}
    assert verdicts(report)["both"] == "conforms"
    assert verdicts(report)["none"] == "violates"
    assert any(f"{dtype}.onnx_{version}_infinities" in cell.obligations for cell in report.cells)


def test_ignored_bound_violates_where_it_is_given():
    found = verdicts(compared("ignores_max", 13, "int32"))
    assert found["both"] == found["no min"] == "violates"
    assert found["no max"] == "conforms"


def test_answer_that_is_no_operand_has_no_cause():
    report = compared("answers_no_operand", 13, "int32")
    assert causes(report) == {None}
    first = next(cell.deviation for cell in report.cells if cell.deviation)
    assert first.got != first.expected


def test_other_payload_is_acceptable():
    report = compared("other_payload", 13, "float32")
    assert not report.failed
    assert verdicts(report)["both"] == "acceptable"


def test_other_order_is_allowed_by_the_text_of_clip_12_and_not_by_that_of_clip_13():
    assert verdicts(compared("max_then_min", 12, "int16"))["both"] == "acceptable"
    report = compared("max_then_min", 13, "int16")
    assert verdicts(report)["both"] == "violates"
    assert causes(report) == {"it answers as the reading onnx-words allows"}
    assert any("int16.onnx_words_agrees" in cell.obligations for cell in report.cells)


def test_refusing_inverted_bounds_violates_and_is_named():
    report = compared("refuses_inverted", 12, "int16")
    assert report.failed
    assert causes(report) == {"it refuses exactly the bounds for which min <= max is false"}
    first = next(cell.deviation for cell in report.cells if cell.deviation)
    assert (first.got, first.words) == (None, "ValueError: min is greater than max")


@pytest.mark.parametrize("name", ["refuses_zero", "wider_type"])
def test_other_calls_without_a_result_have_no_cause(name):
    report = compared(name, 12, "float32")
    assert causes(report) == {None}
    assert verdicts(report)["none"] == "conforms"


def test_nothing_compared_is_a_failure(tmp_path, capsys):
    report = compared("refuses_everything", 13, "float32")
    assert report.failed
    assert set(verdicts(report).values()) == {"refused"}
    name = "tests.meta.planted_models:refuses_everything"
    assert check_against([name], ["onnx-12"], ["float32"], as_json=False, build=tmp_path) == 1
    assert "nothing was compared" in capsys.readouterr().out


def test_crash_is_reported_and_the_rest_compared(tmp_path, capsys):
    report = compared("dies_without_max", 13, "int8")
    found = verdicts(report)
    assert found["both"] == found["no min"] == "conforms"
    assert found["none"] == "crashed"
    assert {c.words for c in report.cells if c.verdict == "crashed"} == {"killed by SIGABRT in call 0"}
    name = "tests.meta.planted_models:dies_without_max"
    assert check_against([name], ["onnx-12"], ["int8"], as_json=False, build=tmp_path) == 1
    assert "crashed opset 12 int8: killed by SIGABRT" in capsys.readouterr().out


def test_hanging_runtime_is_stopped():
    report = compared("hangs_without_max", 6, "float32", limits=Limits(call=0.5))
    assert verdicts(report)["none"] == "crashed"


def test_deviation_without_a_cause_is_printed_first(tmp_path, capsys):
    name = "tests.meta.planted_models:swapped"
    assert check_against([name], ["onnx-12"], ["int8"], as_json=False, build=tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if line.startswith("violates: "))
    assert first.startswith("violates: no reading allows the answers")
    assert any("int8.onnx_12_is_sonnx" in line for line in lines)
