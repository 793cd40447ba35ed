"""Each restriction, broken alone by a small model: the verdicts, and the messages of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from tests.lint.build import (
    DECLARES,
    FLOAT,
    bounds,
    clip,
    graph,
    lint,
    model,
    parsed,
    problems,
    scalar,
    sparse,
    value,
    verdicts,
)

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

DOUBLE = TensorProto.DOUBLE
COMPUTED = "main (float[2,3] A) => (float[2,3] Y) <float L = {0}, float M = {6}>"
LARGE = helper.make_tensor("X", FLOAT, [100, 100], bytes(40_000), raw=True)


def of_type(code: int) -> onnx.ModelProto:
    tensors = [value(name, [], code) for name in "XLM"]
    return model(graph(inputs=tensors, outputs=[value("Y", [], code)], stored=[]))


def bound_of(*dims: int | str) -> onnx.ModelProto:
    return model(graph(inputs=[value("X", [2, 3]), value("L", dims)], stored=[scalar("M", 6.0)]))


def constant(**attribute: object) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["L"], **attribute)
    return model(graph(node, clip(), stored=[scalar("M", 6.0)]))


ONE = helper.make_tensor("", FLOAT, [1], [1.0])
MET: list[str] = []

# The model, the restrictions that it violates, and a part of the first message or remedy.
BROKEN: dict[str, tuple[onnx.ModelProto, list[str], str]] = {
    "all is declared": (model(), MET, ""),
    "a large tensor keeps type and shape": (
        model(graph(inputs=[], stored=[*bounds(), LARGE], outputs=[value("Y", [100, 100])])), MET, "",
    ),
    "min has the empty name": (model(graph(clip("X", "", "M"))), ["R1"], "input 1 of the node is the empty"),
    "both are absent": (model(graph(clip("X"))), ["R1", "R2"], "input 1 of the node is absent"),
    "min is an attribute that means nothing": (
        model(graph(clip("X", "", "M", min=0.5))), ["R1"], "the attribute min = 0.5 has no effect in Clip-13",
    ),
    "X is of a sparse type": (
        model(graph(inputs=[helper.make_sparse_tensor_value_info("X", FLOAT, [2, 3])])), ["R3"], "graph",
    ),
    "X is a sparse constant": (
        model(graph(helper.make_node("Constant", [], ["X"], sparse_value=sparse("")), clip(), inputs=[])),
        ["R3"], "Constant node with sparse_value",
    ),
    "sizes without value or name, and below zero": (
        model(graph(inputs=[value("X", [None, -1])])), ["R4"], "dimension -1 (axis 1) is negative",
    ),
    "an initializer is the default of an input of open size": (
        model(graph(inputs=[value("X", ["N", 3])],
                    stored=[*bounds(), helper.make_tensor("X", FLOAT, [2, 3], [0.0] * 6)])),
        ["R4"], "symbolic dimension N (axis 0)",
    ),
    "two shapes": (
        model(graph(stored=[*bounds(), helper.make_tensor("X", FLOAT, [1, 1], [0.0])])), ["R4"], "two shapes",
    ),
    "no shape": (model(graph(inputs=[value("X", None)])), ["R4"], "no shape"),
    "X and Y have other shapes": (model(graph(outputs=[value("Y", [7])])), ["C1"], "inference finds [2, 3]"),
    "max is double": (
        model(graph(stored=[scalar("L", 0.0), scalar("M", 6.0, DOUBLE)])), ["R5"], "but X has FLOAT",
    ),
    "the domain by its long name": (model(graph(clip("X", "", "M", domain="ai.onnx"))), ["R1"], "is not set"),
    "two element types": (
        model(graph(inputs=[value("X", [2, 3]), value("L", [], DOUBLE)])), ["R5"], "DOUBLE, FLOAT",
    ),
    "a bound of one entry": (bound_of(1), ["scalar_bounds"], "normalise makes the bound a scalar"),
    "a bound of no entry": (bound_of(0), ["scalar_bounds"], "shape [0]"),
    "a bound of open size": (bound_of("N"), ["R4", "scalar_bounds"], "symbolic dimension N"),
    "strings": (of_type(TensorProto.STRING), ["element_types"], "element type STRING"),
    "eight bits": (of_type(TensorProto.FLOAT8E5M2), ["element_types"], "BFLOAT16"),
    "Constant: value": (constant(value=scalar("", 1.0)), MET, ""),
    "Constant: value of one entry": (constant(value=ONE), ["scalar_bounds"], "shape [1]"),
    "Constant: value_floats": (constant(value_floats=[1.0]), ["scalar_bounds"], "shape [1]"),
    "Constant: value_int": (constant(value_int=1), ["R5"], "INT64"),
    "Constant: value_ints": (constant(value_ints=[1, 2]), ["R5", "scalar_bounds"], "INT64"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_each_restriction_is_violated_alone(tmp_path: Path, name: str) -> None:
    proto, violated, words = BROKEN[name]
    report = lint(tmp_path, proto)
    assert verdicts(report) == dict.fromkeys(violated, "violates")
    assert report.verdict == ("violates" if violated else "meets")
    for tag in violated[:1]:
        assert any(
            words in message or words in remedy for _, message, remedy in problems(report, tag)
        )


def test_inferred_shapes_count_when_they_are_accepted(tmp_path: Path) -> None:
    computed = parsed(f"{COMPUTED} {{ X = Neg(A) Y = Clip(X, L, M) }}")
    report = lint(tmp_path, computed)
    declares = f"{DECLARES} shape [2, 3]; or pass --accept-inferred"
    assert problems(report, "R4") == [("X", "known only by inference", declares)]
    assert (
        problems(report, "R5")[0][2] == f"{DECLARES} element type FLOAT; or pass --accept-inferred"
    )
    assert verdicts(lint(tmp_path, computed, accept_inferred=True)) == {}
    symbolic = model(graph(outputs=[value("Y", ["N", 3])]))  # inference replaces the symbol
    assert problems(lint(tmp_path, symbolic), "R4")[0][2] == declares
    assert verdicts(lint(tmp_path, symbolic, accept_inferred=True)) == {}


def test_declaration_that_inference_contradicts_is_a_violation(tmp_path: Path) -> None:
    head = (
        "main (float[2,3] X) => (float[2,3] Y) <float[3] three = {0, 0, 0}, float L, float M = {6}>"
    )
    report = lint(
        tmp_path,
        parsed(f"{head} {{ L = Identity(three) Y = Clip(X, L, M) }}"),
        accept_inferred=True,
    )
    assert verdicts(report) == {"R4": "violates", "scalar_bounds": "violates"}
    assert problems(report, "R4")[0][1] == "declared with shape [], but inference finds [3]"
    declared = COMPUTED.replace("<", "<float[2,3] X, ")
    assert verdicts(lint(tmp_path, parsed(f"{declared} {{ X = Neg(A) Y = Clip(X, L, M) }}"))) == {}
    report = lint(tmp_path, parsed(f"{declared} {{ X = Cast <to = 3> (A) Y = Clip(X, L, M) }}"))
    assert verdicts(report) == {"R5": "violates"}
    assert (
        problems(report, "R5")[0][1] == "declared with element type FLOAT, but inference finds INT8"
    )


def test_two_known_types_differ_whatever_the_unknown_one_is(tmp_path: Path) -> None:
    stored = [scalar("L", 0.0), scalar("M", 6.0, DOUBLE)]
    main = graph(inputs=[value("X", [2, 3], TensorProto.UNDEFINED)], stored=stored)
    report = lint(tmp_path, model(main))
    assert verdicts(report) == {"R5": "violates", "element_types": "unknown"}
    assert [argument for argument, _, _ in problems(report, "R5")] == ["X", "M"]
