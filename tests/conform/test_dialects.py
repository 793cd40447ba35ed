"""Real runtimes against ONNX's dialects: measured, not tabulated."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.conform.comparison_explanations import known_obligations
from sonnx_clip.conform.comparison_inputs import FEW_FLOATS, FLOATS, clip_version, newest_opset, questions
from sonnx_clip.conform.comparison_record import STATES, ComparisonRecord, oracle_digest
from sonnx_clip.conform.comparison_text import ranges, table_of
from sonnx_clip.conform.run_comparison import compare_dialects
from sonnx_clip.oracle.dialect import dialect
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes import model_process
from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import read_answer
from sonnx_clip.spec import load_spec

SPEC = load_spec()


def run(*arguments):
    return CliRunner().invoke(app, ["check", "--against", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def onnxruntime_record():
    return compare_dialects(
        "onnxruntime", [5, 6, 11, 13], ["float16", "float32", "float64", "int64", "int16"]
    )


@pytest.fixture(scope="module")
def reference_record():
    return compare_dialects("onnx-reference", [1, 6, 13, 14], ["float32", "int64", "bfloat16"])


def states(record, opset, dtype):
    return {c.form: c.state for c in record.cells if (c.opset, c.type) == (opset, dtype)}


def group(record, id_):
    (found,) = [group for group in record.groups if group.id == id_]
    return found


def test_onnxruntime_is_clip_13_on_float32_bit_for_bit(onnxruntime_record):
    found = states(onnxruntime_record, 13, "float32")
    assert found == dict.fromkeys(
        ("both", "no min", "no max", "no max, empty name", "none", "none, empty names"), "agrees"
    )


def test_onnxruntime_refuses_in_its_words(onnxruntime_record):
    assert set(states(onnxruntime_record, 6, "float64").values()) == {"refused"}
    words = {c.words for c in onnxruntime_record.cells if (c.opset, c.type) == (6, "float64")}
    assert len(words) == 1
    assert "Could not find an implementation for Clip(6)" in words.pop()
    found = states(onnxruntime_record, 13, "int16")
    assert (found["both"], found["none"]) == ("refused", "agrees")


def test_onnxruntime_is_explained(onnxruntime_record):
    assert not onnxruntime_record.failed
    wrong = group(onnxruntime_record, "signed-low-halves")
    assert {place.type for place in wrong.places} == {"int64"}
    assert "int64.onnx_13_is_sonnx" in wrong.obligations
    wide = group(onnxruntime_record, "in-float32")
    assert {(place.opset, place.type) for place in wide.places} == {(6, "float16"), (11, "float16")}
    assert wide.witness.shown == "X = 0, min = -1, max = -1e-45: got -0, expected 0"
    assert (wide.witness.bound_type, wide.witness.max) == ("float32", "0x80000001")
    assert group(onnxruntime_record, "refuses-unordered").witness.x is None


def test_the_reference_is_np_clip_and_has_no_default_bounds(reference_record):
    assert not reference_record.failed
    assert {found.id for found in reference_record.groups} == {"numpy", "no-bound"}
    assert set(states(reference_record, 1, "float32").values()) == {"refused"}
    assert set(states(reference_record, 13, "int64").values()) == {"agrees"}
    assert states(reference_record, 6, "float32")["none"] == "agrees"  # the default of an attribute is there
    assert states(reference_record, 13, "bfloat16")["none"] == "differs"
    assert "float32.onnx_13_infinities" in group(reference_record, "no-bound").obligations
    assert "float32.numpy_agrees" in group(reference_record, "numpy").obligations


def test_what_is_named_is_there(onnxruntime_record, reference_record):
    for record in (onnxruntime_record, reference_record):
        for found in record.groups:
            assert found.obligations
            assert set(found.obligations) <= known_obligations()
            assert found.count > 0


def test_every_disagreement_is_in_one_group(onnxruntime_record, reference_record):
    for record in (onnxruntime_record, reference_record):
        told = sum(found.count for found in record.groups)
        assert told == sum(cell.explaining for cell in record.cells) > 0
        assert {cell.state for cell in record.cells} <= set(STATES)


def test_the_first_operator_set_of_a_version_is_asked_with_all_bounds(reference_record):
    calls = {(c.opset, c.type): c.calls for c in reference_record.cells if c.form == "both"}
    assert calls[13, "float32"] == 33**2 > calls[14, "float32"] > 100
    assert calls[6, "float32"] == len(FLOATS) ** 2
    assert set(FEW_FLOATS) < set(FLOATS)


@pytest.mark.parametrize(
    ("opset", "dtype"), [(6, "float16"), (11, "float64"), (13, "bfloat16"), (12, "int8")]
)
def test_what_is_due_is_what_a_call_of_the_oracle_answers(opset, dtype):
    oracle = dialect("onnx", clip_version(opset))
    for asked in questions(SPEC, oracle, opset, SPEC.element_type(dtype), brief=True):
        due = asked.due
        for call in range(0, len(due), 7):
            tensors = oracle.row["bounds"] == "inputs"
            bounds = {n: v[call, ...] if tensors else v[call] for n, v in asked.given.items()}
            assert due[call].tobytes() == oracle(asked.x, **bounds).tobytes()


def test_every_operator_set_means_a_version():
    found = [clip_version(opset) for opset in range(1, newest_opset() + 1)]
    assert sorted(set(found)) == [1, 6, 11, 12, 13]


def test_a_process_serves_calls_and_keeps_going_after_what_cannot_be_opened():
    def open_model(model):
        if model == b"bad":
            raise ValueError("no model")
        return lambda inputs: inputs["x"] + inputs["max"]

    x, high = np.array([1, 2], np.uint16), np.array([10, 20, 30], np.uint16)
    request = model_process.ModelCalls("int16", (b"bad", b"good"), x, {"max": high}, 3)
    board = Board()
    model_process.answer_calls(open_model, request, board)
    found = read_answer(board, request)
    assert found.failures[0].words == "ValueError: no model"
    assert found.bits[1:].tolist() == [[21, 22], [31, 32]]


def test_the_table_names_operator_sets_that_are_alike(reference_record):
    found = table_of(reference_record, [etype.id for etype in SPEC.element_types])
    assert found.types == ("int64", "bfloat16", "float32")
    assert [row.opsets for row in found.rows if row.form == "both"] == ["1", "6", "13-14"]
    assert found.rows[0].states == (None, None, "refused")
    assert ranges([7, 1, 2, 3]) == "1-3, 7"


def test_the_text_and_the_record(tmp_path):
    done = run("onnx-12", "--dtype", "float32", "--build", str(tmp_path))
    assert done.exit_code == 0
    assert "explained by no-bound: " in done.output
    assert "X = -inf, no min, max = 0: got -inf, expected -3.4028235e+38" in done.output
    lines = done.output.splitlines()
    assert "0 unexplained" in lines[-2]
    assert lines[-1].startswith("DirectML was not run")
    record = ComparisonRecord.model_validate(
        json.loads((tmp_path / "dialects" / "onnx-reference.json").read_text())
    )
    assert (record.spec_sha256, record.oracle_sha256) == (SPEC.digest, oracle_digest())
    assert not record.complete
    assert {path.name for path in (tmp_path / "dialects").iterdir()} == {
        "onnxruntime.json", "onnx-reference.json",
    }  # fmt: skip


def test_json_is_the_records(tmp_path):
    arguments = ("onnx-12", "--runtime", "onnxruntime", "--dtype", "uint8", "--build", str(tmp_path))
    done = run(*arguments, "--json")
    assert done.exit_code == 0
    (told,) = json.loads(done.stdout)
    assert told == json.loads((tmp_path / "dialects" / "onnxruntime.json").read_text())
    brief = run(*arguments, "--brief").output.splitlines()
    assert len(brief) == 2
    assert "opsets 12: 6 agrees of 6 forms" in brief[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["onnx", "--runtime", "tensorflow"], "there is no runtime `tensorflow`"),
        (["onnx", "--runtime", "numpy"], "runs no ONNX models"),
        (["onnx", "--runtime", "no_such_module:open"], "cannot be loaded"),
        (["onnx-7"], "cannot be compared with `onnx-7`"),
        (["onnx", "--dtype", "float31"], "float31"),
        (["onnx", "--dtype", "real"], "no Clip of ONNX takes real"),
        (["onnx-6", "--dtype", "int8"], "has a Clip of int8"),
        (["onnx", "--build", "pyproject.toml"], "folder cannot be made"),
    ],
)
def test_bad_input_is_one_message(arguments, words, tmp_path):
    build = [] if "--build" in arguments else ["--build", str(tmp_path)]
    with pytest.raises(UserError) as caught:
        run(*arguments, *build)
    assert words in str(caught.value)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference", "tests.meta.planted_models:right"])
def test_every_runtime_of_models_answers(name):
    board = Board()
    greeting, handle = model_process.open_models(board, name)
    assert greeting["word"] == "ready"
    assert greeting["version"]
    oracle = dialect("onnx", 13)
    for asked in questions(SPEC, oracle, 13, SPEC.element_type("int32"), brief=True):
        handle(asked.calls, board)
        found = read_answer(board, asked.calls)
        assert np.array_equal(found.bits, asked.due.view(np.uint32))


@pytest.mark.parametrize("name", ["numpy", "no_such_module:open", "tests.meta.planted_models:no_such"])
def test_what_runs_no_models_is_missing(name):
    greeting, handle = model_process.open_models(Board(), name)
    assert (greeting["word"], handle) == ("missing", None)


def test_an_oracle_of_another_specification_judges_nothing(tmp_path):
    (tmp_path / "clip.yaml").write_bytes(repo_file("spec/clip.yaml").read_bytes() + b"# another\n")
    another = load_spec(tmp_path / "clip.yaml")
    with pytest.raises(UserError, match="sonnx-clip generate"):
        compare_dialects("onnxruntime", [13], ["int8"], spec=another)
