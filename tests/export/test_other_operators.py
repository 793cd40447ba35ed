"""The exports of every operator but Clip: vectors, C, and test directories that runtimes execute."""

import json
import shlex
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from sonnx_clip.conform.operator import operator_named
from sonnx_clip.export.write_export import write_export
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.operators import known_operators
from tests.command import run

OTHERS = [name for name in known_operators() if name != "clip"]
TYPES = ("float32", "int8")


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """The folder of an export, by operator and format."""
    made = {}

    def export(name, form):
        if (name, form) not in made:
            folder = tmp_path_factory.mktemp(f"{name}-{form}") / "vectors"
            write_export(operator_named(name), form, folder, TYPES)
            made[name, form] = folder
        return made[name, form]

    return export


FUNCTIONS = {
    "max": np.maximum,
    "min": np.minimum,
    "relu": lambda x: np.where(x < 0, x.dtype.type(0), x),
    "abs": np.abs,
    "neg": np.negative,
    "identity": np.copy,
}


@pytest.mark.parametrize("name", OTHERS)
def test_numpy_agrees_with_every_table(name, exports):
    operator = operator_named(name)
    second = [operand.key for operand in operator.spec.signature.operands[1:]]
    for type_id in TYPES:
        with np.load(exports(name, "npz") / f"{type_id}.npz") as arrays:
            for table in arrays["tables"]:
                operands = [arrays[f"{table}_{key}"].view(type_id) for key in ("pool", *second)]
                assert len({operand.shape for operand in operands}) == 1
                with np.errstate(invalid="ignore"):
                    found = FUNCTIONS[name](*operands)
                due = arrays[f"{table}_expected"][0].view(type_id)
                assert np.array_equal(found, due, equal_nan=type_id == "float32")
                assert arrays[f"{table}_pool"].size >= 10
                least = np.iinfo("int8").min
                if type_id == "int8" and name in ("abs", "neg"):
                    assert least not in operands[0]  # there the operator is not defined
                elif type_id == "int8":
                    assert least in operands[0]


def test_json_has_the_vectors_that_generate_writes(exports, tmp_path):
    folder = exports("max", "json")
    done = run("generate", "--operator", "max", "--into", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for file in ("float32.json", "schema.json"):
        rendered = tmp_path / "made/generated/vectors" / file
        assert (folder / file).read_bytes() == rendered.read_bytes()


@pytest.mark.parametrize("name", OTHERS)
def test_manifest_names_operands_and_classes(name, exports):
    told = manifest(exports(name, "npz"))
    spec = operator_named(name).spec
    assert (told["operator"], told["spec_sha256"]) == (spec.operator, spec.digest)
    assert [one["id"] for one in told["classes"]] == [one.id for one in spec.classes]
    shown = list(spec.signature.shown)
    assert all(list(one["example"]) == shown for one in told["classes"])
    assert ("domain" in told) == bool(spec.domain)


IN_C = {
    "max": "u[i] > w[i] ? u[i] : w[i]",
    "min": "u[i] < w[i] ? u[i] : w[i]",
    "relu": "x[i] < 0 ? 0 : x[i]",
    "abs": "x[i] < 0 ? -x[i] : x[i]",
    "neg": "-x[i]",
    "identity": "x[i]",
}
WRONG_IN_C = {
    "max": "u[i]",
    "min": "u[0]",
    "relu": "x[i]",
    "abs": "x[0]",
    "neg": "~x[i]",
    "identity": "1",
}


@pytest.mark.parametrize("name", OTHERS)
def test_vectors_in_c_accept_a_right_function_and_find_a_wrong_one(name, exports, tmp_path):
    if not shutil.which("cc"):
        pytest.skip("cc is not installed")
    folder = tmp_path / "vectors"
    shutil.copytree(exports(name, "c-header"), folder)
    (line,) = (one["compile"] for one in manifest(folder)["types"] if one["type"] == "int8")
    tensors = "".join(
        f", const int8_t *{o.key}" for o in operator_named(name).spec.signature.operands
    )
    for body, status in ((IN_C[name], 0), (WRONG_IN_C[name], 1)):
        (folder / f"my_{name}.c").write_text(
            "#include <stddef.h>\n#include <stdint.h>\n"
            f"void my_{name}(int8_t *y{tensors}, size_t n)\n"
            f"{{ for (size_t i = 0; i < n; i++) y[i] = (int8_t)({body}); }}\n"
        )
        command = [
            *shlex.split(line),
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-pedantic",
            "-Werror",
        ]
        subprocess.run(command, cwd=folder, check=True)
        done = subprocess.run([folder / "a.out"], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout
        assert ("wrong: " in done.stdout) == bool(status)


def executed(folder, directory, open_model):
    """Whether a runtime returns what the data sets of a directory expect; one NaN equals another."""
    function = open_model((folder / directory["directory"] / "model.onnx").read_bytes())
    results = []
    for number in range(directory["data_sets"]):
        data = folder / directory["directory"] / f"test_data_set_{number}"
        inputs = {}
        for file in sorted(data.glob("input_*.pb")):
            tensor = onnx.load_tensor(file)
            inputs[tensor.name] = numpy_helper.to_array(tensor)
        due = numpy_helper.to_array(onnx.load_tensor(data / "output_0.pb"))
        found = np.asarray(function(inputs))
        same = found.dtype == due.dtype and found.shape == due.shape
        results.append(same and np.array_equal(found, due, equal_nan=due.dtype.kind == "f"))
    return all(results) and bool(results)


def by_onnxruntime(model):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)[0]


def by_reference(model):
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return lambda inputs: evaluator.run(None, inputs)[0]


def by_first_input(model):
    del model
    return lambda inputs: next(iter(inputs.values()))


@pytest.mark.parametrize("name", OTHERS)
def test_directories_pass_the_checker_and_two_runtimes(name, exports):
    folder = exports(name, "onnx-backend")
    directories = manifest(folder)["directories"]
    classes = {one.id for one in operator_named(name).spec.classes_of("float")}
    assert classes <= {one["about"] for one in directories if one["type"] == "float32"}
    ranks = {one["form"]["rank"] for one in directories}
    assert ranks == {0, 1, 2, 3, 4}
    for directory in directories:
        model = folder / directory["directory"] / "model.onnx"
        onnx.checker.check_model(onnx.load(model), full_check=True)
        assert executed(folder, directory, by_reference), directory
        assert executed(folder, directory, by_onnxruntime), directory


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "identity"])
def test_directories_find_a_runtime_that_returns_its_first_input(name, exports):
    folder = exports(name, "onnx-backend")
    wrong = [
        one for one in manifest(folder)["directories"] if not executed(folder, one, by_first_input)
    ]
    assert {"form", "special_values", "lengths"} <= {one["about"] for one in wrong}


def test_second_operand_is_an_input_and_a_constant_that_is_broadcast(exports):
    forms = [one["form"] for one in manifest(exports("max", "onnx-backend"))["directories"]]
    assert {form["bounds"] for form in forms} == {"inputs", "initializers", "Constant nodes"}
    forms = [one["form"] for one in manifest(exports("abs", "onnx-backend"))["directories"]]
    assert {form["bounds"] for form in forms} == {"inputs"}


def test_relu_of_integers_begins_in_operator_set_14(exports):
    directories = manifest(exports("relu", "onnx-backend"))["directories"]
    for type_id, first in (("float32", 13), ("int8", 14)):
        opsets = [one["form"]["opset"] for one in directories if one["type"] == type_id]
        assert min(opsets) == first


def test_operator_that_onnx_lacks_is_one_message(tmp_path):
    text = repo_file("spec/identity.yaml").read_text(encoding="utf-8")
    text = text.replace("operator: Identity", "operator: Same").replace("identity(X)", "same(X)")
    (tmp_path / "same.yaml").write_text(text, encoding="utf-8")
    options = ("--operator", "./same.yaml", "--dtype", "int8")
    assert run("export", "npz", "-o", "npz", *options, cwd=tmp_path).returncode == 0
    done = run("export", "onnx-backend", "-o", "out", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "no operator Same" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
