"""Planted mistakes in runtimes of models, each caught by name; and in what explains disagreements."""

import pytest

from sonnx_clip.cli.compare_dialects_command import compare
from sonnx_clip.conform import comparison_judge
from sonnx_clip.conform.run_comparison import compare_dialects
from sonnx_clip.runtimes.limits import Limits


def compared(name, opset, dtype, **options):
    return compare_dialects(f"tests.meta.planted_models:{name}", [opset], [dtype], **options)


def states(record):
    return {cell.form: cell.state for cell in record.cells}


@pytest.mark.parametrize(
    ("opset", "dtype"), [(6, "float16"), (11, "float64"), (12, "int8"), (13, "bfloat16")]
)
def test_the_right_one_agrees_everywhere(opset, dtype):
    record = compared("right", opset, dtype)
    assert not record.failed
    assert record.groups == ()
    assert set(states(record).values()) == {"agrees"}
    assert record.runtime_version == "tests.meta.planted_models:right planted"


@pytest.mark.parametrize(("opset", "dtype"), [(6, "float32"), (11, "float32"), (13, "int16"), (13, "int64")])
def test_swapped_operands_are_unexplained(opset, dtype):
    record = compared("swapped", opset, dtype)
    assert record.failed
    assert states(record)["both"] == "unexplained"
    assert record.groups[0].kind == "unexplained"
    assert f"{dtype}.onnx_{opset}_is_sonnx" in record.groups[0].obligations


@pytest.mark.parametrize(
    ("opset", "dtype"), [(6, "float32"), (11, "float64"), (13, "float32"), (13, "bfloat16")]
)
def test_a_default_that_is_dropped_is_named(opset, dtype):
    record = compared("drops_a_default", opset, dtype)
    (group,) = record.groups
    assert (group.id, group.kind) == ("no-bound", "missing bound")
    assert f"{dtype}.onnx_{opset}_infinities" in group.obligations
    assert group.count == sum(cell.differing for cell in record.cells)
    assert states(record)["both"] == "agrees"
    assert states(record)["none"] == "differs"


@pytest.mark.parametrize(
    ("name", "opset", "dtype", "rule"),
    [
        ("takes_the_limits_of_float32", 13, "float64", "limits-of-float32"),
        ("takes_the_limits_of_int8", 13, "int32", "limits-of-int8"),
    ],
)
def test_the_default_of_another_type_is_named(name, opset, dtype, rule):
    record = compared(name, opset, dtype)
    (group,) = record.groups
    assert group.id == rule
    assert f"{dtype}.onnx_{opset}_without_bounds" in group.obligations
    assert not record.failed


def test_a_bound_that_is_not_heeded_is_unexplained():
    record = compared("ignores_max", 13, "int32")
    assert record.failed
    assert states(record)["both"] == states(record)["no min"] == "unexplained"
    assert states(record)["no max"] == "agrees"


def test_an_answer_that_is_no_operand_contradicts_a_theorem():
    record = compared("answers_no_operand", 13, "int32")
    assert record.failed
    assert "int32.result_is_operand" in record.groups[0].obligations


def test_an_error_of_onnxruntime_explains_nothing_in_another_type():
    """The rule of the low halves is for 64 bits, and is not a pass for whatever is wrong there."""
    record = compared("ignores_max", 13, "int64")
    assert {group.kind for group in record.groups} == {"unexplained"}


def test_different_nan_payload_is_reported_and_accepted():
    record = compared("other_payload", 13, "float32")
    assert not record.failed
    assert record.groups == ()
    assert states(record)["both"] == "payload"


def test_the_other_order_is_allowed_by_the_words_of_clip_12_and_not_by_those_of_clip_13():
    assert states(compared("max_then_min", 12, "int16"))["both"] == "allowed"
    record = compared("max_then_min", 13, "int16")
    assert states(record)["both"] == "differs"
    (group,) = record.groups
    assert (group.id, group.kind, group.fits_too) == ("onnx-words", "reading", ("directml", "directml-c"))
    assert "int16.onnx_words_agrees" in group.obligations


def test_refusing_inverted_bounds_is_explained_where_the_words_leave_them_open():
    record = compared("refuses_inverted", 12, "int16")
    assert not record.failed
    (group,) = record.groups
    assert (group.id, group.witness.words) == ("refuses-unordered", "ValueError: min is greater than max")
    assert group.witness.x is None
    assert compared("refuses_inverted", 13, "int16").groups[0].id == "refused-unexplained"


@pytest.mark.parametrize("name", ["refuses_zero", "wider_type"])
def test_other_calls_without_a_result_are_unexplained(name):
    record = compared(name, 12, "float32")
    assert record.failed
    assert record.groups[0].id == "refused-unexplained"
    assert states(record)["none"] == "agrees"


def test_nothing_compared_is_a_failure(tmp_path, capsys):
    record = compared("refuses_everything", 13, "float32")
    assert record.failed
    assert set(states(record).values()) == {"refused"}
    name = "tests.meta.planted_models:refuses_everything"
    assert compare([name], ["onnx-12"], ["float32"], as_json=False, build=tmp_path) == 1
    assert "nothing was compared" in capsys.readouterr().out


def test_crash_is_reported_and_the_rest_compared(tmp_path, capsys):
    record = compared("dies_without_max", 13, "int8")
    assert record.failed
    found = states(record)
    assert found["both"] == found["no min"] == "agrees"
    assert found["none"] == "crashed"
    words = {cell.words for cell in record.cells if cell.crashed}
    assert words == {"killed by SIGABRT in call 0"}
    name = "tests.meta.planted_models:dies_without_max"
    assert compare([name], ["onnx-12"], ["int8"], as_json=False, build=tmp_path) == 1
    assert "crashed opset 12 int8, none: killed by SIGABRT" in capsys.readouterr().out


def test_a_runtime_that_hangs_is_ended():
    record = compared("hangs_without_max", 6, "float32", limits=Limits(call=0.5))
    assert states(record)["none"] == "crashed"


def test_a_rule_that_no_obligation_speaks_of_explains_nothing(monkeypatch):
    monkeypatch.setattr(comparison_judge, "is_shown", lambda *_: False)
    record = compared("drops_a_default", 13, "float32")
    assert record.failed
    assert record.groups[0].kind == "unexplained"


def test_a_rule_must_allow_every_answer_of_a_form(monkeypatch):
    """A rule that allows no answer at all explains nothing: a wrong rule comes down to that."""
    from sonnx_clip.conform import comparison_explanations

    monkeypatch.setattr(
        comparison_explanations._Reading, "__call__", lambda self, answers: answers != answers
    )
    assert compared("drops_a_default", 13, "float32").groups[0].kind == "unexplained"


def test_swapped_operands_are_told_first_and_make_the_status_1(tmp_path, capsys):
    name = "tests.meta.planted_models:swapped"
    assert compare([name], ["onnx-12"], ["int8"], as_json=False, build=tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if line.startswith(("unexplained: ", "explained by ")))
    assert first.startswith("unexplained: ")
    assert any("contradicts int8.onnx_12_is_sonnx" in line for line in lines)


def test_other_rules_that_would_do_are_told(tmp_path, capsys):
    name = "tests.meta.planted_models:max_then_min"
    assert compare([name], ["onnx-13"], ["int16"], as_json=False, build=tmp_path) == 0
    assert "so would: directml" in capsys.readouterr().out
