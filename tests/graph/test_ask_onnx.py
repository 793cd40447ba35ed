"""onnx's checker, asked in this process and in one of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import onnx
from onnx import helper

from sonnx_clip.graph.ask_onnx import checker_problem
from tests.graph.build import clip, graph, model

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


def test_a_checker_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx.checker.check_model", lambda _: time.sleep(60))
    assert checker_problem(_functions(OLD), tmp_path, seconds=0.1) == "no answer within 0.1 s"
