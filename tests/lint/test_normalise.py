"""Clip from version 11 on, and whole models: what normalise does, why, and that no result changes by it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from sonnx_clip.root.errors import UserError
from tests.lint.build import bounds, clip, graph, model, scalar, value
from tests.lint.normalised import (
    INT8,
    attributes,
    done,
    left,
    normalised,
    one_entry,
    result,
    same,
    stored,
)
from tests.lint.same_outputs import differences

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

CODES = [INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT64]
INPUTS = [("X",), ("X", "", "M"), ("X", "L")]
LIMITS = {"widest_bounds_are_no_bound", "lowest_is_no_lower_bound", "highest_is_no_upper_bound"}


def constant(name: str, **attribute: object) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], **attribute)


@pytest.mark.parametrize("code", CODES)
def test_missing_bounds_of_integers_are_the_limits(tmp_path: Path, code: int) -> None:
    ends = [value(name, [2, 3], code) for name in "XY"]
    for inputs in INPUTS:
        given = [t for t in (scalar("L", 1, code), scalar("M", 9, code)) if t.name in inputs]
        main = graph(clip(*inputs), inputs=ends[:1], outputs=ends[1:], stored=given)
        found = normalised(tmp_path, model(main))
        assert done(found) == ["default_made_explicit"] * (2 - len(given))
        theorems = {t for step in found.report.nodes[0].steps for t in step.theorems}
        assert {theorem.partition(".")[2] for theorem in theorems} <= LIMITS
        assert left(found) == []
        same(tmp_path)


@pytest.mark.parametrize("inputs", INPUTS)
def test_missing_bounds_of_floats_need_the_word_of_the_user(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    proto = model(graph(clip(*inputs), stored=[t for t in bounds() if t.name in inputs]))
    found = normalised(tmp_path, proto)
    assert not found.report.changed
    assert all("--assume finite" in step.why for step in left(found))
    assert all(theorem.endswith("_refuted") for step in left(found) for theorem in step.theorems)
    assert found.report.exit_status == 1
    found = normalised(tmp_path, proto, finite=True)
    assert set(done(found)) == {"default_made_explicit"}
    assert left(found) == []
    same(tmp_path)  # onnxruntime limits infinities either way


# Bounds of one entry: before Clip, the stored tensors, the inputs, and the nodes and stored tensors after.
FLOATS = [constant("L", value=one_entry("", 0.0)), constant("M", value_floats=[6.0])]
ADD = helper.make_node("Add", ["X", "L"], ["A"])
ONE_ENTRY = {
    "stored": ([], [one_entry("L", 0.0), one_entry("M", 6.0)], ["X"], ["Constant"] * 2, []),
    "constants": (FLOATS, [], ["X"], ["Constant"] * 4, []),
    "read by others too, and an input": (
        [ADD], [one_entry("L", 0.5), one_entry("M", 6.0)], ["A", "M"],
        ["Add", "Constant", "Constant", "Reshape"], ["L", "M"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_ENTRY)
def test_bounds_of_one_entry_become_scalars(tmp_path: Path, name: str) -> None:
    before, given, inputs, nodes, initializers = ONE_ENTRY[name]
    ends = [value("X", [2, 3]), *([value("M", [1])] if "M" in inputs else [])]
    infos = {"constants": [value("L", [1]), value("M", [1])], "stored": []}.get(name, [value("A", [2, 3])])
    main = graph(*before, clip(inputs[0], "L", "M"), inputs=ends, stored=given, infos=infos)
    found = normalised(tmp_path, model(main))
    assert done(found)[:2] == ["bound_made_scalar"] * 2
    assert [node.op_type for node in result(found).graph.node] == [*nodes, "Clip"]
    assert [tensor.name for tensor in result(found).graph.initializer] == initializers
    assert left(found) == []
    same(tmp_path)


def test_bounds_of_one_integer_become_scalars(tmp_path: Path) -> None:
    nodes = [constant("L", value_ints=[-3]), constant("M", value_ints=[3])]
    ends = [value(name, [4], TensorProto.INT64) for name in "XY"]
    proto = model(graph(*nodes, clip(), stored=[], inputs=ends[:1], outputs=ends[1:]))
    assert left(normalised(tmp_path, proto)) == []
    same(tmp_path)


@pytest.mark.parametrize(
    ("x", "dims", "reason"),
    [([2, 3], [3], "broadcast"), ([2, 3], [1, 1], "broadcast"), ([], [1], "rank 0")],
)
def test_other_shapes_of_bounds_are_left_alone(
    tmp_path: Path, x: list[int | str | None] | None, dims: list[int], reason: str
) -> None:
    low = helper.make_tensor("L", 1, dims, [0.0] * math.prod(dims))
    main = graph(inputs=[value("X", x)], outputs=[value("Y", x)], stored=[low, scalar("M", 6.0)])
    found = normalised(tmp_path, model(main))
    assert not found.report.changed
    why = next(step.why for step in left(found) if step.rule == "scalar_bounds")
    assert reason in why


def test_inferred_shapes_are_declared(tmp_path: Path) -> None:
    nodes = [helper.make_node("Neg", ["X"], ["Z"]), helper.make_node("Neg", ["l"], ["L"])]
    stored = [scalar("l", 0.0), scalar("M", 6.0)]
    main = graph(*nodes, clip("Z", "L", "M"), outputs=[value("Y", ["N", 3])], stored=stored)
    found = normalised(tmp_path, model(main))
    assert done(found) == ["shape_declared"] * 3
    assert left(found) == []
    same(tmp_path)


def test_nodes_in_subgraphs(tmp_path: Path) -> None:
    branches = {
        name: graph(clip("X", "", bound, out=name), inputs=[], outputs=[value(name, [2, 3])], stored=[])
        for name, bound in (("then_branch", "L"), ("else_branch", "M"))
    }
    node = helper.make_node("If", ["c"], ["Z"], **branches)
    inputs = [value("X", [2, 3]), value("c", [], TensorProto.BOOL)]
    found = normalised(tmp_path, model(graph(node, clip("Z", "L"), inputs=inputs)), finite=True)
    assert [left(found, n) for n in range(3)] == [[], [], []]
    same(tmp_path)


def test_nodes_in_functions_are_left_alone(tmp_path: Path) -> None:
    called = helper.make_function("here", "F", ["X"], ["Y"], [clip("X")], [helper.make_opsetid("", 13)])
    call = helper.make_node("F", ["X"], ["Y"], domain="here")
    proto = model(graph(call, stored=[]), functions=[called], imports={"": 13, "here": 1})
    found = normalised(tmp_path, proto)
    assert not found.report.changed
    assert {step.rule for step in left(found)} == {"R1", "R2"}


def test_new_constants_have_new_names_and_are_shared(tmp_path: Path) -> None:
    main = graph(clip("Y_min"), inputs=[value("Y_min", [2, 3])], stored=[])
    found = normalised(tmp_path, model(main), finite=True)
    names = list(result(found).graph.node[-1].input)
    assert names[0] == "Y_min"
    assert len(set(names)) == 3
    same(tmp_path)
    nodes = [clip("X", out="a", name="a"), clip("a", "L", out="b", name="b"), clip("b", "", "M")]
    found = normalised(tmp_path, model(graph(*nodes)), finite=True)
    assert len(stored(found)) == 2
    same(tmp_path)


def test_attributes_are_reported_and_not_converted(tmp_path: Path) -> None:
    found = normalised(tmp_path, attributes(9, min=0.0, max=6.0), finite=True)
    assert not found.report.changed
    assert [step.rule for step in left(found)] == ["R1", "R2"]
    assert {step.why for step in left(found)} == {"export the model again with operator set 13 or later"}
    assert found.report.exit_status == 1


def test_the_comparison_sees_a_difference(tmp_path: Path) -> None:
    for name, top in (("before", 1.0), ("after", 0.5)):
        (tmp_path / f"{name}.onnx").write_bytes(attributes(9, min=0.0, max=top).SerializeToString())
    assert len(differences(tmp_path / "before.onnx", tmp_path / "after.onnx")) >= 2


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (model(graph(clip(axis=1))), "onnx's checker refuses the model"),
        (model(opset=9999), "opset 9999 is newer than the installed onnx knows"),
    ],
)
def test_model_that_onnx_cannot_check_is_refused(tmp_path: Path, proto: onnx.ModelProto, reason: str) -> None:
    with pytest.raises(UserError, match=reason) as raised:
        normalised(tmp_path, proto)
    assert raised.value.where == str(tmp_path / "before.onnx")
