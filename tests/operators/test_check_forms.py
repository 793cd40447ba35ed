"""Forms of a model of operators of one and of two tensors: mistakes in some of them are found there alone."""

import json

import pytest

from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.opsets import opsets_with
from tests.command import run
from tests.meta.judged import repeated


def checked(name, function, dtype, *options):
    opener = f"tests.operators.model_runtimes:{function}"
    more = ("--operator", name, "--onnx", opener, "--dtype", dtype, "--json", *options)
    done = run("check", *more, cwd=repo_root())
    assert done.returncode in (0, 1), done.stderr
    (report,) = json.loads(done.stdout)["types"]
    return done, report


def forms_with(report, verdict):
    return [one["form"] for one in report["forms"] if one["verdict"] == verdict]


@pytest.mark.parametrize(("name", "dtype"), [("max", "float16"), ("relu", "int16")])
def test_right_runtime_conforms_in_every_form(name, dtype):
    done, report = checked(name, "right", dtype)
    assert done.returncode == 0
    forms = forms_with(report, "conforms")
    assert len(forms) == len(report["forms"])
    assert {form["rank"] for form in forms} == {0, 1, 2, 4}
    assert {form["shape"] for form in forms} == {"static", "symbolic", "no rank"}
    # Relu has integers from operator set 14 on.
    first = 14 if name == "relu" else 13
    assert {form["opset"] for form in forms} == {first, opsets_with("Max", "float16")[-1]}
    if name == "max":
        assert {form["bounds"] for form in forms} == {"inputs", "initializers", "Constant nodes"}
        shapes = {form["given"] for form in forms}
        assert shapes == {"operands of one shape", "scalar second operand"}


WRONG = {
    "loses_minus_zero_of_rank_2": ("relu", "minus_zero", lambda form: form["rank"] == 2),
    "takes_a_constant_for_zero": ("max", "second_wins", lambda form: form["bounds"] != "inputs"),
    "drops_a_scalar": (
        "max", "second_wins",
        lambda form: form["given"] == "scalar second operand" and form["rank"] > 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("function", WRONG)
def test_mistake_in_some_forms_is_found_there_and_repeated(function):
    name, class_id, is_wrong = WRONG[function]
    done, report = checked(name, function, "float16", "--policy", "strict")
    assert done.returncode == 1
    violating = [one for one in report["forms"] if one["verdict"] == "violates"]
    expected = [one["form"] for one in report["forms"] if is_wrong(one["form"])]
    if function != "loses_minus_zero_of_rank_2":  # calls have layouts of rank 2, too
        assert forms_with(report, "violates") == expected
    assert expected
    assert all(class_id in one["classes"] for one in violating)
    shown = next(one["deviations"][class_id] for one in violating if one["deviations"])
    printed = repeated(shown["reproduce"])
    assert hex(int(shown["got"], 16)) in printed
    assert hex(int(shown["expected"], 16)) != hex(int(shown["got"], 16))


def test_constants_that_are_refused_are_named_by_their_operand():
    done, report = checked("max", "serves_the_constant_one_alone", "float16")
    assert "Traceback" not in done.stderr
    refused = {form["bounds"] for form in forms_with(report, "refused")}
    assert "inputs" not in refused
    assert {form["rank"] for form in forms_with(report, "conforms")} == {0, 1, 2, 4}
