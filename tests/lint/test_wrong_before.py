"""Models on which normalise or lint was wrong once (tests/models/wrong-before/README.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from sonnx_clip.lint import lint_model
from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, normalise
from sonnx_clip.lint.normalise_report import normalise_text
from sonnx_clip.root.errors import UserError
from tests.lint.normalised import done, left
from tests.lint.same_outputs import Feed, differences, feeds

FOLDER = Path(__file__).parent.parent / "models" / "wrong-before"
ALL = sorted(path.stem for path in FOLDER.glob("*.onnx"))


def normalised(folder: Path, name: str) -> Normalised:
    found = normalise(FOLDER / f"{name}.onnx", folder / "after.onnx", NormaliseOptions())
    (folder / "after.onnx").write_bytes(found.data)
    return found


def test_all_are_there() -> None:
    assert len(ALL) == 20


OLD = [
    "add6_axis", "fn_clip6_opset9", "ir3_pad_clip6", "node_metadata_lost", "pad2_reflect", "prelu6",
    "resize10_linear_0.5", "resize10_nearest_1.6", "scan8_batch_axis", "upsample9_linear_2.0",
]  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_an_old_operator_set_is_not_raised(tmp_path: Path, name: str) -> None:
    """Converting these changed results; their bounds are reported."""
    found = normalised(tmp_path, name)
    remedies = {step.why for step in left(found) if step.rule in ("R1", "R2")}
    assert remedies == {"export the model again with operator set 13 or later"}
    assert set(done(found)) <= {"shape_declared"}
    assert found.report.exit_status == 1


def test_a_shape_that_the_caller_chooses_is_not_declared(tmp_path: Path) -> None:
    name = "overridable_initializer_shape"
    found = normalised(tmp_path, name)
    assert "R4" in {step.rule for step in left(found)}
    report = lint_model(FOLDER / f"{name}.onnx", accept_inferred=True)
    assert {j.id for j in report.nodes[0].findings.judgements if j.verdict != "meets"} >= {"R4"}
    before, after = FOLDER / f"{name}.onnx", tmp_path / "after.onnx"
    for given in overriding(onnx.load(before)):
        assert differences(before, after, [given]) == []


def overriding(model: onnx.ModelProto) -> list[Feed]:
    """Inputs that give the stored shape `s` its own value and two others."""
    (usual,) = feeds(model, 1)
    return [{**usual, "s": np.array(shape, np.int64)} for shape in ([3, 4], [1, 4], [5, 4])]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i64_op11_both", "Clip-11 is not defined for INT64; Clip-12 is, from operator set 12 on"),
        ("bf16_op12_both", "Clip-12 is not defined for BFLOAT16; Clip-13 is, from operator set 13 on"),
    ],
)
def test_a_node_that_onnx_does_not_define(name: str, text: str) -> None:
    (node,) = lint_model(FOLDER / f"{name}.onnx").nodes
    problems = {j.id: j.problems[0].message for j in node.findings.judgements if j.problems}
    assert problems == {"element_types": text}


@pytest.mark.parametrize("name", ["miss_i16_none_13", "miss_u16_none_13"])
def test_a_runtime_that_is_lost_is_named(tmp_path: Path, name: str) -> None:
    found = normalised(tmp_path, name)
    checked = found.report.self_check
    assert checked.outcome == "not run"
    assert "runs the model, but not the result" in checked.what
    assert "NOT_IMPLEMENTED" in checked.what
    assert checked.what in normalise_text(found.report)
    assert found.report.exit_status == 1


def test_a_sparse_bound_is_left_alone(tmp_path: Path) -> None:
    found = normalised(tmp_path, "sparse_init")
    assert not found.report.changed
    assert {"R3", "scalar_bounds"} <= {step.rule for step in left(found)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ext_bo", "'w.bin': the offset is 'abc', which is no number of bytes"),
        ("ext_no", "'w.bin': the offset is '-4', which is no number of bytes"),
        ("ext_tl", "'w.bin': it ends at byte"),
    ],
)
def test_external_data_that_cannot_lie_there(tmp_path: Path, name: str, text: str) -> None:
    for command in (lint_model, lambda path: normalise(path, tmp_path / "out.onnx")):
        with pytest.raises(UserError, match=text):
            command(FOLDER / f"{name}.onnx")


def test_metadata_and_denotations_are_kept(tmp_path: Path) -> None:
    before = onnx.load(FOLDER / "node_metadata_lost.onnx")
    normalised(tmp_path, "node_metadata_lost")
    after = onnx.load(tmp_path / "after.onnx")
    kept = {node.output[0]: list(node.metadata_props) for node in after.graph.node}
    assert any(node.metadata_props for node in before.graph.node)
    for node in before.graph.node:
        assert kept[node.output[0]] == list(node.metadata_props)
    before = onnx.load(FOLDER / "denotation_lost.onnx")
    normalised(tmp_path, "denotation_lost")
    after = onnx.load(tmp_path / "after.onnx")
    said = [
        [dim.denotation for value in (*model.graph.output, *model.graph.value_info)
         for dim in value.type.tensor_type.shape.dim if dim.denotation]
        for model in (before, after)
    ]  # fmt: skip
    assert said[0]
    assert said[0] == said[1]
