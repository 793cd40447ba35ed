"""The self-check: what it compares, where it sees a difference, what it says where nothing could be run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sonnx_clip.graph.normalise import Wish, normalise
from sonnx_clip.graph.normalise_report import exit_status
from sonnx_clip.graph.self_check import NOT_KNOWN, SelfCheck, SelfCheckOutcome, self_check
from tests.graph.build import clip, graph, model, scalar, value
from tests.graph.mapped_weights import product, read_otherwise

if TYPE_CHECKING:
    from pathlib import Path


def checked(folder: Path, before: onnx.ModelProto, after: onnx.ModelProto, **wish: object) -> SelfCheck:
    path = folder / "m.onnx"
    path.write_bytes(before.SerializeToString())
    return self_check(before, after, path, **wish)  # type: ignore[arg-type]


def chain(number: float, opset: int = 13) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Neg", ["X"], ["A"], name="first"),
        helper.make_node("Mul", ["A", "k"], ["B"], name="second"),
        helper.make_node("Neg", ["B"], ["Y"], name="third"),
    ]
    return model(graph(*nodes, stored=[scalar("k", number)]), opset=opset)


def test_equal_models(tmp_path: Path) -> None:
    found = checked(tmp_path, chain(2.0), chain(2.0))
    assert found.outcome is SelfCheckOutcome.EQUAL
    assert [run.partition(" 1.")[0] for run in found.runs] == ["onnxruntime"] * 2
    assert all(run.endswith(" on 4 inputs") for run in found.runs)
    assert found.decided


def test_the_first_node_that_differs_is_named(tmp_path: Path) -> None:
    found = checked(tmp_path, chain(2.0), chain(2.0000002))
    assert found.outcome is SelfCheckOutcome.DIFFERENT
    assert "node 1 'second' (Mul) is the first that differs, output 'B'" in found.what


def test_a_zero_without_its_sign_is_a_difference(tmp_path: Path) -> None:
    proto = [model(graph(stored=[scalar("L", low), scalar("M", 1.0)])) for low in (0.0, -0.0)]
    assert checked(tmp_path, *proto).outcome is SelfCheckOutcome.DIFFERENT


def test_a_result_that_a_runtime_refuses_is_a_difference(tmp_path: Path) -> None:
    other = chain(2.0)
    other.graph.node[1].op_type = "Own"
    found = checked(tmp_path, chain(2.0), other)
    assert found.outcome is SelfCheckOutcome.DIFFERENT
    assert "refuses the result" in found.what


def test_element_types_that_onnxruntime_lacks_go_through_the_evaluator(tmp_path: Path) -> None:
    code = TensorProto.INT16
    main = graph(inputs=[value("X", [4], code)], outputs=[value("Y", [4], code)],
                 stored=[scalar("L", -3, code), scalar("M", 9, code)])  # fmt: skip
    found = checked(tmp_path, model(main), model(main))
    assert found.outcome is SelfCheckOutcome.EQUAL
    assert len(found.runs) == 1
    assert found.runs[0].startswith("onnx's ReferenceEvaluator")


@pytest.mark.parametrize(
    ("dims", "reason"), [([1 << 40], "too many to be tried"), (None, "has no shape; --input-shape")]
)
def test_inputs_that_cannot_be_made(tmp_path: Path, dims: list[int] | None, reason: str) -> None:
    proto = model(graph(inputs=[value("X", dims)], outputs=[value("Y", dims)]))
    found = checked(tmp_path, proto, proto)
    assert found.outcome is SelfCheckOutcome.NOT_RUN
    assert reason in found.what
    assert not found.decided
    assert NOT_KNOWN in found.lines()[0]


def test_open_sizes_are_tried_until_the_model_runs(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((48, 3), np.float32), "w")
    node = helper.make_node("MatMul", ["X", "w"], ["Y"])
    proto = model(
        graph(node, inputs=[value("X", ["N", "C"])], outputs=[value("Y", ["N", 3])], stored=[weights])
    )
    assert checked(tmp_path, proto, proto).outcome is SelfCheckOutcome.EQUAL
    assert checked(tmp_path, proto, proto, sizes={"X": [7, 48]}).outcome is SelfCheckOutcome.EQUAL
    found = checked(tmp_path, proto, proto, sizes={"X": [7, 47]})
    assert found.outcome is SelfCheckOutcome.NOT_RUN


def test_a_model_that_draws_numbers_cannot_be_compared(tmp_path: Path) -> None:
    nodes = [helper.make_node("RandomNormalLike", ["X"], ["R"]), helper.make_node("Add", ["X", "R"], ["Y"])]
    proto = model(graph(*nodes, stored=[]))
    found = checked(tmp_path, proto, proto)
    assert found.outcome is SelfCheckOutcome.NOT_RUN
    assert "other results each time" in found.what


def test_a_runtime_that_hangs_or_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"])], "body",
        [value("n", [], TensorProto.INT64), value("c", [], TensorProto.BOOL)],
        [value("d", [], TensorProto.BOOL)],
    )  # fmt: skip
    forever = helper.make_node("Loop", ["", "go"], [], body=body)
    stored = [helper.make_tensor("go", TensorProto.BOOL, [], [True])]
    proto = model(graph(forever, helper.make_node("Neg", ["X"], ["Y"]), stored=stored))
    assert checked(tmp_path, proto, proto, seconds=1.5).what == "no answer within 1.5 s"
    monkeypatch.setattr("onnxruntime.InferenceSession", lambda *_, **__: os.abort())
    assert checked(tmp_path, proto, proto).what == "its process ended with status -6"


def test_large_weights_are_read_once_from_the_file(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(
        np.random.default_rng(1).standard_normal((600, 600)).astype(np.float32), "w"
    )
    body = helper.make_graph([helper.make_node("MatMul", ["X", "w"], ["t"])], "b", [], [value("t", [2, 600])])
    other = helper.make_graph([helper.make_node("Neg", ["X"], ["e"])], "b", [], [value("e", [2, 600])])
    nodes = [
        helper.make_node("If", ["c"], ["A"], then_branch=body, else_branch=other),
        clip("A"),
    ]
    proto = model(
        graph(*nodes, inputs=[value("X", [2, 600]), value("c", [], TensorProto.BOOL)],
              outputs=[value("Y", [2, 600])], stored=[weights]),
    )  # fmt: skip
    path = tmp_path / "large.onnx"
    path.write_bytes(proto.SerializeToString())
    found = normalise(path, tmp_path / "out.onnx", Wish(assume_finite=True))
    assert len(found.model.SerializeToString()) < 10_000
    assert found.report.self_check.outcome is SelfCheckOutcome.EQUAL
    result = onnx.ModelProto.FromString(found.data)
    assert result.graph.initializer[0] == weights
    onnx.checker.check_model(result, full_check=True)


@pytest.mark.parametrize("field", ["raw_data", "float_data"])
def test_large_weights_are_mapped_as_they_are_in_the_file(tmp_path: Path, field: str) -> None:
    """Else the self-check would compare two models that both have other weights than the file."""
    assert read_otherwise(tmp_path, field) == []


def test_a_model_behind_a_link_is_compared_too(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "large.onnx").write_bytes(product().SerializeToString())
    (tmp_path / "link.onnx").symlink_to(tmp_path / "there" / "large.onnx")
    found = normalise(tmp_path / "link.onnx", tmp_path / "out.onnx")
    assert found.report.self_check.outcome is SelfCheckOutcome.EQUAL


def test_a_model_that_cannot_be_run_is_written_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    proto = model(graph(inputs=[value("X", [1 << 40])], outputs=[value("Y", [1 << 40])],
                        stored=[helper.make_tensor("L", 1, [1], [0.0]), scalar("M", 1.0)]))  # fmt: skip
    path.write_bytes(proto.SerializeToString())
    found = normalise(path, tmp_path / "out.onnx")
    assert found.report.self_check.outcome is SelfCheckOutcome.NOT_RUN
    assert found.report.after.verdict == "meets"
    assert exit_status(found.report) == 1
