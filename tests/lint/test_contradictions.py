"""Declarations that calls or computed values contradict, and models that contradict themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from sonnx_clip.root.errors import UserError
from tests.lint.build import FLOAT, bounds, clip, graph, lint, model, problems, scalar, value, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    import onnx
    from onnx import FunctionProto, NodeProto


IMPORTS = {"": 13, "my": 1}
HALF = TensorProto.FLOAT16


def function(name: str, *nodes: NodeProto) -> FunctionProto:
    infos = [value("a", [2, 3]), value("b", []), value("c", []), value("d", [2, 3])]
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("my", 1)]
    return helper.make_function("my", name, ["a", "b", "c"], ["d"], list(nodes), imports, value_info=infos)


def call(name: str, *inputs: str, out: str = "Y") -> NodeProto:
    return helper.make_node(name, inputs, [out], domain="my")


CLIPS = function("F", clip("a", "b", "c", out="d"))


@pytest.mark.parametrize(("inputs", "tags"), [(("X", "", "M"), ["R1"]), (("X", "L"), ["R2"])])
def test_an_input_that_the_call_leaves_out(tmp_path: Path, inputs: tuple[str, ...], tags: list[str]) -> None:
    outer = function("G", call("F", "a", "b", "c", out="d"))
    for name in ("F", "G"):
        proto = model(graph(call(name, *inputs)), functions=[CLIPS, outer], imports=IMPORTS)
        report = lint(tmp_path, proto)
        assert verdicts(report) == dict.fromkeys(tags, "violates")
        assert "is the empty name" in problems(report, tags[0])[0][1]


def test_a_call_without_x(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="takes 1 to 3 inputs, the first of them set"):
        lint(tmp_path, model(graph(call("F", "", "L", "M")), functions=[CLIPS], imports=IMPORTS))


def test_the_caller_contradicts_the_function(tmp_path: Path) -> None:
    stored = [helper.make_tensor("L", HALF, [2], [1.0, 2.0]), scalar("M", 3.0, HALF)]
    main = graph(
        call("F", "X", "L", "M"),
        inputs=[value("X", ["N", 3], HALF)],
        outputs=[value("Y", ["N", 3], HALF)],
        stored=stored,
    )
    report = lint(tmp_path, model(main, functions=[CLIPS], imports=IMPORTS))
    assert verdicts(report) == dict.fromkeys(["R4", "R5", "scalar_bounds"], "violates")
    assert problems(report, "R5")[0][1] == "declared with two element types: FLOAT16, FLOAT"
    assert problems(report, "scalar_bounds")[0][1].startswith("shape [2]")


def test_calls_that_multiply_or_never_end_are_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = [CLIPS]
    for number in range(60):
        inner = "F" if number == 0 else f"G{number - 1}"
        twice = [call(inner, "a", "b", "c", out="e"), call(inner, "e", "b", "c", out="d")]
        functions.append(function(f"G{number}", *twice))
    monkeypatch.setattr("sonnx_clip.lint.onnx_process.SECONDS", 1.0)
    report = lint(tmp_path, model(graph(call("G59", "X", "L", "M")), 13, functions, IMPORTS))
    assert report.undecided == ("nothing was inferred: no answer within 1 s",)
    assert report.verdict != "meets"
    endless = function("E", clip("a", "b", "c", out="e"), call("E", "e", "b", "c", out="d"))
    report = lint(tmp_path, model(graph(call("E", "X", "L", "M")), 13, [endless], IMPORTS))
    assert "must not be recursive" in report.undecided[0]


def test_a_declared_shape_or_type_that_inference_contradicts(tmp_path: Path) -> None:
    three = helper.make_tensor("three", FLOAT, [3], [0.0] * 3)
    copy = helper.make_node("Identity", ["three"], ["L"])
    main = graph(copy, clip(), stored=[three, scalar("M", 6.0)], infos=[value("L", [])])
    report = lint(tmp_path, model(main), accept_inferred=True)
    assert verdicts(report) == {"R4": "violates", "scalar_bounds": "violates"}
    assert problems(report, "R4")[0][1] == "declared with shape [], but inference finds [3]"
    cast = helper.make_node("Cast", ["A"], ["X"], to=TensorProto.INT8)
    main = graph(cast, clip(), inputs=[value("A", [2, 3])], infos=[value("X", [2, 3])])
    report = lint(tmp_path, model(main))
    assert verdicts(report) == {"R5": "violates"}
    assert problems(report, "R5")[0][1] == "declared with element type FLOAT, but inference finds INT8"


def test_result_of_an_unknown_operator_is_as_declared(tmp_path: Path) -> None:
    own = helper.make_node("Own", ["A"], ["X"], domain="my")
    main = graph(own, clip(), inputs=[value("A", [1])], infos=[value("X", [2, 3])])
    assert verdicts(lint(tmp_path, model(main, imports=IMPORTS))) == {}


def _constant(**attributes: object) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["L"], **attributes)
    return model(graph(node, clip(), stored=[scalar("M", 6.0)]))


def _stored(**parts: object) -> onnx.ModelProto:
    return model(graph(stored=[TensorProto(name="L", **parts), scalar("M", 6.0)]))


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (_stored(data_type=FLOAT, float_data=[1, 2, 3]), r"dimensions \[\] do not fit its data"),
        (_stored(data_type=FLOAT, raw_data=b"12345678"), r"dimensions \[\] do not fit its data"),
        (_stored(data_type=FLOAT, raw_data=b"123", dims=[1]), r"dimensions \[1\] do not fit its data"),
        (_stored(data_type=FLOAT, dims=[2]), r"dimensions \[2\] do not fit its data"),
        (_stored(data_type=FLOAT, dims=[-1]), "a dimension is below zero"),
        (_stored(data_type=TensorProto.FLOAT8E5M2, raw_data=b"12"), "do not fit its data"),
    ],
)
def test_a_model_that_contradicts_itself(tmp_path: Path, proto: onnx.ModelProto, text: str) -> None:
    with pytest.raises(UserError, match=text):
        lint(tmp_path, proto)


@pytest.mark.parametrize(
    "proto",
    [
        model(graph(stored=[*bounds(), scalar("L", 9.0)])),
        model(graph(clip(), clip())),
        model(functions=[CLIPS, CLIPS], imports=IMPORTS),
        _stored(data_type=FLOAT, float_data=[1], raw_data=b"1234"),
    ],
)
def test_model_that_the_checker_refuses_is_unknown(tmp_path: Path, proto: onnx.ModelProto) -> None:
    report = lint(tmp_path, proto)
    assert report.undecided
    assert report.verdict != "meets"


@pytest.mark.parametrize("values", [{"value_float": 1.0, "value_int": 2}, {}, {"value": 1.0}])
def test_a_constant_without_exactly_one_value_declares_nothing(
    tmp_path: Path, values: dict[str, object]
) -> None:
    report = lint(tmp_path, _constant(**values))
    assert report.verdict != "meets"
    assert "R4" in verdicts(report)
