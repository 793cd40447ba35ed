"""What normalise does to one node, why, and that no result changes by it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from sonnx_clip.errors import UserError
from sonnx_clip.graph import normalise_opset
from sonnx_clip.graph.normalise import Normalised, normalise
from sonnx_clip.graph.normalise_report import exit_status
from tests.graph.build import bounds, clip, graph, model, scalar, sparse, value
from tests.graph.same_outputs import differences, reference_differences

if TYPE_CHECKING:
    from sonnx_clip.graph.steps import Step

ROOT = Path(__file__).parents[2]
DOUBLE, HALF, INT8, INT64 = (
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.INT8,
    TensorProto.INT64,
)


def normalised(folder: Path, proto: onnx.ModelProto, *, finite: bool = False) -> Normalised:
    """The result for a model, which lies beside it as after.onnx; a second run must change nothing."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(proto.SerializeToString())
    found = normalise(before, after, assume_finite=finite)
    after.write_bytes(found.data)
    again = normalise(after, folder / "again.onnx", assume_finite=finite)
    assert again.data == found.data
    assert not again.report.changed
    assert not any(step.done for node in again.report.nodes for step in node.steps)
    known = {
        entry["id"]
        for entry in json.loads((ROOT / "generated/why3/obligations.json").read_text())["obligations"]
    }
    cited = {theorem for node in found.report.nodes for step in node.steps for theorem in step.theorems}
    assert cited <= known
    return found


def same(folder: Path) -> None:
    assert differences(folder / "before.onnx", folder / "after.onnx") == []


def done(found: Normalised, index: int = 0) -> list[str]:
    return [step.rule for step in found.report.nodes[index].steps if step.done]


def left(found: Normalised, index: int = 0) -> list[Step]:
    return [step for step in found.report.nodes[index].steps if not step.done]


def result(found: Normalised) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(found.data)


def stored(found: Normalised) -> list[object]:
    """The values of the Constant nodes."""
    nodes = [node for node in result(found).graph.node if node.op_type == "Constant"]
    return [numpy_helper.to_array(node.attribute[0].t) for node in nodes]


def attributes(opset: int = 6, code: int = 1, **given: float) -> onnx.ModelProto:
    main = graph(
        clip("X", **given), inputs=[value("X", [2, 3], code)], outputs=[value("Y", [2, 3], code)], stored=[]
    )
    return model(main, opset=opset)


def one_entry(name: str, number: float) -> TensorProto:
    return helper.make_tensor(name, 1, [1], [number])


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


def test_other_operators_are_raised_by_the_version_converter(tmp_path: Path) -> None:
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
    assert found.report.raised.endswith("believed, not proved: Squeeze-1 to 11")
    after = result(found)
    assert after.metadata_props == proto.metadata_props
    assert after.graph.initializer[0] == weights
    assert next(node for node in after.graph.node if node.op_type == "Add") == add
    assert [node.op_type for node in after.graph.node] == ["Constant", "Constant", "Clip", "Squeeze", "Add"]
    assert left(found) == []
    same(tmp_path)


def test_an_operator_that_the_converter_replaces(tmp_path: Path) -> None:
    scatter = helper.make_node("Scatter", ["X", "i", "X"], ["A"])
    i = helper.make_tensor("i", INT64, [2, 3], [0, 1, 0, 1, 1, 0])
    proto = model(graph(scatter, clip("A", min=0.0), stored=[i], infos=[value("A", [2, 3])]), opset=9)
    found = normalised(tmp_path, proto)
    assert found.report.raised is not None
    assert found.report.raised.endswith("Scatter-9 to 11")
    assert left(found) == []
    same(tmp_path)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((None, "no adapter"), "onnx's version converter refuses the model: no adapter"),
        (
            (model(graph(outputs=[value("other", [1])])), ""),
            "onnx's version converter renames outputs of the model",
        ),
        (
            (model(graph(stored=[one_entry("w", 1.0)])), ""),
            "onnx's version converter changes the stored tensor 'w'",
        ),
        (
            (model(graph(clip(out="A"), clip(), stored=[])), ""),
            "onnx's version converter changes the number of Clip",
        ),
    ],
)
def test_what_the_converter_spoils_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: tuple[onnx.ModelProto | None, str], reason: str
) -> None:
    monkeypatch.setattr(normalise_opset, "converted", lambda *_: answer)
    axes = helper.make_node("Squeeze", ["X"], ["A"], axes=[0])
    weights = helper.make_tensor("w", 1, [3], [1.0, 2.0, 3.0])
    main = graph(
        axes, clip("A", min=0.0), inputs=[value("X", [1, 3])], outputs=[value("Y", [3])], stored=[weights],
        infos=[value("A", [3])],
    )  # fmt: skip
    found = normalised(tmp_path, model(main, opset=9))
    assert done(found) == []
    assert left(found)[0].why.startswith(f"the operator set cannot be raised: {reason}")


@pytest.mark.parametrize(
    "code", [INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT64]
)
@pytest.mark.parametrize("inputs", [("X",), ("X", "", "M"), ("X", "L")])
def test_missing_bounds_of_integers_are_the_limits(
    tmp_path: Path, code: int, inputs: tuple[str, ...]
) -> None:
    main = graph(
        clip(*inputs), inputs=[value("X", [2, 3], code)], outputs=[value("Y", [2, 3], code)],
        stored=[t for t in (scalar("L", 1, code), scalar("M", 9, code)) if t.name in inputs],
    )  # fmt: skip
    found = normalised(tmp_path, model(main))
    missing = 2 - sum(name != "" for name in inputs[1:])
    assert done(found) == ["default_made_explicit"] * missing
    theorems = {t for step in found.report.nodes[0].steps for t in step.theorems}
    assert all(
        t.partition(".")[2]
        in ("widest_bounds_are_no_bound", "lowest_is_no_lower_bound", "highest_is_no_upper_bound")
        for t in theorems
    )
    assert left(found) == []
    same(tmp_path)


def test_element_types_that_onnxruntime_lacks(tmp_path: Path) -> None:
    code = TensorProto.INT16
    main = graph(clip("X"), inputs=[value("X", [2, 3], code)], outputs=[value("Y", [2, 3], code)], stored=[])
    found = normalised(tmp_path, model(main))
    assert [int(v) for v in stored(found)] == [-32768, 32767]  # type: ignore[call-overload]
    assert reference_differences(tmp_path / "before.onnx", tmp_path / "after.onnx") == []


@pytest.mark.parametrize("inputs", [("X",), ("X", "", "M"), ("X", "L")])
def test_missing_bounds_of_floats_need_the_word_of_the_user(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    proto = model(graph(clip(*inputs), stored=[t for t in bounds() if t.name in inputs]))
    found = normalised(tmp_path, proto)
    assert not found.report.changed
    assert all("--assume finite" in step.why for step in left(found))
    assert all(theorem.endswith("_refuted") for step in left(found) for theorem in step.theorems)
    assert exit_status(found.report) == 1
    found = normalised(tmp_path, proto, finite=True)
    assert set(done(found)) == {"default_made_explicit"}
    assert left(found) == []
    same(tmp_path)  # onnxruntime limits infinities either way


def test_a_stored_bound_of_one_entry_becomes_a_scalar(tmp_path: Path) -> None:
    found = normalised(tmp_path, model(graph(stored=[one_entry("L", 0.0), one_entry("M", 6.0)])))
    assert done(found) == ["bound_made_scalar"] * 2
    assert [list(tensor.dims) for tensor in result(found).graph.initializer] == [[], []]
    assert left(found) == []
    same(tmp_path)


def constant(name: str, **attribute: object) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], **attribute)


def test_constants_of_one_entry_become_scalars(tmp_path: Path) -> None:
    nodes = [constant("L", value=one_entry("", 0.0)), constant("M", value_floats=[6.0])]
    info = [value("L", [1]), value("M", [1])]
    found = normalised(tmp_path, model(graph(*nodes, clip(), stored=[], infos=info)))
    assert [a.name for n in result(found).graph.node[:2] for a in n.attribute] == ["value", "value_float"]
    assert left(found) == []
    same(tmp_path)
    code = TensorProto.INT64
    nodes = [constant("L", value_ints=[-3]), constant("M", value_ints=[3])]
    main = graph(*nodes, clip(), stored=[], inputs=[value("X", [4], code)], outputs=[value("Y", [4], code)])
    assert left(normalised(tmp_path, model(main))) == []
    same(tmp_path)


def test_a_bound_of_one_entry_that_others_read_is_reshaped(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["X", "L"], ["A"]), clip("A", "L", "M")]
    inputs = [value("X", [2, 3]), value("M", [1])]
    main = graph(
        *nodes, inputs=inputs, stored=[one_entry("L", 0.5), one_entry("M", 6.0)], infos=[value("A", [2, 3])]
    )
    found = normalised(tmp_path, model(main))
    assert [node.op_type for node in result(found).graph.node] == [
        "Add",
        "Constant",
        "Reshape",
        "Constant",
        "Reshape",
        "Clip",
    ]
    assert done(found)[:2] == ["bound_made_scalar"] * 2
    assert left(found) == []
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
    nodes = [
        helper.make_node("Neg", ["X"], ["Z"]),
        helper.make_node("Neg", ["l"], ["L"]),
        clip("Z", "L", "M"),
    ]
    main = graph(*nodes, outputs=[value("Y", ["N", 3])], stored=[scalar("l", 0.0), scalar("M", 6.0)])
    found = normalised(tmp_path, model(main))
    assert done(found) == ["shape_declared"] * 3
    assert left(found) == []
    same(tmp_path)


def test_the_shape_of_an_input_is_left_to_the_caller(tmp_path: Path) -> None:
    found = normalised(tmp_path, model(graph(inputs=[value("X", ["N", 3])])))
    assert [step.rule for step in left(found)] == ["R4"]
    assert result(found).graph.input[0] == value("X", ["N", 3])


def test_nodes_in_subgraphs(tmp_path: Path) -> None:
    branches = {
        name: graph(clip("X", max=number, out=name), inputs=[], outputs=[value(name, [2, 3])], stored=[])
        for name, number in (("then_branch", 1.0), ("else_branch", 2.0))
    }
    node = helper.make_node("If", ["c"], ["Z"], **branches)
    main = graph(
        node,
        clip("Z", min=-1.0, max=1.5),
        inputs=[value("X", [2, 3]), value("c", [], TensorProto.BOOL)],
        stored=[],
    )
    found = normalised(tmp_path, model(main, opset=9))
    assert len(found.report.nodes) == 3
    assert [left(found, n) for n in range(3)] == [[], [], []]
    same(tmp_path)


def test_nodes_in_functions_are_left_alone(tmp_path: Path) -> None:
    called = helper.make_function("here", "F", ["X"], ["Y"], [clip("X")], [helper.make_opsetid("", 13)])
    call = helper.make_node("F", ["X"], ["Y"], domain="here")
    found = normalised(
        tmp_path, model(graph(call, stored=[]), functions=[called], imports={"": 13, "here": 1})
    )
    assert not found.report.changed
    assert {step.rule for step in left(found)} == {"R1", "R2"}


@pytest.mark.parametrize(
    "proto",
    [
        model(graph(stored=[scalar("L", 0.0)], sparse_stored=[sparse("M", [1])])),
        model(graph(inputs=[value("X", [2, 3]), value("L", []), value("M", ["k"])], stored=[])),
    ],
)
def test_what_no_rule_is_for_is_left_with_the_words_of_lint(tmp_path: Path, proto: onnx.ModelProto) -> None:
    found = normalised(tmp_path, proto)
    assert left(found)
    assert all(step.why for step in left(found))


def test_a_model_that_onnx_refuses(tmp_path: Path) -> None:
    proto = model(graph(clip("X", "L", "M", axis=1)))
    with pytest.raises(UserError, match="onnx's checker refuses the model") as raised:
        normalised(tmp_path, proto)
    assert raised.value.where == str(tmp_path / "before.onnx")
    assert not (tmp_path / "after.onnx").exists()


def test_names_that_are_taken_get_a_number(tmp_path: Path) -> None:
    main = graph(
        clip("Y_min", min=0.0, max=1.0),
        inputs=[value("Y_min", [2, 3])],
        outputs=[value("Y", [2, 3])],
        stored=[],
    )
    found = normalised(tmp_path, model(main, opset=9))
    assert list(result(found).graph.node[-1].input) == ["Y_min", "Y_min_2", "Y_max"]
    same(tmp_path)


def test_models_of_ir_version_3_whose_stored_tensors_are_inputs_too(tmp_path: Path) -> None:
    proto = attributes(8, min=0.0, max=1.0)
    proto.ir_version = 3
    assert left(normalised(tmp_path, proto)) == []
    same(tmp_path)


def test_the_comparison_sees_a_difference(tmp_path: Path) -> None:
    for name, top in (("before", 1.0), ("after", 0.5)):
        (tmp_path / f"{name}.onnx").write_bytes(attributes(9, min=0.0, max=top).SerializeToString())
    assert len(differences(tmp_path / "before.onnx", tmp_path / "after.onnx")) >= 2
    assert onnxruntime.__version__
