"""Every form of Clip in every operator set that onnx knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, defs, helper

from tests.lint.build import bounds, clip, graph, lint, model, value, verdicts

if TYPE_CHECKING:
    from pathlib import Path


NEWEST = defs.onnx_opset_version()
FIRST = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 6, 7: 6, 8: 6, 9: 6, 10: 6, 11: 11, 12: 12}


@pytest.mark.parametrize("opset", range(1, NEWEST + 1))
def test_the_version_of_clip_and_what_it_needs(tmp_path: Path, opset: int) -> None:
    old = opset < 11
    node = clip("X", min=0.0, max=6.0) if old else clip()
    report = lint(tmp_path, model(graph(node, stored=[] if old else bounds()), opset=opset))
    assert report.nodes[0].findings.operator == f"Clip-{FIRST.get(opset, 13)}"
    assert verdicts(report) == ({"R1": "violates", "R2": "violates"} if old else {})


def test_the_legacy_attribute_of_clip_1(tmp_path: Path) -> None:
    node = clip("X", min=0.0, max=1.0)
    node.attribute.append(helper.make_attribute("consumed_inputs", [0]))
    assert verdicts(lint(tmp_path, model(graph(node, stored=[]), opset=1))) == {
        "R1": "violates",
        "R2": "violates",
    }


_RESHAPED = helper.make_node("Neg", ["l"], ["L"])


@pytest.mark.parametrize("opset", [6, 11, NEWEST])
def test_subgraphs_and_functions(tmp_path: Path, opset: int) -> None:
    old = opset < 11
    node = clip("X", min=0.0, max=6.0, out="y") if old else clip("X", "L", "M", out="y")
    inner = graph(node, inputs=[], outputs=[value("y", [2, 3])], stored=[])
    branch = helper.make_node("If", ["c"], ["B"], then_branch=inner, else_branch=inner)
    body = clip("X", min=0.0, max=6.0) if old else clip()
    names = ["X"] if old else ["X", "L", "M"]
    called = helper.make_function("here", "F", names, ["Y"], [body], [helper.make_opsetid("", opset)])
    call = helper.make_node("F", ["B", *names[1:]], ["Y"], domain="here")
    main = graph(
        branch,
        call,
        inputs=[value("X", [2, 3]), value("c", [], TensorProto.BOOL)],
        stored=[] if old else None,
        infos=[value("B", [2, 3])],
    )
    report = lint(tmp_path, model(main, functions=[called], imports={"": opset, "here": 1}))
    expected = {"R1": "violates", "R2": "violates"} if old else {}
    assert [verdicts(report, n) for n in range(3)] == [expected] * 3
