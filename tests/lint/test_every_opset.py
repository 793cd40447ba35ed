"""Every form of Clip in every operator set that onnx knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, defs, helper

from tests.lint.build import bounds, clip, graph, lint, model, scalar, sparse, value, verdicts

if TYPE_CHECKING:
    from pathlib import Path


NEWEST = defs.onnx_opset_version()
FIRST = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 6, 7: 6, 8: 6, 9: 6, 10: 6, 11: 11, 12: 12}


@pytest.mark.parametrize("opset", range(1, NEWEST + 1))
def test_the_version_of_clip_and_what_it_needs(tmp_path: Path, opset: int) -> None:
    old = opset < 11
    node = clip("X", min=0.0, max=6.0) if old else clip()
    report = lint(tmp_path, model(graph(node, stored=[] if old else bounds()), opset=opset))
    assert report.nodes[0].operator == f"Clip-{FIRST.get(opset, 13)}"
    assert verdicts(report) == ({"R1": "violates", "R2": "violates"} if old else {})


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("given", [{}, {"min": 0.0}, {"max": 6.0}])
def test_attributes_that_are_not_set(tmp_path: Path, opset: int, given: dict[str, float]) -> None:
    report = lint(tmp_path, model(graph(clip("X", **given), stored=[]), opset=opset))
    assert verdicts(report) == {"R1": "violates", "R2": "violates"}
    problems = {j.id: j.problems[0].message for j in report.nodes[0].judgements if j.problems}
    for tag, name in (("R1", "min"), ("R2", "max")):
        said = f"the attribute {name} =" if name in given else f"its attribute {name} is not set either"
        assert said in problems[tag]
        if name not in given:
            assert ("it has no default" if opset == 1 else "its default") in problems[tag]


def test_the_legacy_attribute_of_clip_1(tmp_path: Path) -> None:
    node = clip("X", min=0.0, max=1.0)
    node.attribute.append(helper.make_attribute("consumed_inputs", [0]))
    assert verdicts(lint(tmp_path, model(graph(node, stored=[]), opset=1))) == {
        "R1": "violates",
        "R2": "violates",
    }


_RESHAPED = helper.make_node("Neg", ["l"], ["L"])


@pytest.mark.parametrize("opset", [11, 12, 13, NEWEST])
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((clip("X"), []), {"R1", "R2"}),
        ((clip("X", "", "M"), bounds()), {"R1"}),
        ((clip("X", "L", ""), bounds()), {"R2"}),
        ((clip("X", "", ""), bounds()), {"R1", "R2"}),
        ((clip(), [scalar("L", 0.0), helper.make_tensor("M", 1, [1], [6.0])]), {"scalar_bounds"}),
        ((clip(), [scalar("L", 0.0), helper.make_tensor("M", 1, [3], [6.0] * 3)]), {"scalar_bounds"}),
        ((clip(), [scalar("L", 0.0), scalar("M", 6.0, TensorProto.DOUBLE)]), {"R5"}),
    ],
)
def test_forms_of_bounds(
    tmp_path: Path, opset: int, parts: tuple[onnx.NodeProto, list[TensorProto]], expected: set[str]
) -> None:
    node, stored = parts
    assert set(verdicts(lint(tmp_path, model(graph(node, stored=stored), opset=opset)))) == expected


@pytest.mark.parametrize("opset", [11, 13, NEWEST])
def test_where_bounds_come_from(tmp_path: Path, opset: int) -> None:
    low = helper.make_node("Constant", [], ["L"], value=scalar("", 0.0))
    assert verdicts(lint(tmp_path, model(graph(low, clip(), stored=[scalar("M", 6.0)]), opset=opset))) == {}
    computed = graph(_RESHAPED, clip(), stored=[scalar("l", 0.0), scalar("M", 6.0)])
    report = lint(tmp_path, model(computed, opset=opset))
    assert verdicts(report) == {"R4": "violates", "R5": "unknown", "scalar_bounds": "unknown"}
    assert verdicts(lint(tmp_path, model(computed, opset=opset), accept_inferred=True)) == {}
    given = graph(inputs=[value("X", [2, 3]), value("L", []), value("M", [])], stored=[])
    assert verdicts(lint(tmp_path, model(given, opset=opset))) == {}
    stored_sparse = graph(stored=[scalar("L", 0.0)], sparse_stored=[sparse("M", [1])])
    assert "R3" in verdicts(lint(tmp_path, model(stored_sparse, opset=opset)))
    if opset >= 12:
        for name in ("value_float", "value_floats"):
            content = 0.0 if name == "value_float" else [0.0]
            low = helper.make_node("Constant", [], ["L"], **{name: content})
            report = lint(tmp_path, model(graph(low, clip(), stored=[scalar("M", 6.0)]), opset=opset))
            assert verdicts(report) == ({} if name == "value_float" else {"scalar_bounds": "violates"})


@pytest.mark.parametrize("opset", [6, 11, NEWEST])
@pytest.mark.parametrize("dims", [["N", 3], [None, 3], None])
def test_shapes_that_are_not_numbers(tmp_path: Path, opset: int, dims: list[int | str | None] | None) -> None:
    node = clip("X", min=0.0, max=1.0) if opset < 11 else clip()
    main = graph(
        node, inputs=[value("X", dims)], outputs=[value("Y", dims)], stored=[] if opset < 11 else None
    )
    assert verdicts(lint(tmp_path, model(main, opset=opset)))["R4"] == "violates"


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
