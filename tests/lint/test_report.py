"""Text and JSON of the reports, and the command that prints them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from onnx import helper, numpy_helper
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.explain.triple import explain_triple
from sonnx_clip.language import encode
from sonnx_clip.lint import json_parts, to_text
from sonnx_clip.lint.verdict import BatchRun
from sonnx_clip.root.dtypes import from_bits
from sonnx_clip.spec import load_spec
from tests import command
from tests.lint.build import clip, lint, model, parsed, scalar, value
from tests.lint.build import graph as build_graph

MODELS = Path(__file__).parent.parent / "models"
RELU6 = MODELS / "relu6_op11.onnx"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app.app, ["lint", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def saved(folder: Path, name: str, *nodes: object) -> Path:
    path = folder / name
    path.write_bytes(model(build_graph(*nodes)).SerializeToString())
    return path


def test_root_cause_and_command_come_first_and_once(tmp_path: Path) -> None:
    nodes = [clip("X", "", "M", out="A", name=""), clip("A", "", "M")]
    dynamic = [value(name, ["N", 3]) for name in "XY"]
    report = lint(tmp_path, model(build_graph(*nodes, inputs=dynamic[:1], outputs=dynamic[1:])))
    lines = to_text(report).splitlines()
    assert lines[1].startswith(
        "  root cause: input 'X' is dynamic, [N, 3]: the shapes of 2 Clip nodes are"
    )
    assert sum("root cause:" in line for line in lines) == 1
    (command,) = [line.strip() for line in lines if line.startswith("  to normalise: ")]
    assert f"{tmp_path}/model.onnx -o " in command
    assert "--input-shape 'X=?,3'" in command
    assert "--assume finite" in command
    assert any("see the root cause" in line for line in lines)


def test_command_names_only_inputs_on_which_a_clip_depends(tmp_path: Path) -> None:
    text = (
        "main (float[N] X, float[K] Z) => (float[N] Y, float[K] W) <float L = {0}, float M = {6}>"
        " { Y = Clip(X, L, M) W = Neg(Z) }"
    )
    report = lint(tmp_path, parsed(text))
    assert [cause.tensor for cause in report.causes] == ["X"]
    assert report.command is not None
    assert "Z=" not in report.command


STOPS = (
    "main (float[N] X) => (float[K] Y) <float L = {0}, float M = {6}> { A = Neg(X)"
    " B = NonZero(A) C = Cast <to = 1> (B) D = Squeeze(C) Y = Clip(D, L, M) }"
)


def test_command_is_not_offered_where_no_size_helps(tmp_path: Path) -> None:
    """How many entries are not zero is not known before the model runs."""
    report = lint(tmp_path, parsed(STOPS))
    assert "--input-shape" not in (report.command or "")
    assert any("inference stops at NonZero, node 1" in cause.message for cause in report.causes)


def test_node_where_inference_stops_is_named(tmp_path: Path) -> None:
    report = lint(tmp_path, parsed(STOPS.replace("[N] X", "[4] X")))
    (cause,) = report.causes
    assert "inference stops at NonZero, node 1" in cause.message


def test_place_of_a_size_is_no_size(tmp_path: Path) -> None:
    path = saved(tmp_path, "model.onnx", clip())
    ended = command.run("normalise", str(path), "--dry-run", "--input-shape", "X=?,3", cwd=tmp_path)
    assert ended.returncode == 2
    assert "in the place of each ?" in ended.stderr


@pytest.mark.parametrize(
    ("low", "high", "note"),
    [
        (1.0, float("nan"), "the bound M is NaN"),
        (2.0, 1.0, "L = 2 is above M = 1: every result is M"),
        (-0.0, 0.0, None),
    ],
)
def test_stored_bounds_are_shown_and_surprising_ones_noted(
    tmp_path: Path, low: float, high: float, note: str | None
) -> None:
    report = lint(tmp_path, model(build_graph(stored=[scalar("L", low), scalar("M", high)])))
    text = to_text(report)
    assert f"bounds: L = {low:g}, M = {high:g}" in text
    assert (note in text) if note else ("note:" not in text)
    (node,) = json.loads("".join(json_parts(BatchRun((report,), ()))))["models"][0]["nodes"]
    assert node["bounds"] == {"L": f"{low:g}", "M": f"{high:g}"}
    assert (node["note"] is None) == (note is None)


@pytest.mark.parametrize(
    ("type_id", "number"),
    [
        ("float16", "65504"), ("float16", "0.1"), ("bfloat16", "2147483648"), ("float32", "2147483648"),
        ("float32", "0.1"), ("float32", "highest"), ("float32", "-0"), ("float64", "9007199254740992"),
        ("float64", "0.1"), ("float64", "inf"),
    ],
)  # fmt: skip
def test_bound_has_the_digits_that_explain_prints(
    tmp_path: Path, type_id: str, number: str
) -> None:
    etype = load_spec().element_type(type_id)
    bound = numpy_helper.from_array(from_bits(encode(number, etype), type_id), "M")
    report = lint(tmp_path, model(build_graph(stored=[scalar("L", -7.0), bound])))
    explained = explain_triple(load_spec(), type_id, "0", "-7", number).max.decimal
    assert f"bounds: L = -7, M = {explained}\n" in to_text(report)


def test_attribute_has_the_digits_of_a_float32(tmp_path: Path) -> None:
    old = model(build_graph(clip("X", min=0.1, max=16777216.0), stored=[]), opset=6)
    text = to_text(lint(tmp_path, old))
    assert "the bound is the attribute min = 0.1" in text
    assert "the bound is the attribute max = 16777216" in text


def test_names_with_control_characters_stay_on_their_line(tmp_path: Path) -> None:
    text = to_text(lint(tmp_path, model(build_graph(clip(name="a\n    meets R1\x1b[31m")))))
    assert "'a\\n    meets R1\\x1b[31m'" in text
    assert "\x1b" not in text


def test_model_without_clip_is_not_reported_as_met(tmp_path: Path) -> None:
    path = saved(tmp_path, "plain.onnx", helper.make_node("Neg", ["X"], ["Y"]))
    status, out, _ = run(path)
    assert (status, out) == (0, f"{path} (opset ai.onnx 13): no Clip node, so nothing was judged\n")
    document = json.loads(run(path, "--format", "json")[1])
    assert document["models"][0]["verdict"] == "no Clip node"
    assert document["models"][0]["nodes"] == []


def test_accepted_inference_is_reported(tmp_path: Path) -> None:
    path = saved(tmp_path, "neg.onnx", helper.make_node("Neg", ["X"], ["Z"]), clip("Z", "L", "M"))
    assert run(path)[0] == 1
    status, out, _ = run(path, "--accept-inferred")
    assert status == 0
    assert "inferred shapes and types accepted" in out


def test_json_of_several_models_is_one_document(tmp_path: Path) -> None:
    good, broken = saved(tmp_path, "good.onnx"), tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    status, out, err = run(RELU6, broken, good, "--format", "json")
    document = json.loads(out)
    assert status == 2
    assert [Path(entry["model"]).name for entry in document["models"]] == [
        "relu6_op11.onnx",
        "good.onnx",
    ]
    assert [entry["verdict"] for entry in document["models"]] == ["violates", "meets"]
    assert [Path(entry["model"]).name for entry in document["errors"]] == ["broken.onnx"]
    assert err.startswith(f"error: {broken}: not an ONNX model")
    node = document["models"][0]["nodes"][2]
    assert (node["name"], node["operator"], node["graph"]) == (
        "/Clip",
        "Clip-11",
        "graph 'main_graph'",
    )
    assert list(node["tensors"].items())[1:3] == [("L", "/Constant_output_0"), ("M", None)]
    assert node["restrictions"][1]["problems"][0]["remedy"].startswith("normalise --assume finite")
