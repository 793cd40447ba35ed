"""Root causes: each open shape is traced to the input or node that it comes from, and reported once."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from onnx import helper

from sonnx_clip.graph import lint_model, to_json, to_sarif, to_text
from sonnx_clip.graph.normalise import Wish, normalise
from tests.graph.build import clip, graph, lint, model, value
from tests.graph.open_models import MODELS, SETTLES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", MODELS)
def test_the_root_causes_of_a_model(tmp_path: Path, name: str) -> None:
    proto, expected = MODELS[name]
    report = lint(tmp_path, proto)
    assert {(cause.title, cause.remedy, cause.nodes) for cause in report.causes} == set(expected)
    assert len(report.causes) == len(expected)
    behind = {number for cause in report.causes for number in cause.nodes}
    assert behind == {number for number, node in enumerate(report.nodes) if node.findings.open}


@pytest.mark.parametrize("name", [name for name, (_, causes) in MODELS.items() if causes])
def test_each_report_has_each_root_cause_once_and_its_nodes(tmp_path: Path, name: str) -> None:
    report = lint(tmp_path, MODELS[name][0])
    text = to_text(report)
    (entry,) = json.loads(to_json([report]))["models"]
    results = json.loads(to_sarif([report]))["runs"][0]["results"]
    assert [cause["message"] for cause in entry["root_causes"]] == [c.message for c in report.causes]
    shapes = [result for result in results if result["ruleId"] == "R4"]
    for cause, written in zip(report.causes, entry["root_causes"], strict=True):
        assert text.count(f"root cause: {cause.message}\n    remedy: {cause.remedy}") == 1
        paths = [report.nodes[number].path for number in cause.nodes]
        assert [node["path"] for node in written["nodes"]] == paths
        (result,) = [one for one in shapes if one["message"]["text"].startswith(cause.message)]
        assert result["message"]["text"].endswith(f"Remedy: {cause.remedy}")
        assert len(result["relatedLocations"]) == result["occurrenceCount"] == len(cause.nodes)
    behind = [p for n in report.nodes for j in n.judgements for p in j.problems if p.open]
    others = [
        p for n in report.nodes for j in n.judgements for p in j.problems if j.id == "R4" and not p.open
    ]
    assert behind
    of_causes = sum(result["occurrenceCount"] for result in shapes) - len(others)
    assert of_causes == sum(len(cause.nodes) for cause in report.causes)


def test_one_and_many_read_as_they_should(tmp_path: Path) -> None:
    one, many = (lint(tmp_path, MODELS[name][0]) for name in ("in a function", "two Clip behind one input"))
    assert one.causes[0].message == "input 'X' is dynamic, [N, 3]: 1 Clip node follows from it"
    assert many.causes[0].message == "input 'X' is dynamic, [N, 3]: 2 Clip nodes follow from it"


def test_the_remedy_settles_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "open.onnx"
    path.write_bytes(MODELS["two Clip behind one input"][0].SerializeToString())
    assert lint_model(path).causes[0].remedy == f"{SETTLES} X=…,3"
    found = normalise(path, None, Wish(shapes={"X": [5, 3]}))
    assert found.report.after.causes == ()
    assert str(found.report.after.verdict) == "meets"


def test_a_long_chain_needs_no_recursion(tmp_path: Path) -> None:
    names = ["X", *(f"t{number}" for number in range(3000)), "Y"]
    nodes = [helper.make_node("Neg", [x], [y]) for x, y in pairwise(names[:-1])]
    main = graph(*nodes, clip(names[-2], "L", "M"), inputs=[value("X", ["N"])], outputs=[value("Y", ["N"])])
    report = lint(tmp_path, model(main))
    assert [(cause.title, cause.nodes) for cause in report.causes] == [("input 'X'", (0,))]


def test_nothing_is_traced_where_nothing_was_inferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise ValueError("not today")

    monkeypatch.setattr("onnx.onnx_cpp2py_export.shape_inference.infer_shapes", refuses)
    report = lint(tmp_path, MODELS["two Clip behind one input"][0])
    assert report.undecided
    assert report.causes == ()
    assert "remedy: declare a shape of numbers" in to_text(report)
