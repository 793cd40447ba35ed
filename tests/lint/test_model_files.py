"""Lint and normalise on the files of tests/models: of other people's tools, and those once got wrong."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.lint import lint_model, to_text
from sonnx_clip.lint.normalise import normalise
from sonnx_clip.lint.normalise_report import normalise_text
from sonnx_clip.lint.verdict import NORMALISE
from tests.lint.build import DECLARES, problems, verdicts
from tests.lint.normalised import MODELS, assert_same_outputs, left, normalised
from tests.lint.same_outputs import differences, feeds

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.lint.normalise import Normalised
    from sonnx_clip.lint.verdict import ModelReport

WRONG_BEFORE = {path.stem: path for path in sorted((MODELS / "wrong-before").glob("*.onnx"))}
NO_TYPES = {"R4": "violates", "R5": "unknown", "element_types": "unknown"}


def headline(found: Normalised) -> str:
    return normalise_text(found.report).splitlines()[0].partition(": ")[2]


def test_relu6_with_bounds_as_inputs() -> None:
    report = lint_model(MODELS / "relu6_op17.onnx")
    assert [node.name for node in report.nodes] == [
        "/r/Clip",
        "/h/Clip",
        "/Clip",
        "/Clip_1",
        "/Clip_2",
    ]
    expected = [
        NO_TYPES,
        NO_TYPES,
        {"R2": "violates"} | NO_TYPES,
        {"R1": "violates"} | NO_TYPES,
        NO_TYPES,
    ]
    assert [verdicts(report, i) for i in range(5)] == expected
    declare = f"{DECLARES} shape [1, 4, 6, 6]; or pass --accept-inferred"
    assert problems(report, "R4") == [(id_, "known only by inference", declare) for id_ in "XY"]
    assert [argument for argument, _, _ in problems(report, "R4", 4)] == [
        "X"
    ]  # Y is the graph's output


def test_element_type_that_the_version_lacks() -> None:
    (node,) = lint_model(WRONG_BEFORE["bf16_op12_both"]).nodes
    (problem,) = node.findings.problems
    assert problem.rule == "element_types"
    assert (
        problem.message
        == "Clip-12 is not defined for BFLOAT16; Clip-13 is, from operator set 13 on"
    )


@pytest.mark.parametrize("opset", [11, 17])
def test_relu6_with_inputs_is_in_the_profile_if_infinities_are_excluded(
    tmp_path: Path, opset: int
) -> None:
    proto = onnx.load(MODELS / f"relu6_op{opset}.onnx")
    some = "5 Clip nodes, 4 changed, 3 in the profile now, 2 still with problems"
    every = "5 Clip nodes, 4 changed, 5 in the profile now, 0 still with problems"
    for finite, expected in ((False, some), (True, every)):
        assert headline(normalised(tmp_path, proto, finite=finite)) == expected
        assert_same_outputs(tmp_path)
    assert lint_model(tmp_path / "after.onnx").verdict == "meets"


def test_shape_computed_from_a_value_that_the_caller_may_override_is_not_declared(
    tmp_path: Path,
) -> None:
    path = WRONG_BEFORE["overridable_initializer_shape"]
    assert "R4" in verdicts(lint_model(path, accept_inferred=True))
    assert "R4" in {step.rule for step in left(normalised(tmp_path, onnx.load(path)))}
    (usual,) = feeds(onnx.load(path), 1)
    given = [usual | {"s": np.array(shape, np.int64)} for shape in ([3, 4], [1, 4], [5, 4])]
    assert differences(path, tmp_path / "after.onnx", given) == []


@pytest.mark.parametrize(
    "name", ["add6_axis", "fn_clip6_opset9", "ir3_pad_clip6", "scan8_batch_axis"]
)
def test_old_operator_set_is_reported_and_not_converted(tmp_path: Path, name: str) -> None:
    found = normalised(tmp_path, onnx.load(WRONG_BEFORE[name]))
    remedies = {step.why for step in left(found) if step.rule in ("R1", "R2")}
    assert remedies == {"export the model again with operator set 13 or later"}
    assert {step.rule for node in found.report.nodes for step in node.steps if step.done} <= {
        "shape_declared"
    }
    assert found.report.exit_status == 1


def test_result_that_the_runtime_cannot_run_is_reported() -> None:
    report = normalise(WRONG_BEFORE["miss_u16_none_13"], None).report
    assert report.self_check.outcome == "not run"
    assert "NOT_IMPLEMENTED" in report.self_check.what
    assert report.self_check.what in normalise_text(report)
    assert report.exit_status == 1


def test_metadata_and_denotations_are_kept(tmp_path: Path) -> None:
    def metadata(model: onnx.ModelProto) -> dict[str, list[str]]:
        return {
            node.output[0]: [str(one) for one in node.metadata_props] for node in model.graph.node
        }

    def denotations(model: onnx.ModelProto) -> list[str]:
        values = (*model.graph.output, *model.graph.value_info)
        return [
            dim.denotation for v in values for dim in v.type.tensor_type.shape.dim if dim.denotation
        ]

    before = onnx.load(WRONG_BEFORE["node_metadata_lost"])
    assert any(metadata(before).values())
    assert metadata(before).items() <= metadata(normalised(tmp_path, before).model).items()
    before = onnx.load(WRONG_BEFORE["denotation_lost"])
    assert denotations(normalised(tmp_path, before).model) == denotations(before) != []


def open_problems(report: ModelReport, *, promised: bool) -> list[set[tuple[str, str]]]:
    """By node, each restriction and tensor with a problem; `promised`: those that the command settles."""
    settles_shapes = all(cause.option for cause in report.causes)
    return [
        {
            (problem.rule, problem.argument)
            for problem in node.findings.problems
            if not promised
            or problem.remedy.startswith(NORMALISE)
            or (problem.open and settles_shapes)
        }
        for node in report.nodes
    ]


FAST = {
    "relu6_op9",
    "relu6_op11",
    "overridable_initializer_shape",
    "miss_u16_none_13",
    "denotation_lost",
}


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in FAST else pytest.mark.nightly)
        for path in sorted(MODELS.rglob("*.onnx"))
        if not path.stem.startswith("ext_")
    ],
)
def test_printed_command_settles_what_it_promises(tmp_path: Path, model: Path) -> None:
    path = tmp_path / model.name
    shutil.copyfile(model, path)
    report = lint_model(path)
    if report.command is None:
        assert "to normalise:" not in to_text(report)
        return
    assert f"  to normalise: {report.command}\n" in to_text(report)
    program, *arguments = shlex.split(report.command.replace("?", "8"), comments=True)
    assert program == "sonnx-clip"
    done = CliRunner().invoke(app.app, arguments)
    assert done.exit_code in (0, 1), done.output
    after = lint_model(path.with_name(f"{path.stem}.normalised.onnx"))
    promised, left = open_problems(report, promised=True), open_problems(after, promised=False)
    assert all(one.isdisjoint(other) for one, other in zip(promised, left, strict=True))
