"""`check --onnx`: functions that open models are judged in the forms of a model, and repeated by a line."""

from functools import cache

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.report_lines import cases, dependences, notes
from sonnx_clip.conform.report_text import form_lines, reproducers
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.runtimes.runtime import LIMITS
from tests.meta.judged import printed, repeated, require_repeated

pytestmark = pytest.mark.usefixtures("brief")

HERE = "tests.meta.planted_openers"


@cache
def judged(name, dtype="int16", limits=LIMITS):
    report = run_campaign(
        CheckOptions(f"onnx:{HERE}:{name}", [dtype], limits=limits, of=clip_operator())
    )
    return report, {c.id: c.verdict for c in report.types[0].classes}


@pytest.mark.parametrize(
    "name", ["right", "bare", pytest.param("reference", marks=pytest.mark.nightly)]
)
def test_right_opener_conforms_in_every_form(name):
    report, classes = judged(name)
    assert not report.failed, report.types[0].words
    assert set(classes.values()) == {"conforms"}
    assert report.runtime_version == f"{HERE}:{name} 5"
    forms = report.types[0].forms
    assert len(forms) >= 12
    assert {(form.verdict, form.form.optimised) for form in forms} == {("conforms", True)}
    assert {form.form.bounds for form in forms} == {"inputs", "initializers", "Constant nodes"}


def test_deviation_in_one_form_names_it_with_a_reproducer():
    report, classes = judged("wrong_with_initializers")
    assert classes["high_ordinary"] == "depends"
    assert classes["low_ordinary"] == "conforms"
    (only,) = dependences(report)
    assert only.text == "violates with bounds as initializers, else conforms"
    require_repeated(only.deviations[0])
    mended = repeated(only.deviations[0].reproduce.replace(":wrong_with_initializers", ":right"))
    assert f"['{hex(only.deviations[0].expected)}'" in mended


CONSTANTS_ONLY = {
    # runtime: verdicts on low_ordinary and high_ordinary, and whether the check fails
    "constants_only": ("conforms", "conforms", False),
    "wrong_constants_only": ("conforms", "violates", True),
    "wrong_initializers_only": ("conforms", "depends", True),
}


@pytest.mark.parametrize("name", CONSTANTS_ONLY)
def test_runtime_of_constant_bounds_only_is_judged_by_its_constant_forms(name):
    report, classes = judged(name)
    low, high, failed = CONSTANTS_ONLY[name]
    assert (classes["low_ordinary"], classes["high_ordinary"], report.failed) == (low, high, failed)
    assert classes["C1"] == classes["C3"] == "conforms"
    (refused,) = [note for note in notes(report) if note.head == "refused"]
    assert (
        refused.text
        == "models with bounds as inputs: NotImplementedError: min must be an initializer"
    )
    assert "(only bounds as Constant nodes or initializers)" in next(form_lines(report))


def test_deviation_of_constant_forms_has_an_example_and_a_reproducer_in_each_format():
    report, _ = judged("wrong_constants_only")
    (found,) = [one for one in cases(report) if one.id == "high_ordinary" and not one.form]
    first = found.deviations[0]
    assert found.headline == first.shown
    assert first.form.bounds != "inputs"
    require_repeated(first)
    line = command_line(first.reproduce)
    assert line in found.details
    assert line in reproducers(report)
    assert first.shown in printed(report)
    assert line in printed(report)
    assert reproducers(report).count("high_ordinary") == 1


def test_opener_that_needs_a_rank_is_asked_all_calls_by_rank():
    """All but the forms without one."""
    report, classes = judged("needs_a_rank")
    assert not report.failed
    assert set(classes.values()) == {"conforms"}
    assert {form.form.shape for form in report.types[0].forms if form.verdict == "refused"} == {
        "no rank"
    }
    every, right = (
        r.compared - sum(f.compared for f in r.types[0].forms) for r in (report, judged("right")[0])
    )
    assert every == right > 5_000


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two_outputs", "it returned list, not an array"),
        ("no_function", "returned NoneType, not a function of the inputs of the model"),
        ("wrong_shape", "it returned shape (1, "),
    ],
)
def test_missing_model_output_is_a_violation(name, words):
    report, classes = judged(name)
    (one,) = report.types
    assert report.failed
    assert "violates" in classes.values()
    assert any(words in (found.words or "") for found in (*one.classes, *one.forms)), one
