"""onnx's checker and version converter, asked in this process and in one of their own."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper

from sonnx_clip.graph import ask_onnx, normalise_opset, onnx_child
from sonnx_clip.graph.ask_onnx import checker_problem, converted
from sonnx_clip.graph.normalise_opset import raise_opset
from tests.graph.build import clip, graph, model, value

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OLD = model(graph(clip("X", min=0.0, max=1.0), stored=[]), opset=9)
BAD = model(graph(clip("X", axis=1), stored=[]))


def _functions(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with a function, so that the checker gets a process of its own."""
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    imports = [helper.make_opsetid("", proto.opset_import[0].version)]
    result.functions.append(
        helper.make_function("here", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], imports)
    )
    result.opset_import.append(helper.make_opsetid("here", 1))
    return result


def test_the_checker_says_the_same_from_either_place(tmp_path: Path) -> None:
    for proto in (OLD, _functions(OLD)):
        assert checker_problem(proto, tmp_path) is None
    problems = [checker_problem(proto, tmp_path) for proto in (BAD, _functions(BAD))]
    assert all(problem is not None and "axis" in problem and "\n" not in problem for problem in problems)


def test_the_converter(tmp_path: Path) -> None:
    found, reason = converted(OLD.SerializeToString(), 11, tmp_path)
    assert reason == ""
    assert found is not None
    assert found.opset_import[0].version == 11
    found, reason = converted(OLD.SerializeToString(), 9999, tmp_path)
    assert found is None
    assert reason


def test_a_converter_that_gives_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_onnx, "_ask", lambda *_: (b"\xff" * 9, None))
    assert converted(b"", 11, tmp_path) == (None, "the version converter gave an unreadable model")


def test_a_converter_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_onnx, "SECONDS", 0.01)
    assert converted(OLD.SerializeToString(), 11, tmp_path) == (None, "no answer within 0.01 s")


def test_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: str) -> bytes:
        given, result = io.BytesIO(OLD.SerializeToString()), io.BytesIO()
        monkeypatch.setattr(sys, "argv", ["onnx_child.py", *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(result))
        onnx_child.main()
        return result.getvalue()

    assert run("check") == b""
    assert onnx.ModelProto.FromString(run("convert", "11")).opset_import[0].version == 11


def test_an_operator_that_a_higher_set_does_not_have(tmp_path: Path) -> None:
    other = model(graph(helper.make_node("Own", ["X"], ["Z"]), clip("Z", min=0.0), stored=[]), opset=9)
    found = raise_opset(other, 9, tmp_path)
    assert (found.model, found.how) == (None, "ai.onnx 11 has no operator Own")


def test_stored_tensors_that_the_converter_adds_are_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = helper.make_node("Squeeze", ["X"], ["A"], axes=[0])
    old = model(
        graph(axes, clip("A", min=0.0), inputs=[value("X", [1, 3])], outputs=[value("Y", [3])], stored=[]),
        opset=9,
    )
    after, _ = converted(old.SerializeToString(), 11, tmp_path)
    assert after is not None
    added = helper.make_tensor("added", TensorProto.FLOAT, [1], [1.0])
    after.graph.initializer.append(added)
    monkeypatch.setattr(normalise_opset, "converted", lambda *_: (after, ""))
    found = raise_opset(old, 9, tmp_path)
    assert found.model is not None
    assert list(found.model.graph.initializer) == [added]
    assert [node.op_type for node in found.model.graph.node] == ["Squeeze", "Clip"]
