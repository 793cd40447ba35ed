"""Each restriction, broken alone by a small model; and the same rules as spec/clip.yaml evaluates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.verdict import Verdict
from tests.lint.build import (
    DECLARES,
    FLOAT,
    bounds,
    clip,
    graph,
    lint,
    model,
    problems,
    scalar,
    sparse,
    value,
    verdicts,
)

if TYPE_CHECKING:
    from pathlib import Path


DOUBLE = TensorProto.DOUBLE


def test_a_model_that_declares_everything_meets_everything(tmp_path: Path) -> None:
    report = lint(tmp_path, model())
    assert verdicts(report) == {}
    assert report.verdict is Verdict.MEETS
    assert report.notes == ()
    assert report.nodes[0].tensors == {name: name for name in "XLMY"}


@pytest.mark.parametrize(
    ("inputs", "tags", "message"),
    [
        (("X", "", "M"), ["R1"], "input L (min) is not set: input 1 of the node is the empty name"),
        (("X", "L", ""), ["R2"], "input M (max) is not set: input 2 of the node is the empty name"),
        (("X", "L"), ["R2"], "input M (max) is not set: input 2 of the node is absent"),
        (("X",), ["R1", "R2"], "input L (min) is not set: input 1 of the node is absent"),
    ],
)
def test_r1_r2_a_bound_that_is_not_set(
    tmp_path: Path, inputs: tuple[str, ...], tags: list[str], message: str
) -> None:
    report = lint(tmp_path, model(graph(clip(*inputs))))
    assert verdicts(report) == dict.fromkeys(tags, "violates")
    assert problems(report, tags[0])[0][1] == message


def test_r1_an_attribute_of_a_version_that_has_inputs_is_said_to_mean_nothing(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(clip("X", "", "M", min=0.5))))
    (_, message, remedy) = problems(report, "R1")[0]
    assert message.endswith("the attribute min = 0.5 means nothing to Clip-13")
    assert remedy == "set input L (min) to a scalar 0.5 of X's element type"


def test_r1_clip_1_has_no_default(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(clip("X", max=6.0), stored=[]), opset=5))
    assert report.nodes[0].operator == "Clip-1"
    assert problems(report, "R1")[0][1].endswith("not set either, and it has no default")
    assert problems(report, "R2")[0][1].endswith("the bound is the attribute max = 6")


def test_r3_a_sparse_initializer(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(inputs=[], sparse_stored=[sparse("X")])))
    assert verdicts(report) == {"R3": "violates"}
    assert problems(report, "R3") == [
        ("X", "sparse (sparse initializer)", "store or declare the tensor as dense"),
        ("Y", "sparse (shape inference)", "store or declare the tensor as dense"),
    ]


def test_r3_a_sparse_input_type(tmp_path: Path) -> None:
    x = helper.make_sparse_tensor_value_info("X", FLOAT, [2, 3])
    report = lint(tmp_path, model(graph(inputs=[x])))
    assert verdicts(report) == {"R3": "violates"}
    assert problems(report, "R3")[0][1] == "sparse (graph input)"


def test_r3_a_sparse_constant(tmp_path: Path) -> None:
    node = helper.make_node("Constant", [], ["X"], sparse_value=sparse(""))
    report = lint(tmp_path, model(graph(node, clip(), inputs=[])))
    assert verdicts(report) == {"R3": "violates"}
    assert problems(report, "R3")[0][1] == "sparse (Constant node with sparse_value)"


def test_r4_a_symbolic_dimension(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(inputs=[value("X", ["N", 3])])))
    assert verdicts(report) == {"R4": "violates"}
    assert problems(report, "R4")[0][:2] == (
        "X",
        "symbolic dimension N (axis 0) in the declared shape [N, 3]",
    )


def test_r4_dimensions_without_value_or_name_and_below_zero(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(inputs=[value("X", [None, -1])])))
    assert (
        problems(report, "R4")[0][1]
        == "symbolic dimension ? (axis 0); dimension -1 (axis 1) is below zero, which is no size "
        "in the declared shape [?, -1]"
    )


def test_r4_no_shape_and_no_help_from_inference(tmp_path: Path) -> None:
    main = graph(inputs=[value("X", None)], outputs=[value("Y", None)])
    for accept in (False, True):
        report = lint(tmp_path, model(main), accept_inferred=accept)
        assert verdicts(report) == {"R4": "violates"}
        remedy = "declare a shape of numbers (value_info, or the type of the graph's input or output)"
        assert problems(report, "R4") == [("X", "no shape", remedy), ("Y", "no shape", remedy)]


def test_r4_known_only_by_inference_counts_when_accepted(tmp_path: Path) -> None:
    main = graph(helper.make_node("Neg", ["A"], ["X"]), clip(), inputs=[value("A", [2, 3])])
    report = lint(tmp_path, model(main))
    assert problems(report, "R4") == [
        (
            "X",
            "known only by inference",
            f"{DECLARES} shape [2, 3]; or pass --accept-inferred",
        )
    ]
    assert problems(report, "R5")[0][1:] == (
        "no declared element type",
        f"{DECLARES} element type FLOAT; or pass --accept-inferred",
    )
    assert verdicts(lint(tmp_path, model(main), accept_inferred=True)) == {}
    declared = graph(*main.node, inputs=[value("A", [2, 3])], infos=[value("X", [2, 3])])
    assert verdicts(lint(tmp_path, model(declared))) == {}


def test_r4_inference_may_replace_a_declared_symbol_when_accepted(tmp_path: Path) -> None:
    main = graph(outputs=[value("Y", ["N", 3])])
    assert problems(lint(tmp_path, model(main)), "R4") == [
        (
            "Y",
            "symbolic dimension N (axis 0) in the declared shape [N, 3]",
            f"{DECLARES} shape [2, 3]; or pass --accept-inferred",
        )
    ]
    assert verdicts(lint(tmp_path, model(main), accept_inferred=True)) == {}


def test_r4_two_declarations_that_contradict_each_other(tmp_path: Path) -> None:
    stored = [*bounds(), helper.make_tensor("X", FLOAT, [1], [0.0])]
    report = lint(tmp_path, model(graph(stored=stored)), accept_inferred=True)
    assert verdicts(report) == {"R4": "violates"}
    assert problems(report, "R4")[0][:2] == ("X", "declared with two shapes: [2, 3] and [1]")


def test_r4_an_initializer_is_only_the_default_of_an_input_of_symbolic_size(tmp_path: Path) -> None:
    stored = [*bounds(), helper.make_tensor("X", FLOAT, [2, 3], [0.0] * 6)]
    report = lint(tmp_path, model(graph(inputs=[value("X", ["N", 3])], stored=stored)))
    assert problems(report, "R4")[0][1].startswith("symbolic dimension N (axis 0)")


def test_r5_another_element_type(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(stored=[scalar("L", 0.0), scalar("M", 6.0, DOUBLE)])))
    assert verdicts(report) == {"R5": "violates"}
    assert problems(report, "R5") == [
        (
            "M",
            "element type DOUBLE, but X has FLOAT",
            "give M the element type FLOAT, by storing it so or by a Cast before the node",
        )
    ]


def test_r5_two_known_types_differ_whatever_the_unknown_one_is(tmp_path: Path) -> None:
    stored = [scalar("L", 0.0), scalar("M", 6.0, DOUBLE)]
    main = graph(inputs=[value("X", [2, 3], TensorProto.UNDEFINED)], stored=stored)
    report = lint(tmp_path, model(main))
    assert verdicts(report) == {"R5": "violates", "element_types": "unknown"}
    assert [(a, m) for a, m, _ in problems(report, "R5")] == [
        ("X", "no declared element type"),
        ("M", "element type DOUBLE, but L has FLOAT"),
    ]


def test_r5_one_tensor_with_two_element_types(tmp_path: Path) -> None:
    main = graph(inputs=[value("X", [2, 3]), value("L", [], DOUBLE)])
    report = lint(tmp_path, model(main))
    assert problems(report, "R5")[0][:2] == ("L", "declared with two element types: DOUBLE, FLOAT")


def test_a_sequence_is_no_tensor(tmp_path: Path) -> None:
    x = helper.make_tensor_sequence_value_info("X", FLOAT, [2, 3])
    report = lint(tmp_path, model(graph(inputs=[x])))
    assert problems(report, "R4")[0][1] == "no shape: it is a sequence"
    assert problems(report, "R5")[0][1] == "it is a sequence, which is no tensor"


def test_a_type_that_says_nothing_declares_nothing(tmp_path: Path) -> None:
    proto = model()
    proto.graph.input[0].ClearField("type")
    report = lint(tmp_path, proto)
    assert verdicts(report) == {"R4": "violates", "R5": "unknown", "element_types": "unknown"}


@pytest.mark.parametrize("dims", [[1], [5], ["N"], [0]])
def test_scalar_bounds(tmp_path: Path, dims: list[int | str]) -> None:
    main = graph(inputs=[value("X", [2, 3]), value("L", dims)], stored=[scalar("M", 6.0)])
    report = lint(tmp_path, model(main))
    assert verdicts(report)["scalar_bounds"] == "violates"
    assert problems(report, "scalar_bounds") == [
        (
            "L",
            f"shape [{dims[0]}] where the empty shape is required",
            "normalise makes the bound a scalar" if dims == [1] else "make the bound a scalar: shape []",
        )
    ]


def test_scalar_bounds_are_unknown_where_only_inference_knows(tmp_path: Path) -> None:
    minus = helper.make_node("Neg", ["A"], ["L"])
    main = graph(minus, clip(), inputs=[value("X", [2, 3]), value("A", [])], stored=[scalar("M", 6.0)])
    report = lint(tmp_path, model(main))
    assert verdicts(report) == {"R4": "violates", "R5": "unknown", "scalar_bounds": "unknown"}
    assert problems(report, "scalar_bounds")[0][2] == "see R4; inference finds []"
    assert verdicts(lint(tmp_path, model(main), accept_inferred=True)) == {}


@pytest.mark.parametrize(
    ("attribute", "content", "expected"),
    [
        ("value", scalar("", 1.0), {}),
        ("value", helper.make_tensor("", FLOAT, [1], [1.0]), {"scalar_bounds": "violates"}),
        ("value_float", 1.0, {}),
        ("value_floats", [1.0], {"scalar_bounds": "violates"}),
        ("value_int", 1, {"R5": "violates"}),
        ("value_ints", [1, 2], {"R5": "violates", "scalar_bounds": "violates"}),
        ("value_string", "a", {"R5": "violates"}),
        ("value_strings", ["a"], {"R5": "violates", "scalar_bounds": "violates"}),
    ],
)
def test_a_constant_node_declares_shape_and_type(
    tmp_path: Path, attribute: str, content: object, expected: dict[str, str]
) -> None:
    node = helper.make_node("Constant", [], ["L"], **{attribute: content})
    assert verdicts(lint(tmp_path, model(graph(node, clip(), stored=[scalar("M", 6.0)])))) == expected


@pytest.mark.parametrize(
    ("element_type", "name"),
    [(TensorProto.STRING, "STRING"), (TensorProto.BOOL, "BOOL"), (TensorProto.FLOAT8E5M2, "FLOAT8E5M2")],
)
def test_an_element_type_outside_the_profile(tmp_path: Path, element_type: int, name: str) -> None:
    tensors = [value(n, [], element_type) for n in ("X", "L", "M")]
    report = lint(tmp_path, model(graph(inputs=tensors, outputs=[value("Y", [], element_type)], stored=[])))
    assert verdicts(report) == {"element_types": "violates"}
    (_, message, remedy) = problems(report, "element_types")[0]
    assert message == f"element type {name}, for which the profile does not define clip"
    assert "BFLOAT16" in remedy


def test_an_element_type_that_onnx_does_not_know(tmp_path: Path) -> None:
    main = graph(inputs=[value("X", [2, 3], 999)])
    assert problems(lint(tmp_path, model(main)), "element_types")[0][1].startswith(
        "element type element type 999"
    )
