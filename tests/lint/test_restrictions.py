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


def test_r4_dimensions_without_value_or_name_and_below_zero(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(inputs=[value("X", [None, -1])])))
    assert (
        problems(report, "R4")[0][1]
        == "symbolic dimension ? (axis 0); dimension -1 (axis 1) is below zero, which is no size "
        "in the declared shape [?, -1]"
    )


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


def test_r4_an_initializer_is_only_the_default_of_an_input_of_symbolic_size(tmp_path: Path) -> None:
    stored = [*bounds(), helper.make_tensor("X", FLOAT, [2, 3], [0.0] * 6)]
    report = lint(tmp_path, model(graph(inputs=[value("X", ["N", 3])], stored=stored)))
    assert problems(report, "R4")[0][1].startswith("symbolic dimension N (axis 0)")


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
