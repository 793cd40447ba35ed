"""The self-check: what it compares, where it sees a difference, what it says where nothing could be run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sonnx_clip.lint.normalise import NormaliseOptions, normalise
from sonnx_clip.lint.normalise_report import normalise_text
from sonnx_clip.lint.self_check import SelfCheck, feeds, self_check
from tests.lint.build import clip, graph, model, scalar, value

if TYPE_CHECKING:
    from pathlib import Path


def checked(folder: Path, before: onnx.ModelProto, after: onnx.ModelProto, **wish: object) -> SelfCheck:
    return self_check(before, after, folder, **wish)  # type: ignore[arg-type]


def chain(number: float, opset: int = 13) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Neg", ["X"], ["A"], name="first"),
        helper.make_node("Mul", ["A", "k"], ["B"], name="second"),
        helper.make_node("Neg", ["B"], ["Y"], name="third"),
    ]
    return model(graph(*nodes, stored=[scalar("k", number)]), opset=opset)


def test_the_output_that_differs_is_named(tmp_path: Path) -> None:
    found = checked(tmp_path, chain(2.0), chain(2.0000002))
    assert found.outcome == "different"
    assert "output 'Y' differs" in found.what


def test_a_zero_without_its_sign_is_a_difference(tmp_path: Path) -> None:
    proto = [model(graph(stored=[scalar("L", low), scalar("M", 1.0)])) for low in (0.0, -0.0)]
    assert checked(tmp_path, *proto).outcome == "different"


def test_a_result_that_a_runtime_refuses_is_a_difference(tmp_path: Path) -> None:
    other = chain(2.0)
    other.graph.node[1].op_type = "Own"
    found = checked(tmp_path, chain(2.0), other)
    assert found.outcome == "different"
    assert "refuses the result" in found.what


def test_a_result_for_which_the_runtime_has_no_kernel_is_named(tmp_path: Path) -> None:
    """onnxruntime runs Clip without bounds in bfloat16, and does not run it with bounds."""
    code = TensorProto.BFLOAT16
    main = graph(clip("X"), inputs=[value("X", [4], code)], outputs=[value("Y", [4], code)], stored=[])
    path = tmp_path / "m.onnx"
    path.write_bytes(model(main).SerializeToString())
    found = normalise(path, None, NormaliseOptions(assume_finite=True)).report
    assert "runs the model, but not the result" in normalise_text(found)
    assert found.exit_status == 1


@pytest.mark.parametrize("shape", [[], [1], [2, 3], [40]])
@pytest.mark.parametrize("code", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE])
@pytest.mark.parametrize("finite", [False, True])
def test_every_special_value_is_fed(shape: list[int], code: int, *, finite: bool) -> None:
    """Six elements drawn at random missed an infinity once, and with it a changed result."""
    dtype = helper.tensor_dtype_to_np_dtype(code)
    fed = [feed["X"].ravel() for feed in feeds([value("X", shape, code)], 2, finite=finite)]
    bits = {number.tobytes() for number in np.concatenate(fed)}
    limit = np.finfo(dtype)
    wanted = [0.0, -0.0, limit.max, -limit.max, limit.smallest_subnormal, np.nan]
    assert {np.array(number, dtype).tobytes() for number in wanted} <= bits
    infinite = {np.array(number, dtype).tobytes() for number in (np.inf, -np.inf)}
    assert bits.isdisjoint(infinite) if finite else infinite <= bits


def test_a_bound_that_limits_infinities_alone_is_seen_in_one_element(tmp_path: Path) -> None:
    ends = [value(name, [1], TensorProto.FLOAT16) for name in "XY"]
    same = graph(helper.make_node("Identity", ["X"], ["Y"]), inputs=ends[:1], outputs=ends[1:], stored=[])
    limited = graph(
        inputs=ends[:1], outputs=ends[1:],
        stored=[scalar("L", -65504, TensorProto.FLOAT16), scalar("M", 65504, TensorProto.FLOAT16)],
    )  # fmt: skip
    assert checked(tmp_path, model(same), model(limited)).outcome == "different"
    assert checked(tmp_path, model(same), model(limited), finite=True).outcome == "equal"


@pytest.mark.parametrize(
    ("dims", "reason"), [([1 << 40], "too many to be tried"), (None, "has no shape; --input-shape")]
)
def test_inputs_that_cannot_be_made(tmp_path: Path, dims: list[int] | None, reason: str) -> None:
    proto = model(graph(inputs=[value("X", dims)], outputs=[value("Y", dims)]))
    found = checked(tmp_path, proto, proto)
    assert found.outcome == "not run"
    assert reason in found.what
    assert found.not_known


def test_open_sizes_are_tried_until_the_model_runs(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((48, 3), np.float32), "w")
    node = helper.make_node("MatMul", ["X", "w"], ["Y"])
    proto = model(
        graph(node, inputs=[value("X", ["N", "C"])], outputs=[value("Y", ["N", 3])], stored=[weights])
    )
    assert checked(tmp_path, proto, proto).outcome == "equal"


def test_a_model_that_draws_numbers_cannot_be_compared(tmp_path: Path) -> None:
    nodes = [helper.make_node("RandomNormalLike", ["X"], ["R"]), helper.make_node("Add", ["X", "R"], ["Y"])]
    proto = model(graph(*nodes, stored=[]))
    found = checked(tmp_path, proto, proto)
    assert found.outcome == "not run"
    assert "other results each time" in found.what


def test_a_runtime_that_hangs_or_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], [name]) for name in "de"], "body",
        [value("n", [], TensorProto.INT64), value("c", [], TensorProto.BOOL)],
        [value("d", [], TensorProto.BOOL), value("e", [], TensorProto.BOOL)],
    )  # fmt: skip
    forever = helper.make_node("Loop", ["", "go"], ["all"], body=body)
    stored = [helper.make_tensor("go", TensorProto.BOOL, [], [True])]
    proto = model(graph(forever, helper.make_node("Neg", ["X"], ["Y"]), stored=stored))
    assert checked(tmp_path, proto, proto, seconds=1.5).what == "no answer within 1.5 s"
    monkeypatch.setattr("onnxruntime.InferenceSession", lambda *_, **__: os.abort())
    assert checked(tmp_path, proto, proto).what == "its process ended with status -6"
