"""Real runtimes compared with every Clip that ONNX has had."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.conform.dialect_report import DialectReport, dialect_oracle_digest, rows_of
from sonnx_clip.conform.dialects import compare_dialects, dialect_forms, known_obligations
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.opsets import clip_version, newest_opset
from sonnx_clip.spec import load_spec

SPEC = load_spec()


def run(*arguments):
    return CliRunner().invoke(app, ["check", "--against", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def onnxruntime_report():
    return compare_dialects("onnxruntime", [6, 11, 13], ["float16", "float32", "float64", "int16"])


@pytest.fixture(scope="module")
def reference_report():
    return compare_dialects("onnx-reference", [1, 6, 13], ["float32", "int64", "bfloat16"])


def verdicts(report, opset, dtype):
    return {c.form: c.verdict for c in report.cells if (c.opset, c.type) == (opset, dtype)}


def test_onnxruntime_is_clip_13_on_float32_bit_for_bit(onnxruntime_report):
    forms = ("both", "no min", "no max", "no max, empty name", "none", "none, empty names")
    assert verdicts(onnxruntime_report, 13, "float32") == dict.fromkeys(forms, "conforms")


def test_refusal_is_reported_in_the_words_of_the_runtime(onnxruntime_report):
    assert set(verdicts(onnxruntime_report, 6, "float64").values()) == {"refused"}
    (words,) = {c.words for c in onnxruntime_report.cells if (c.opset, c.type) == (6, "float64")}
    assert "Could not find an implementation for Clip(6)" in words
    found = verdicts(onnxruntime_report, 13, "int16")
    assert (found["both"], found["none"]) == ("refused", "conforms")


def test_onnxruntime_deviates_in_older_versions_only(onnxruntime_report):
    violating = {(c.opset, c.type): c.cause for c in onnxruntime_report.cells if c.verdict == "violates"}
    assert {opset for opset, _ in violating} == {6, 10, 11}
    assert violating[6, "float32"] == "it refuses exactly the bounds for which min <= max is false"


def test_reference_is_np_clip_and_has_no_default_bounds(reference_report):
    assert set(verdicts(reference_report, 1, "float32").values()) == {"refused"}
    assert set(verdicts(reference_report, 13, "int64").values()) == {"conforms"}
    assert (
        verdicts(reference_report, 6, "float32")["none"] == "conforms"
    )  # the default of an attribute is there
    of_float32 = {c.form: c for c in reference_report.cells if (c.opset, c.type) == (13, "float32")}
    assert of_float32["both"].cause == "it answers as the reading numpy allows"
    assert "float32.numpy_agrees" in of_float32["both"].obligations
    assert of_float32["none"].cause == "it takes a missing bound as no bound"
    assert "float32.onnx_13_infinities" in of_float32["none"].obligations


def test_obligations_that_are_named_exist(onnxruntime_report, reference_report):
    for report in (onnxruntime_report, reference_report):
        for cell in report.cells:
            assert set(cell.obligations) <= known_obligations()
            assert (cell.deviation is not None) == (cell.verdict == "violates")


@pytest.mark.parametrize(
    ("opset", "dtype"), [(6, "float16"), (11, "float64"), (13, "bfloat16"), (12, "int8")]
)
def test_expected_results_are_those_of_single_calls_of_the_oracle(opset, dtype):
    oracle = dialect("onnx", clip_version(opset))
    for form in dialect_forms(SPEC, oracle, opset, SPEC.element_type(dtype)):
        for call in range(0, len(form.due), 37):
            tensors = oracle.row["bounds"] == "inputs"
            bounds = {n: v[call, ...] if tensors else v[call] for n, v in form.given.items()}
            assert form.due[call].tobytes() == oracle(form.x, **bounds).tobytes()


def test_rows_join_operator_sets_with_equal_verdicts(reference_report):
    types, rows = rows_of(reference_report)
    assert types == ("int64", "bfloat16", "float32")
    assert [row.opsets for row in rows if row.form == "both"] == ["1, 5", "6, 10", f"13, {newest_opset()}"]
    assert rows[0].verdicts == (None, None, "refused")


def test_text_and_report(tmp_path):
    done = run("onnx-12", "--dtype", "float32", "--build", str(tmp_path))
    assert done.exit_code == 1
    assert "violates: it takes a missing bound as no bound" in done.output
    assert "X = inf, no min, no max: got inf, expected 3.4028235e+38" in done.output
    assert done.output.splitlines()[-1].startswith("DirectML was not run")
    report = DialectReport.model_validate(
        json.loads((tmp_path / "dialects" / "onnx-reference.json").read_text())
    )
    assert (report.spec_sha256, report.oracle_sha256) == (SPEC.digest, dialect_oracle_digest())
    assert not report.complete
    assert {path.name for path in (tmp_path / "dialects").iterdir()} == {
        "onnxruntime.json", "onnx-reference.json",
    }  # fmt: skip


def test_json_is_the_reports(tmp_path):
    arguments = ("onnx-12", "--runtime", "onnxruntime", "--dtype", "uint8", "--build", str(tmp_path))
    done = run(*arguments, "--json")
    assert done.exit_code == 0
    (printed,) = json.loads(done.stdout)
    assert printed == json.loads((tmp_path / "dialects" / "onnxruntime.json").read_text())
    brief = run(*arguments, "--brief").output.splitlines()
    assert len(brief) == 2
    assert "opsets 12: 6 conforms of 6 forms" in brief[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["onnx", "--runtime", "tensorflow"], "there is no runtime `tensorflow`"),
        (["onnx", "--runtime", "numpy"], "runs no ONNX models"),
        (["onnx", "--runtime", "no_such_module:open"], "cannot be loaded"),
        (["onnx-7"], "cannot be compared with `onnx-7`"),
        (["onnx", "--dtype", "float31"], "float31"),
        (["onnx", "--dtype", "real"], "real is no element type of Clip-1"),
        (["onnx-6", "--dtype", "int8"], "int8 is no element type of Clip-6"),
        (["onnx", "--build", "pyproject.toml"], "folder cannot be made"),
        (["onnx", "--level", "standard"], "--against takes"),
        (["onnx", "-o", "report.json"], "--against takes"),
    ],
)
def test_bad_input_is_one_message(arguments, words, tmp_path):
    build = [] if "--build" in arguments else ["--build", str(tmp_path)]
    with pytest.raises(UserError) as caught:
        run(*arguments, *build)
    assert words in str(caught.value)
    assert not list(tmp_path.rglob("*.json"))


def test_oracle_of_another_specification_judges_nothing(tmp_path):
    (tmp_path / "clip.yaml").write_bytes(repo_file("spec/clip.yaml").read_bytes() + b"# another\n")
    another = load_spec(tmp_path / "clip.yaml")
    with pytest.raises(UserError, match="sonnx-clip generate"):
        compare_dialects("onnxruntime", [13], ["int8"], spec=another)
