"""`check` judges runtimes of the toy operators as it does those of Clip: real ones, and planted ones."""

import json

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.operator import Operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.oracle.evaluated import evaluated_oracle
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from tests.command import run
from tests.meta.judged import require_repeated
from tests.toy.toys import FOLDER, spec_of

# What the runtimes do: max(0, x) may return either zero, and of two equal zeros a maximum may take any.
FOUND = {
    ("relu", "onnxruntime"): {},
    ("relu", "onnx-reference"): {"kept_zero": "X=-0: got 0, expected -0"},
    ("max", "onnxruntime"): {"first_tie": "U=0 W=-0: got -0, expected 0"},
    ("max", "onnx-reference"): {"first_tie": "U=0 W=-0: got -0, expected 0"},
    ("max", "numpy:maximum"): {"first_tie": "U=0 W=-0: got -0, expected 0"},
}
RELU = "tests.toy.wrong_toys:relu"
WHICH_NAN = "U=nan W=-nan: got -nan, expected nan"
WRONG = {
    "relu_drops_nan": ("float32", "kept_nan", "X=nan: got 0, expected nan"),
    "max_without_the_last": ("int32", "second_number", "got"),
}


def checked(toy, runtime, *types):
    return run_campaign(CheckOptions(runtime, types, of=Operator(toy.spec, toy.oracle())))


def by_command(spec, *options):
    return run("check", "--operator", *map(str, (spec, *options)), cwd=repo_root())


def named(function):
    return f"tests.toy.wrong_toys:{function}"


def violated(report):
    return {
        c.id: c.deviations[0]
        for one in report.types
        for c in one.classes
        if c.verdict == "violates"
    }


@pytest.mark.parametrize(
    ("name", "runtime"),
    [
        pytest.param(
            *of, marks=() if of[1] == "onnxruntime" else pytest.mark.nightly, id="-".join(of)
        )
        for of in FOUND
    ],
)
def test_command_gives_verdicts_on_real_runtimes(name, runtime, tmp_path):
    pytest.importorskip(
        {"onnxruntime": "onnxruntime", "onnx-reference": "onnx"}.get(runtime, "numpy")
    )
    spec, file = spec_of(name), tmp_path / "report.json"
    done = by_command(spec.path, "--runtime", runtime, "--jobs", 1, "-o", file)
    report = Report.model_validate_json(file.read_text(encoding="utf-8"))
    assert done.returncode == int(report.failed), done.stderr
    found = {id_: deviation.shown for id_, deviation in violated(report).items()}
    assert all(klass.id in done.stdout for klass in spec.classes)
    assert all(shown in done.stdout for shown in found.values())
    # Which of two NaNs is returned may depend on the processor and on the length.
    assert found.pop("first_nan", WHICH_NAN) == WHICH_NAN
    assert found == FOUND[name, runtime]
    assert {one.type for one in report.types} == {etype.id for etype in spec.element_types}
    assert {one.verdict for one in report.types} <= {"conforms", "violates"}
    assert report.spec_sha256 == spec.digest


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--runtime", "sonnx"], "supports only Clip"),
        (["--runtime", RELU, "--against", "onnx-6"], "add the section `dialects`"),
        (["--runtime", RELU, "--scheduler", "tcp://localhost:1"], "workers have no"),
        (["--runtime", RELU, "--dtype", "int16"], "int16"),
    ],
)
def test_option_that_another_operator_lacks_is_refused(options, words):
    done = by_command(FOLDER / "relu.yaml", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_code_in_a_specification_is_not_executed(tmp_path):
    trap, file = tmp_path / "executed", tmp_path / "relu.yaml"
    code = f'a"""; open({str(trap)!r}, "w")  #\\'
    text = (FOLDER / "relu.yaml").read_text(encoding="utf-8")
    planted = text.replace("title: X is negative", f"title: {json.dumps(code)}")
    assert planted != text
    file.write_text(planted, encoding="utf-8")
    done = by_command(file, "--runtime", RELU, "--dtype", "int8", "--brief")
    assert (done.returncode, trap.exists()) == (0, False), done.stderr


def test_correct_runtime_conforms_in_every_class(toy):
    report = checked(
        toy, named({"relu": "relu", "max": "first_max"}[toy.spec.signature.function]), "float32"
    )
    assert not report.failed
    assert all(c.verdict == "conforms" for one in report.types for c in one.classes)
    assert report.compared > 30_000


@pytest.mark.parametrize("function", WRONG)
def test_deviation_is_found_with_a_reproducer(function):
    dtype, klass, shown = WRONG[function]
    spec = spec_of(function.partition("_")[0])
    of = Operator(spec, evaluated_oracle(spec))
    first = violated(run_campaign(CheckOptions(named(function), [dtype], of=of)))[klass]
    assert shown in first.shown
    require_repeated(first)


def test_function_of_other_operands_is_refused(toy):
    other = "first_max" if toy.spec.signature.function == "relu" else "relu"
    with pytest.raises(UserError, match=r"cannot be called with \([xu]"):
        checked(toy, named(other), "int8")
