"""`lint --fusions`: rewrites in use that would change values of a model."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command import run

onnx = pytest.importorskip("onnx")


def listed(tmp_path, text, **constants):
    """The rewrites that would be wrong in a model of some text: node, rewrite."""
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 14]> {text}')
    for name, value in constants.items():
        tensor = onnx.numpy_helper.from_array(np.array(value, np.float32), name)
        proto.graph.initializer.append(tensor)
    file = tmp_path / "model.onnx"
    onnx.save(proto, file)
    done = run("lint", "--fusions", str(file), "--json", cwd=Path.cwd())
    found = json.loads(done.stdout)["models"][str(file)]
    assert done.returncode == bool(found)
    return {one["rewrite"]: one for one in found}


TWO = "g (float[4] x) => (float[4] y) { c = Clip (x, a, b)\n y = Clip (c, low, high) }"
AFTER = "g (float[4] x) => (float[4] y) { c = Clip (x, a, b)\n y = Relu (c) }"
BEFORE = "g (float[4] x) => (float[4] y) { c = Relu (x)\n y = Clip (c, a, b) }"


def test_disjoint_clips_are_named_with_both_results(tmp_path):
    found = listed(tmp_path, TWO, a=0, b=1, low=2, high=3)["clip-clip-by-max-min"]
    assert found["differs"]["before"]["decimal"] == "2"
    assert found["differs"]["after"]["decimal"] == "1"
    assert any("onnxscript" in seen for seen in found["seen"])


def test_rewrite_of_two_clips_is_listed_once(tmp_path):
    listed(tmp_path, TWO, a=0, b=1, low=2, high=3)
    done = run("lint", "--fusions", str(tmp_path / "model.onnx"), cwd=Path.cwd())
    assert done.stdout.count("by clip-clip-by-max-min") == 1


def test_overlapping_clips_and_relu6_have_no_illegal_rewrite(tmp_path):
    assert "clip-clip-by-max-min" not in listed(tmp_path, TWO, a=0, b=2, low=1, high=3)
    assert "clip-relu-by-max-of-min" not in listed(tmp_path, AFTER, a=0, b=6)
    assert "relu-clip-by-negative-min" not in listed(tmp_path, BEFORE, a=0, b=6)


def test_negative_max_before_relu_and_nan_after_it(tmp_path):
    assert "clip-relu-by-max-of-min" in listed(tmp_path, AFTER, a=-2, b=-1)
    found = listed(tmp_path, BEFORE, a=np.nan, b=1)
    assert "relu-clip-by-negative-min" in found


def test_neighbour_that_cannot_be_removed_is_not_fused(tmp_path):
    nodes = "c = Relu (x)\n z = Neg (c)\n y = Clip (c, a, b)"
    read_twice = f"g (float[4] x) => (float[4] y, float[4] z) {{ {nodes} }}"
    result = "g (float[4] x) => (float[4] y, float[4] c) { c = Relu (x)\n y = Clip (c, a, b) }"
    assert "relu-clip-by-negative-min" not in listed(tmp_path, read_twice, a=np.nan, b=1)
    assert "relu-clip-by-negative-min" not in listed(tmp_path, result, a=np.nan, b=1)


def test_text_names_the_project_and_the_page(tmp_path):
    file = Path("tests/models/ch_ppocr_mobile_v2.0_cls_infer.onnx")
    done = run("lint", "--fusions", str(file), cwd=Path.cwd())
    assert (done.returncode, "0 rewrites in use would be wrong" in done.stdout) == (0, True)
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"garbage")
    done = run("lint", "--fusions", str(bad), cwd=Path.cwd())
    assert done.returncode == 2
    assert "not an ONNX model" in done.stderr
