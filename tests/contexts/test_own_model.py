"""`check --model`: the Clips of a user's model, cut out with their neighbours."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.command import run as run_in

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
ROOT = Path(__file__).parents[2]
OPTIMISERS = "tests.contexts.planted_optimisers"


def run(*arguments):
    return run_in("check", *arguments, cwd=ROOT)


def report(*arguments):
    done = run(*arguments, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def model(tmp_path):
    """Save a model of some text, with constants, and return its path."""

    def save(text, dtype=np.float32, **constants):
        proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 13]> {text}')
        for name, value in constants.items():
            tensor = onnx.numpy_helper.from_array(np.array(value, dtype), name)
            proto.graph.initializer.append(tensor)
        file = tmp_path / "model.onnx"
        onnx.save(proto, file)
        return str(file)

    return save


RELU_CLIP = "g (float[2, 8] x) => (float[2, 8] y) { r = Relu (x)\n y = Clip (r, low, high) }"


def test_windows_of_a_public_model_are_merged_and_agree():
    file = ROOT / "tests/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
    status, found = report(
        "--runtime", "onnxruntime", "--model", str(file), "--input-shape", "x=1,3,48,192"
    )
    assert status == 0
    windows = found["windows"]
    assert sum(len(window["clips"]) for window in windows) == 18 > len(windows)
    assert not found["left_out"]
    assert all(window["chain"] == "Add, Clip(0, 6), Mul, Div" for window in windows)
    assert all(window["compared"] and not window["deviations"] for window in windows)
    assert all("X = -0" in window["not_reached"] for window in windows)  # X + 3 is never -0
    assert all("high_tie" not in window["not_reached"] for window in windows)


def test_wrong_optimiser_is_found_in_the_own_model(model, tmp_path):
    file = model(RELU_CLIP, low=-1, high=1)
    status, found = report("--runtime", "onnxruntime", "--model", file)
    assert (status, found["windows"][0]["deviations"]) == (0, [])
    folder = tmp_path / "again"
    status, found = report(
        "--optimiser", f"{OPTIMISERS}:drops_relu", "--model", file, "--repro", str(folder)
    )
    assert status == 1
    first = found["windows"][0]["deviations"][0]
    assert first["kind"] == "value"
    assert first["plain"] == first["one_by_one"] != first["got"]
    environment = {"PYTHONPATH": str(ROOT)}
    again = subprocess.run(
        ["sh", "again.sh"], cwd=folder, capture_output=True, text=True, env=environment, check=True
    )
    assert float(again.stdout) == float(first["got"].split()[0])


def test_fusion_that_loses_a_nan_is_found(model):
    file = model(RELU_CLIP, low=np.nan, high=1)
    status, found = report("--runtime", "onnxruntime", "--model", file)
    assert status == 1
    assert {one["kind"] for one in found["windows"][0]["deviations"]} == {"value"}


KERNELS = {
    "1×1": ("group = 1", (4, 3, 1, 1)),
    "1×1, every second": ("group = 1, strides = [2, 2]", (4, 3, 1, 1)),
    "depthwise": ("group = 3, pads = [1, 1, 1, 1]", (3, 1, 3, 3)),
    "depthwise, apart": ("group = 3, pads = [2, 2, 2, 2], dilations = [2, 2]", (3, 1, 3, 3)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_nan_reaches_a_clip_behind_a_convolution(model, kernel, tmp_path):
    attributes, shape = KERNELS[kernel]
    text = f"""g (float[1, 3, 14, 14] x) => (float[1, n, h, w] y)
    {{ c = Conv <{attributes}> (x, weight)\n y = Clip (c, low, high) }}"""
    weight = np.random.default_rng(0).normal(size=shape)
    file = model(text, weight=weight, low=0, high=6)
    status, found = report("--runtime", "onnxruntime", "--model", file)
    assert (status, found["windows"][0]["not_reached"]) == (0, ["X = -0"])
    folder = tmp_path / "again"
    status, found = report(
        "--optimiser", f"{OPTIMISERS}:compares_behind_conv", "--model", file, "--repro", str(folder)
    )
    assert status == 1
    first = found["windows"][0]["deviations"][0]
    assert (first["got"], first["one_by_one"][:3]) == ("0 (0x00000000)", "nan")
    again = subprocess.run(
        ["sh", "again.sh"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert float(again.stdout) == 0


@pytest.mark.parametrize(("optimiser", "due"), [("rounds_a_little", 0), ("rounds_too_much", 1)])
def test_eight_units_in_the_last_place_are_rounding(model, optimiser, due):
    text = "g (float16[64] x) => (float16[64] y) { a = Neg (x)\n y = Clip (a, low, high) }"
    file = model(text, np.float16, low=-1.75, high=1.75)
    status, _ = report("--optimiser", f"{OPTIMISERS}:{optimiser}", "--model", file)
    assert status == due


@pytest.mark.parametrize("kernel", [(4, 3, 1, 1), (4, 3, 3, 3)])
def test_lost_bound_behind_a_convolution_of_float16_is_found(model, kernel):
    text = """g (float16[1, 3, 8, 8] x) => (float16[1, 4, h, w] y)
    { c = Conv (x, weight)\n y = Clip (c, low, high) }"""
    weight = np.random.default_rng(0).normal(size=kernel)
    file = model(text, np.float16, weight=weight, low=0, high=6)
    assert report("--runtime", "onnxruntime", "--model", file)[0] == 0
    status, _ = report("--optimiser", f"{OPTIMISERS}:loses_max_behind_conv", "--model", file)
    assert status == 1


def test_factor_of_each_channel_hides_no_nan(model):
    text = """g (float[1, 3, 8, 8] x, float[1, 3, 1, 1] s) => (float[1, 3, 8, 8] y)
    { c = Conv <group = 3, pads = [1, 1, 1, 1]> (x, weight)\n d = Clip (c, low, high)\n y = Mul (d, s) }"""
    weight = np.random.default_rng(0).normal(size=(3, 1, 3, 3))
    file = model(text, weight=weight, low=0, high=6)
    assert report("--runtime", "onnxruntime", "--model", file)[0] == 0
    status, found = report("--optimiser", f"{OPTIMISERS}:compares_behind_conv", "--model", file)
    assert status == 1
    assert found["windows"][0]["deviations"][0]["one_by_one"].startswith("nan")


def test_kernel_that_adds_up_is_not_fed_with_nan(model):
    text = """g (float[1, 3, 8, 8] x) => (float[1, 4, 6, 6] y)
    { c = Conv (x, weight)\n y = Clip (c, low, high) }"""
    weight = np.random.default_rng(0).normal(size=(4, 3, 3, 3))
    status, found = report(
        "--runtime", "onnxruntime", "--model", model(text, weight=weight, low=0, high=6)
    )
    assert status == 0
    assert "inside_nan" in found["windows"][0]["not_reached"]


def test_bounds_of_every_clip_of_a_window_are_shown(model):
    text = """g (float[8] x) => (float[8] y)
    { a = Clip (x, zero, six)\n b = Neg (a)\n y = Clip (b, low, zero) }"""
    status, found = report(
        "--runtime", "onnxruntime", "--model", model(text, zero=0, six=6, low=-1)
    )
    assert status == 0
    chains = [window["chain"] for window in found["windows"]]
    assert chains == ["Clip(0, 6), Neg, Clip(-1, 0)", "Neg, Clip(-1, 0)"]


def test_clip_that_is_read_twice_and_one_of_attributes(model, tmp_path):
    text = """g (float[4] x) => (float[4] y, float[4] z)
    { a = Add (x, three)\n c = Clip (a, low, high)\n y = Mul (x, c)\n z = Neg (c) }"""
    status, found = report(
        "--runtime", "onnxruntime", "--model", model(text, three=3, low=0, high=6)
    )
    assert status == 0
    assert found["windows"][0]["chain"] == "Add, Clip(0, 6), Mul, Neg"
    old = tmp_path / "old.onnx"
    text = "g (float[4] x) => (float[4] y) { r = Neg (x)\n y = Clip <min = 0.0, max = 6.0> (r) }"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 5, opset_import: ["": 10]> {text}'), old)
    status, found = report("--runtime", "onnxruntime", "--model", str(old))
    assert status == 0
    assert found["windows"][0]["chain"] == "Neg, Clip(0, 6)"


def test_bounds_in_constant_nodes_of_numbers_are_seen(model):
    text = """g (float[4] x) => (float[4] y) { low = Constant <value_float: float = 0.0> ()
    high = Constant <value_float: float = 6.0> ()\n r = Relu (x)\n y = Clip (r, low, high) }"""
    status, found = report("--runtime", "onnxruntime", "--model", model(text))
    assert status == 0
    assert found["windows"][0]["chain"] == "Relu, Clip(0, 6)"


def test_unknown_shape_is_said_and_can_be_given(model):
    text = RELU_CLIP.replace("[2, 8]", "[n, 8]")
    file = model(text, low=0, high=1)
    done = run("--runtime", "onnxruntime", "--model", file)
    assert done.returncode == 1
    assert "--input-shape" in done.stdout
    assert (
        run("--runtime", "onnxruntime", "--model", file, "--input-shape", "x=2,8").returncode == 0
    )


WRONG = {
    "no such file": (lambda path: str(path / "none.onnx"), "none.onnx"),
    "garbage": (lambda path: _written(path, b"garbage"), "not an ONNX model"),
    "empty": (lambda path: _written(path, b""), "empty"),
}


def _written(path, data):
    file = path / "bad.onnx"
    file.write_bytes(data)
    return str(file)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_gets_one_message(tmp_path, name):
    make, named = WRONG[name]
    done = run("--runtime", "onnxruntime", "--model", make(tmp_path))
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_without_clip_and_wrong_options_get_one_message(model):
    file = model("g (float[4] x) => (float[4] y) { y = Relu (x) }")
    cases = {
        ("--runtime", "onnxruntime", "--model", file): "no Clip",
        ("--runtime", "numpy", "--model", file): "no Clip",
        ("--runtime", "onnxruntime", "--model", file, "--contexts"): "--model",
        ("--runtime", "onnxruntime", "--model", file, "--input-shape", "x=?"): "?",
    }
    for arguments, named in cases.items():
        done = run(*arguments)
        assert done.returncode == 2
        assert named in done.stderr
