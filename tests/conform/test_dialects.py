"""Real and planted runtimes compared with every Clip that ONNX has had: `check --against`."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.judged_dialect import dialect_operator
from sonnx_clip.conform.junit import to_junit
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.runtime import Limits
from sonnx_clip.spec import load_spec
from tests.meta.judged import nightly_but, printed, repeated, require_repeated

SPEC = load_spec()
PLANTED = "onnx:tests.meta.planted_models:"


def compared(name, version, *types, **options):
    name = name if name.startswith("onnx") else f"{PLANTED}{name}"
    id_ = f"onnx-{version}" if isinstance(version, int) else version
    of = dialect_operator(clip_operator(), id_)
    return run_campaign(CheckOptions(name, types, of=of, **options))


def verdicts(report, opset=None):
    """The verdict of each way to give bounds, in the first operator set or another one."""
    (found,) = report.types
    opset = opset or found.forms[0].form.opset
    return {form.form.given: form.verdict for form in found.forms if form.form.opset == opset}


def deviations(report):
    every = [d for found in report.types for c in found.classes for d in c.deviations]
    return [d for d in every if d.kind != "acceptable"]


@pytest.mark.parametrize(
    ("version", "dtype"), [(1, "float32"), (6, "float16"), (12, "int8"), (13, "bfloat16")]
)
def test_right_runtime_conforms_in_every_form_and_class(version, dtype):
    report = compared("right", version, dtype)
    assert not report.failed
    assert {form.verdict for form in report.types[0].forms} == {"conforms"}
    assert {c.verdict for c in report.types[0].classes} == {"conforms"}


@pytest.mark.parametrize(
    ("name", "version", "dtype", "wrong", "right"),
    [
        ("ignores_max", 13, "int32", ["both", "no min"], ["no max"]),
        ("drops_a_default", 13, "float32", ["no bounds"], ["both"]),
        ("max_then_min", 13, "int16", ["both"], []),
        ("refuses_inverted", 12, "int16", ["both"], ["no bounds"]),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("swapped", 6, "float32", ["both"], []),
                ("swapped", 13, "int16", ["both"], []),
                ("drops_a_default", 6, "float32", ["no bounds"], ["both"]),
                ("drops_a_default", 13, "bfloat16", ["no bounds"], ["both"]),
                ("answers_no_operand", 13, "int32", ["both"], []),
                ("refuses_zero", 12, "float32", ["both"], ["no bounds"]),
                ("wider_type", 12, "float32", ["both"], ["no bounds"]),
            )
        ),
    ],
)
def test_planted_mistake_is_found_where_it_is(name, version, dtype, wrong, right):
    report = compared(name, version, dtype)
    assert report.failed
    if name == "drops_a_default" and dtype == "float32" and version == 13:
        found = deviations(report)
        assert any(d.explanation == "an absent max limits nothing" for d in found)
        assert all(d.reproduce for d in found)
    if name == "refuses_inverted":
        assert {d.words for d in deviations(report)} == {"ValueError: min is greater than max"}
    found = verdicts(report)
    assert {found[given] for given in wrong} == {"violates"}
    assert {found[given] for given in right} <= {"conforms"}


ABSENT_AS_ZERO = {
    "reads_absent_min_as_zero": {"an absent min is read as 0"},
    "reads_absent_max_as_zero": {"an absent max is read as 0"},
    "reads_absent_bounds_as_zero": {"an absent min is read as 0", "an absent max is read as 0"},
}


@pytest.mark.parametrize("name", nightly_but({"reads_absent_bounds_as_zero"}, ABSENT_AS_ZERO))
def test_example_of_a_model_without_a_bound_shows_none_and_names_the_cause(name):
    report = compared(name, 13, "int16")
    every = [d for *_, d in report.deviations]
    assert {d.explanation for d in every} >= ABSENT_AS_ZERO[name]
    named = ("min", "l"), ("max", "m")
    for one in every:
        for bound, operand in named:
            is_given = operand not in one.form.missing_bounds
            assert (f" {bound}=" in one.shown) == is_given
            assert (f"no {bound}" in one.shown) != is_given
            assert (f"; {operand} = np" in one.reproduce) == is_given
    first = every[0]
    require_repeated(first)
    texts = printed(report), to_junit(report)
    assert all(first.shown in text and first.explanation in text for text in texts)


@pytest.mark.nightly
def test_raising_call_of_a_model_without_a_bound_is_repeated():
    report = compared("raises_for_zero_without_max", 13, "float32")
    found = deviations(report)
    assert {d.kind for d in found} == {"raises"}
    assert all(d.shown.endswith("no max") for d in found)
    assert "min 0 needs a max" in repeated(found[0].reproduce, fails=True)


def test_text_of_a_version_is_its_latitude():
    assert verdicts(compared("max_then_min", 12, "int16"))["both"] == "acceptable"
    assert verdicts(compared("other_payload", 13, "float16"))["both"] == "acceptable"
    assert verdicts(compared("max_then_min", 12, "int16", policy="strict"))["both"] == "violates"


def test_nothing_compared_is_a_failure():
    report = compared("refuses_everything", 13, "float32")
    assert report.failed
    assert set(verdicts(report).values()) == {"refused"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "opset", "dtype", "dead"),
    [("dies_without_max", 12, "uint8", "no bounds"), ("hangs_without_max", 6, "float32", "no max")],
)
def test_deadly_form_is_reported_and_the_rest_compared(name, opset, dtype, dead):
    report = compared(name, opset, dtype, limits=Limits(call=0.2))
    assert report.failed
    found = verdicts(report)
    assert found["both"] == "conforms"
    assert found[dead] == found["no max"] == "crashed"


def test_onnxruntime_deviates_in_older_versions_only():
    newest = compared("onnxruntime", 13, "float32").types[0]
    assert {form.form.opset for form in newest.forms if form.verdict == "refused"} <= {
        newest.forms[-1].form.opset
    }
    assert {c.verdict for c in newest.classes} == {
        "conforms"
    }  # but for the operator set that it refuses
    old = compared("onnxruntime", 6, "float32", "float64")
    assert [found.verdict for found in old.types] == ["unsupported", "violates"][::-1]
    assert "Could not find an implementation for Clip(6)" in old.types[1].words
    assert "min_ <= max_" in deviations(old)[0].words


def test_the_sonnx_edition_of_2026_is_judged_with_both_bounds_and_bit_for_bit():
    report = compared("onnxruntime", "sonnx-2026-01", "float32")
    assert verdicts(report) == {"both": "violates"}
    (found,) = report.types
    assert {c.id for c in found.classes if c.verdict == "violates"} == {"inverted_nan"}
    assert all(d.reproduce for d in deviations(report))
    (found,) = compared("review_copy", "sonnx-2026-01", "float32").types
    assert {c.id for c in found.classes if c.verdict == "violates"} == {
        "low_max_nan", "low_zero_tie", "high_min_nan", "high_zero_tie",
    }  # fmt: skip
    assert not compared("review_copy", "sonnx-2026-01", "int8").failed


def run(*arguments):
    return CliRunner().invoke(app, ["check", "--against", *arguments], catch_exceptions=False)


def test_reports_are_written_and_printed(tmp_path):
    arguments = (
        "onnx-12",
        "--runtime",
        "onnxruntime",
        "--dtype",
        "uint8",
        "--build",
        str(tmp_path),
    )
    done = run(*arguments, "--json")
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    written = json.loads((tmp_path / "dialects" / "onnxruntime-onnx-12.json").read_text())
    assert printed == written
    assert (written["dialect"], written["types"][0]["verdict"]) == ("onnx-12", "conforms")
    assert "1 of 1 type conforms" in run(*arguments, "--brief").stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["onnx", "--dtype", "real"], "real is not an element type of onnx-1"),
        (["onnx-6", "--dtype", "int8"], "int8 is not an element type of onnx-6"),
        (["onnx", "--build", "pyproject.toml"], "folder cannot be created"),
    ],
)
def test_bad_input_is_one_message(arguments, words, tmp_path):
    build = [] if "--build" in arguments else ["--build", str(tmp_path)]
    with pytest.raises(UserError) as caught:
        run(*arguments, *build)
    assert words in str(caught.value)
    assert not list(tmp_path.rglob("*.json"))
