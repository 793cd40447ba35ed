"""Clip before version 11: what becomes of its attributes, why, and that no result changes by it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import helper

from sonnx_clip.graph.normalise_opset import raise_opset
from sonnx_clip.graph.normalise_report import exit_status
from sonnx_clip.root.errors import UserError
from tests.graph.build import clip, graph, model, value
from tests.graph.normalised import (
    DOUBLE,
    HALF,
    INT64,
    attributes,
    done,
    left,
    normalised,
    result,
    same,
    stored,
)
from tests.graph.same_outputs import reference_differences

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("quick_inference")


@pytest.mark.parametrize("opset", [6, 7, 9, 10])
def test_attributes_become_inputs(tmp_path: Path, opset: int) -> None:
    found = normalised(tmp_path, attributes(opset, min=-1.5, max=6.0))
    assert done(found) == ["attribute_to_input"] * 2
    assert found.report.opsets == (opset, 11)
    assert found.report.raised == "every other operator of the model is the same in both versions"
    assert [float(v) for v in stored(found)] == [-1.5, 6.0]  # type: ignore[arg-type]
    assert left(found) == []
    assert exit_status(found.report) == 0
    same(tmp_path)


def test_the_defaults_of_clip_6_are_those_of_its_schema(tmp_path: Path) -> None:
    found = normalised(tmp_path, attributes(6))
    assert done(found) == ["default_made_explicit"] * 2
    assert [v.tobytes().hex() for v in stored(found)] == ["ffff7fff", "ffff7f7f"]  # type: ignore[attr-defined]
    same(tmp_path)
    assert reference_differences(tmp_path / "before.onnx", tmp_path / "after.onnx") == []


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_the_sign_of_a_zero_bound_is_kept(tmp_path: Path, zero: float) -> None:
    found = normalised(tmp_path, attributes(6, min=zero, max=1.0))
    assert math.copysign(1, float(stored(found)[0])) == math.copysign(1, zero)  # type: ignore[arg-type]
    same(tmp_path)


@pytest.mark.parametrize("code", [DOUBLE, HALF])
def test_attributes_of_other_float_types_are_exact(tmp_path: Path, code: int) -> None:
    found = normalised(tmp_path, attributes(6, code, min=-0.25, max=1.5))
    assert [(v.dtype.itemsize, float(v)) for v in stored(found)] == [
        (8 if code == DOUBLE else 2, n) for n in (-0.25, 1.5)
    ]  # type: ignore[attr-defined]
    assert reference_differences(tmp_path / "before.onnx", tmp_path / "after.onnx") == []


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (attributes(6, HALF, min=0.1, max=1.0), "FLOAT16 has no number 0.100000001"),
        (attributes(6, HALF, min=-1e6, max=1.0), "FLOAT16 has no number -1000000"),
        (attributes(6, min=math.nan, max=1.0), "does not say what a NaN bound does"),
        (attributes(6, min=2.0, max=1.0), "does not say what min = 2 above max = 1 does"),
        (attributes(6, DOUBLE, min=2.0), "the text gives numeric_limits of DOUBLE for max"),
        (attributes(6, HALF, min=2.0), "max is not set: the text gives the highest number of FLOAT16"),
        (attributes(1, max=2.0), "min is not set: the text gives the lowest number of FLOAT"),
    ],
)
def test_attributes_that_are_left_alone(tmp_path: Path, proto: onnx.ModelProto, reason: str) -> None:
    found = normalised(tmp_path, proto)
    assert not found.report.changed
    assert found.data == proto.SerializeToString()
    assert [step.rule for step in left(found)] == ["R1", "R2"]
    assert reason in left(found)[0].why
    assert exit_status(found.report) == 1


@pytest.mark.parametrize("proto", [attributes(6, HALF, min=2.0), attributes(1, max=2.0)])
def test_the_word_of_the_user_fills_defaults_of_old_versions(tmp_path: Path, proto: onnx.ModelProto) -> None:
    found = normalised(tmp_path, proto, finite=True)
    assert sorted(done(found)) == ["attribute_to_input", "default_made_explicit"]
    assert any(
        "_bound_repaired" in theorem
        for node in found.report.nodes
        for s in node.steps
        for theorem in s.theorems
    )
    assert left(found) == []


def test_one_node_that_cannot_be_moved_keeps_the_operator_set(tmp_path: Path) -> None:
    nodes = [clip("X", min=0.0, out="A", name="a"), clip("A", min=math.nan, max=1.0, name="b")]
    found = normalised(tmp_path, model(graph(*nodes, stored=[], infos=[value("A", [2, 3])]), opset=9))
    assert not found.report.changed
    assert left(found, 0)[0].why.startswith(
        "the operator set is not raised, since of node 1 'b' of graph 'main'"
    )
    assert left(found, 1)[0].why.startswith("Clip-6 does not say what a NaN bound does")


def test_other_operators_are_raised_by_the_table(tmp_path: Path) -> None:
    axes = helper.make_node("Squeeze", ["A"], ["B"], axes=[0])
    weights = helper.make_tensor("w", 1, [3], [1.0, 2.0, 3.0])
    add = helper.make_node("Add", ["B", "w"], ["Y"], doc_string="kept", name="add")
    main = graph(
        clip("X", min=0.0, max=6.0, out="A"), axes, add,
        inputs=[value("X", [1, 3])], outputs=[value("Y", [3])], stored=[weights],
    )  # fmt: skip
    proto = model(main, opset=9)
    helper.set_model_props(proto, {"origin": "here"})
    found = normalised(tmp_path, proto)
    assert found.report.raised is not None
    assert found.report.raised == "by the table of operators; the same meaning: Squeeze-1 to Squeeze-11"
    after = result(found)
    assert after.metadata_props == proto.metadata_props
    assert after.graph.initializer[0] == weights
    assert next(node for node in after.graph.node if node.op_type == "Add") == add
    assert [node.op_type for node in after.graph.node] == ["Constant", "Constant", "Clip", "Squeeze", "Add"]
    assert left(found) == []
    same(tmp_path)


def test_an_operator_that_has_another_name_later(tmp_path: Path) -> None:
    scatter = helper.make_node("Scatter", ["X", "i", "X"], ["A"])
    i = helper.make_tensor("i", INT64, [2, 3], [0, 1, 0, 1, 1, 0])
    proto = model(graph(scatter, clip("A", min=0.0), stored=[i], infos=[value("A", [2, 3])]), opset=9)
    found = normalised(tmp_path, proto)
    assert found.report.raised is not None
    assert "Scatter-9 to ScatterElements-11" in found.report.raised
    assert left(found) == []
    same(tmp_path)


def test_an_operator_that_the_table_does_not_have(tmp_path: Path) -> None:
    nodes = [helper.make_node("Own", ["X"], ["Z"], name="own"), clip("Z", min=0.0)]
    with pytest.raises(UserError, match="Own"):  # onnx's checker knows no such operator
        normalised(tmp_path, model(graph(*nodes, stored=[]), opset=9))
    found = raise_opset(model(graph(*nodes, stored=[]), opset=9), 9, 11)
    assert (found.model, found.how) == (
        None,
        "ai.onnx 9 has no operator Own (node 0 'own' of graph 'main')",
    )
