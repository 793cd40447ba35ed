"""SARIF: valid by the official schema, and every finding with a place that a person can find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sonnx_clip.lint import lint_model, run_each, to_sarif
from sonnx_clip.lint.verdict import BatchRun
from tests.lint.build import clip, graph, lint, model, value
from tests.lint.normalised import MODELS

FILE = Path(__file__).parent / "data/sarif-schema-2.1.0.json"
NAMES = ("relu6_op9", "relu6_op11", "ch_ppocr_mobile_v2.0_cls_infer")


def valid(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft4Validator(json.loads(FILE.read_text(encoding="utf-8"))).validate(document)
    return document


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> BatchRun[Any]:
    """The reports of three real models, and of a file that is none."""
    broken = tmp_path_factory.mktemp("sarif") / "broken.onnx"
    broken.write_bytes(b"no")
    return run_each([*(MODELS / f"{name}.onnx" for name in NAMES), broken], lint_model)


@pytest.fixture(scope="module")
def log(run: BatchRun[Any]) -> dict[str, Any]:
    (found,) = valid(to_sarif(run))["runs"]
    return found


def test_every_problem_is_in_one_result(run: BatchRun[Any], log: dict[str, Any]) -> None:
    """An open shape is in the result of its root cause; any other problem in that of its finding."""
    results, causes = [], []
    for result in log["results"]:
        is_cause = "R4/root cause/" in result["partialFingerprints"]["sonnxClip/v1"]
        (causes if is_cause else results).append(result)
    findings = [f for r in run.reports for n in r.nodes for f in n.findings.findings]
    assert {id(p) for f in findings for p in f.problems} == {
        id(p) for r in run.reports for n in r.nodes for p in n.findings.problems
    }
    closed = [f for f in findings if not all(p.open for p in f.problems)]
    assert sum(r["occurrenceCount"] for r in results) == len(closed) > 30
    assert all(
        len(r["locations"]) + len(r["relatedLocations"]) == r["occurrenceCount"] for r in results
    )
    open_nodes = [len(r.open) for r in run.reports for _ in r.causes]
    assert [len(r["relatedLocations"]) for r in causes] == open_nodes != []


def test_nodes_with_the_same_problem_share_a_result(log: dict[str, Any]) -> None:
    paddle = [r for r in log["results"] if "ch_ppocr" in json.dumps(r["locations"])]
    assert max(result["occurrenceCount"] for result in paddle) == 18
    assert len(paddle) < 10
    rules = log["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in log["results"])
    results = [
        (r["locations"][0]["physicalLocation"], r["partialFingerprints"]) for r in log["results"]
    ]
    assert len(set(map(str, results))) == len(results)


def test_tool_and_rules_have_addresses(log: dict[str, Any]) -> None:
    driver = log["tool"]["driver"]
    uris = [driver["informationUri"], *(rule["helpUri"] for rule in driver["rules"])]
    assert all(uri.startswith("https://") for uri in uris)


def test_file_that_is_no_model_is_a_notification(log: dict[str, Any]) -> None:
    (invocation,) = log["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "not an ONNX model" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_finding_names_its_file_node_and_tensor(tmp_path: Path) -> None:
    report = lint(
        tmp_path, model(graph(clip("X", "", "M", name="c"), inputs=[value("X", [2, 3], 0)]))
    )
    (log,) = valid(to_sarif(BatchRun((report,), ())))["runs"]
    first, *_, last = log["results"]
    assert (first["ruleId"], first["level"], first["kind"]) == ("R1", "error", "fail")
    assert (last["level"], last["kind"]) == ("none", "open")
    place = first["locations"][0]
    assert (
        place["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "model.onnx").as_uri()
    )
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "graph 'main' > node 0 'c'"
    assert last["locations"][0]["logicalLocations"][1]["name"] == "X"
