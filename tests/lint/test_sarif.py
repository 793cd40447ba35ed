"""SARIF: valid by the official schema, and every finding with a place that a person can find."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.lint import lint_model, run_each, to_sarif
from sonnx_clip.lint.sarif import SCHEMA
from sonnx_clip.lint.verdict import Run
from tests.lint.build import clip, graph, lint, model, value

HERE = Path(__file__).parent
MODELS = sorted((HERE.parent / "models").glob("*.onnx"))
FILE = HERE / "data/sarif-schema-2.1.0.json"


def valid(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    jsonschema.Draft4Validator(schema).validate(document)
    return document


def test_the_schema_is_the_official_one() -> None:
    assert json.loads(FILE.read_text(encoding="utf-8"))["id"] == SCHEMA
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() in (HERE / "data/README.md").read_text(
        encoding="utf-8"
    )


def test_every_real_model_and_a_broken_one(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no")
    run = run_each([*MODELS, broken], lint_model)
    (log,) = valid(to_sarif(run))["runs"]
    problems = [p for r in run.reports for n in r.nodes for j in n.findings.judgements for p in j.problems]
    causes = [
        r for r in log["results"] if r["partialFingerprints"]["sonnxClip/v1"].startswith("R4/root cause/")
    ]
    findings = [r for r in log["results"] if r not in causes]
    assert sum(r["occurrenceCount"] for r in findings) == sum(not p.open for p in problems) > 100
    assert [len(r["relatedLocations"]) for r in causes] == [
        len(r.open) for r in run.reports for _ in r.causes
    ]
    behind = {(r.path, n.path) for r in run.reports for n in r.open}
    nodes = [(r.path, n) for r in run.reports for n in r.nodes]
    assert behind == {
        (path, n.path) for path, n in nodes if any(p.open for j in n.findings.judgements for p in j.problems)
    }
    assert behind
    paddle = [r for r in log["results"] if "ch_ppocr" in json.dumps(r["locations"])]
    assert max(result["occurrenceCount"] for result in paddle) == 18
    assert len(paddle) < 10
    assert all(len(r["locations"]) + len(r["relatedLocations"]) == r["occurrenceCount"] for r in findings)
    assert log["invocations"][0]["executionSuccessful"] is False
    assert "not an ONNX model" in log["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    rules = log["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in log["results"])
    prints = [
        (str(r["locations"][0]["physicalLocation"]), *r["partialFingerprints"].values())
        for r in log["results"]
    ]
    assert len(set(prints)) == len(prints)


def test_a_finding_says_where_it_is(tmp_path: Path) -> None:
    report = lint(tmp_path, model(graph(clip("X", "", "M", name="c"), inputs=[value("X", [2, 3], 0)])))
    (log,) = valid(to_sarif(Run((report,), ())))["runs"]
    first, *_, last = log["results"]
    assert (first["ruleId"], first["level"], first["kind"]) == ("R1", "error", "fail")
    assert (last["level"], last["kind"]) == ("none", "open")
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "model.onnx").as_uri()
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "graph 'main' > node 0 'c'"
    assert last["locations"][0]["logicalLocations"][1]["name"] == "X"


def test_the_command_prints_it() -> None:
    result = CliRunner().invoke(app.app, ["lint", str(MODELS[1]), "--format", "sarif"])
    assert result.exit_code == 1
    assert valid(result.stdout)["version"] == "2.1.0"
