"""`sonnx-clip explain`."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.conform import explain as module
from sonnx_clip.conform.explain import explain
from sonnx_clip.errors import UserError


def run(*arguments):
    done = CliRunner().invoke(app, ["explain", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_a_nan_and_inverted_bounds():
    told = run("float32", "--x", "nan", "--min", "1", "--max", "0")
    assert told.splitlines()[0] == "float32: clip(nan, 1, 0) = 0"
    assert "result  0  0x0p+0  0x00000000  (it is M, bit for bit)" in told
    assert "case    inverted: the bounds are inverted; M < L" in told
    assert "class   inverted_nan: is_nan(X)" in told
    assert "also acceptable: any NaN (nan-inverted)" in told
    for id_ in ("cases_complete", "clip_is_cases", "inverted_nan_inhabited"):
        assert f"float32.{id_}: " in told


def test_obligations_are_those_of_the_type_that_show_the_case_or_the_class():
    shown = {one.id for one in explain("int8", "3", "2", "10").obligations}
    assert "int8.inside_inhabited" in shown
    assert "int8.inside_ordinary_inhabited" in shown
    assert not {id_ for id_ in shown if "inverted" in id_ or not id_.startswith("int8.")}


def test_every_reading_is_answered_for():
    told = run("float32", "--x", "nan", "--min", "1", "--max", "0")
    lines = {words[0]: words[1:] for line in told.splitlines() if (words := line.split()) and words}
    assert lines["onnx-body"] == ["differs", "nan", "nan", "0x7fc00000"]
    assert lines["formula-c"] == ["bit", "for", "bit", "0", "0x0p+0", "0x00000000"]
    assert lines["numpy"] == ["differs", "any", "NaN"]
    assert lines["directml"] == ["differs", "1", "0x1p+0", "0x3f800000"]
    tie = {one.id: one for one in explain("float64", "-0", "0", "1").readings}
    assert [answer.decimal for answer in tie["formula-2008"].answers] == ["-0", "0"]
    assert tie["formula-2008"].agreement == "by value"
    assert {one.agreement for one in explain("real", "1", "0", "2").readings} == {"bit for bit"}


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["float16", "--x", "-0", "--min", "0x0000", "--max", "inf"], "float16: clip(-0, 0, inf) = 0"),
        (
            ["float64", "--x", "-inf", "--min", "-inf", "--max", "-0x1.8p+1"],
            "float64: clip(-inf, -inf, -3) = -inf",
        ),
        (["int8", "--x", "-128", "--min", "lowest", "--max", "-1"], "int8: clip(-128, -128, -1) = -128"),
        (["real", "--x", "-6.1", "--min", "0", "--max", "10"], "real: clip(-6.1, 0, 10) = 0"),
        (["bfloat16", "--x=0x7fc1", "--min=1", "--max=2"], "bfloat16: clip(nan, 1, 2) = nan"),
    ],
)
def test_values_in_every_form(arguments, first):
    assert run(*arguments).splitlines()[0] == first


def test_the_other_zero_is_named_in_bits():
    (other,) = explain("float32", "-0", "0", "1").acceptable
    assert (other.latitude, other.answer.bits) == ("zero-sign", "0x80000000")


def test_integers_have_no_latitude_and_reals_no_bits():
    assert explain("int32", "1", "2", "3").acceptable == ()
    told = explain("real", "1", "2", "3")
    assert (told.x.bits, told.x.hex_float) == (None, None)


def test_json():
    told = json.loads(run("float32", "--x", "nan", "--min", "0", "--max", "1", "--json"))
    assert told["class_id"] == "inside_nan"
    assert told["result"] == {"decimal": "nan", "hex_float": "nan", "bits": "0x7fc00000"}
    assert told["acceptable"][0]["latitude"] == "nan-payload"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("float32", "one", "0", "1"), "--x: `one` is not a number"),
        (("float32", "1", "0x7fc0", "1"), "--min: "),
        (("int8", "1", "0", "1000"), "--max: 1000 is not in the range of int8"),
        (("int8", "nan", "0", "1"), "--x: "),
        (("float31", "1", "0", "1"), "float31"),
    ],
)
def test_bad_input_is_one_message(arguments, words):
    with pytest.raises(UserError) as caught:
        explain(*arguments)
    assert words in str(caught.value)


def test_obligations_that_are_not_generated_are_one_message(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "repo_file", lambda _: tmp_path / "obligations.json")
    module._known_obligations.cache_clear()
    with pytest.raises(UserError, match="sonnx-clip generate"):
        explain("float32", "1", "0", "1")
    module._known_obligations.cache_clear()
