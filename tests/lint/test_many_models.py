"""`lint` of files, folders and patterns: rules are chosen, counted and summed."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from onnx import helper, parser

from tests.command import Ended, run
from tests.lint.build import clip, graph, model, value
from tests.lint.normalised import MODELS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models with Clips that break rules, one of them in a folder, one without a Clip, and junk."""
    (tmp_path / "nested").mkdir()
    (tmp_path / ".venv").mkdir()
    shutil.copy(MODELS / "relu6_op11.onnx", tmp_path / "a.onnx")
    shutil.copy(MODELS / "relu6_op9.onnx", tmp_path / "nested/b.onnx")
    neg = model(graph(helper.make_node("Neg", ["X"], ["Y"])))
    (tmp_path / "plain.onnx").write_bytes(neg.SerializeToString())
    (tmp_path / ".venv/c.onnx").write_bytes(b"junk")
    (tmp_path / "readme.txt").write_text("not a model")
    return tmp_path


def lint(folder: Path, *arguments: str) -> Ended:
    return run("lint", *arguments, cwd=folder)


def names(ended: Ended) -> list[str]:
    return [entry["model"] for entry in json.loads(ended.stdout)["models"]]


def test_folder_and_pattern_name_models_once(folder: Path) -> None:
    everything = ["a.onnx", "nested/b.onnx", "plain.onnx"]
    assert names(lint(folder, ".", "--json")) == everything
    assert names(lint(folder, "**/*.onnx", "--json")) == everything
    assert names(lint(folder, "a.onnx", "*.onnx", "--json")) == ["a.onnx", "plain.onnx"]


@pytest.mark.parametrize("name", ["empty", "no*.onnx"])
def test_folder_or_pattern_without_a_model_is_refused(folder: Path, name: str) -> None:
    (folder / "empty").mkdir()
    ended = lint(folder, name)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert name in ended.stderr


def test_several_models_are_summed(folder: Path) -> None:
    ended = lint(folder, ".", "--json")
    document = json.loads(ended.stdout)
    nodes = [node for entry in document["models"] for node in entry["nodes"]]
    totals = document["totals"]
    assert totals["models"] == {"meets": 0, "unknown": 0, "violates": 2}
    assert totals["models_without_clip"] == 1
    assert totals["nodes"]["violates"] == len(nodes) == 10
    lacking = [n for n in nodes if len(n["findings"]) == 1 and "R4" in n["findings"][0]["rules"]]
    assert totals["nodes_that_lack_declarations_only"] == len(lacking) == 3
    assert "3 models: 2 violate a restriction" in lint(folder, ".").stdout


def test_missing_declaration_is_one_finding_of_three_rules(tmp_path: Path) -> None:
    neg = helper.make_node("Neg", ["X"], ["Z"])
    proto = model(graph(neg, clip("Z", "L", "M")))
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    (entry,) = json.loads(lint(tmp_path, "model.onnx", "--json").stdout)["models"]
    (node,) = entry["nodes"]
    (finding,) = node["findings"]
    assert finding["rules"] == ["R4", "R5", "element_types"]
    verdicts = {rule["id"]: rule["verdict"] for rule in node["restrictions"]}
    assert [verdicts[rule] for rule in finding["rules"]] == ["violates", "unknown", "unknown"]
    assert finding["message"] == "shape and element type of X 'Z' are not declared"
    (log,) = json.loads(lint(tmp_path, "model.onnx", "--format", "sarif").stdout)["runs"]
    (result,) = log["results"]
    assert finding["message"] in result["message"]["text"]


def test_rules_are_selected_and_ignored(folder: Path) -> None:
    everything = lint(folder, "a.onnx", "--json")
    for options in (["--select", "R1"], ["--ignore", "R2,R3,R4,R5,scalar_bounds,element_types,C1"]):
        ended = lint(folder, "a.onnx", "--json", *options)
        document = json.loads(ended.stdout)
        verdicts = [node["verdict"] for node in document["models"][0]["nodes"]]
        expected = [
            node["restrictions"][0]["verdict"]
            for node in json.loads(everything.stdout)["models"][0]["nodes"]
        ]
        assert verdicts == expected
        assert document["models"][0]["root_causes"] == []
        assert "R4" in document["ignored"]
    assert lint(folder, "a.onnx", "--select", "C1").returncode == 0
    assert "R4" in lint(folder, "a.onnx", "--select", "C1").stdout


def test_rule_that_is_judged_alone_has_a_remedy(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[2] X, float A, float B) => (float[2] Y)
    { L = Identity (A) M = Identity (B) Y = Clip (X, L, M) }"""
    (tmp_path / "model.onnx").write_bytes(parser.parse_model(text).SerializeToString())
    ended = lint(tmp_path, "model.onnx", "--json", "--select", "scalar_bounds")
    (node,) = json.loads(ended.stdout)["models"][0]["nodes"]
    (finding,) = node["findings"]
    assert "R4" in finding["remedy"]


def test_unknown_rule_is_refused_with_the_nearest(folder: Path) -> None:
    ended = lint(folder, "a.onnx", "--ignore", "scalar_bound")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "did you mean scalar_bounds?" in ended.stderr


def test_exit_zero_hides_findings_but_no_error(folder: Path) -> None:
    assert lint(folder, ".", "--exit-zero").returncode == 0
    (folder / "junk.onnx").write_bytes(b"junk")
    assert lint(folder, ".", "--exit-zero").returncode == 2


def test_statistics_count_nodes_by_rule(folder: Path) -> None:
    rows = [line.split() for line in lint(folder, ".", "--statistics").stdout.splitlines()]
    counts = {row[3]: row[:3] for row in rows if len(row) == 4}
    document = json.loads(lint(folder, ".", "--json").stdout)
    expected = {
        rule: [str(count[key]) for key in ("violates", "unknown", "models")]
        for rule, count in document["totals"]["rules"].items()
    }
    assert expected.items() <= counts.items()
    assert "R4" in expected


def test_seven_unlike_nodes_fit_on_a_screen(tmp_path: Path) -> None:
    stored_names = ["L", "M"]
    calls = [("X", low, high) for low in ("", *stored_names) for high in ("", *stored_names)][:7]
    nodes = [
        clip(*inputs, out=f"Y{number}", name=f"c{number}") for number, inputs in enumerate(calls)
    ]
    outputs = [value(f"Y{number}", [2, 3]) for number in range(7)]
    proto = model(graph(*nodes, outputs=outputs))
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    ended = lint(tmp_path, "model.onnx")
    assert all(f"'c{number}'" in ended.stdout for number in range(7))
    assert len(ended.stdout.splitlines()) <= 40


def test_quiet_leaves_out_models_without_a_finding(folder: Path) -> None:
    ended = lint(folder, "--quiet", ".")
    assert "plain.onnx" not in ended.stdout
    assert "a.onnx" in ended.stdout
