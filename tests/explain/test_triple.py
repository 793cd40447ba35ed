"""`sonnx-clip explain`."""

import copy
import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.explain import triple as module
from sonnx_clip.explain.triple import explain, explanation_text
from sonnx_clip.root.errors import UserError
from tests.evidence import made

ARGUMENTS = ("float32", "--x", "nan", "--min", "1", "--max", "0")
ID = "float32.cases_complete"


def run(*arguments):
    done = CliRunner().invoke(app, ["explain", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_a_nan_and_inverted_bounds():
    told = run(*ARGUMENTS)
    assert told.splitlines()[0] == "float32: clip(nan, 1, 0) = 0"
    assert "result  0  0x0p+0  0x00000000  (M, bit for bit)" in told
    assert "case    inverted: the bounds are inverted; M < L" in told
    assert "class   inverted_nan: NaN under inverted bounds; is_nan(X)" in told
    assert "also acceptable: any NaN (nan-inverted)" in told
    for id_ in ("cases_complete", "clip_is_cases", "inverted_nan_inhabited"):
        assert f"float32.{id_}: " in told
    lines = {words[0]: words[1:] for line in told.splitlines() if (words := line.split()) and words}
    assert lines["onnx-body"] == ["differs", "nan", "nan", "0x7fc00000"]
    assert lines["formula-c"] == ["bit", "for", "bit", "0", "0x0p+0", "0x00000000"]
    assert lines["numpy"] == ["differs", "any", "NaN"]
    assert lines["directml"][:4] == ["differs", "1", "0x1p+0", "0x3f800000"]
    assert lines["directml"][-2:] == ["any", "NaN"]


def test_obligations_and_readings_are_those_of_the_triple():
    shown = {one.id for one in explain("int8", "3", "2", "10").obligations}
    assert {"int8.inside_inhabited", "int8.inside_ordinary_inhabited"} <= shown
    assert not {id_ for id_ in shown if "inverted" in id_ or not id_.startswith("int8.")}
    tie = {one.id: one for one in explain("float64", "-0", "0", "1").readings}
    assert [answer.decimal for answer in tie["formula-2008"].answers] == ["-0", "0"]
    assert tie["formula-2008"].agreement == "by value"
    assert {one.agreement for one in explain("real", "1", "0", "2").readings} == {"bit for bit"}


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (("float16", "-0", "0x0000", "inf"), "clip(-0, 0, inf) = 0"),
        (("float64", "-inf", "-inf", "-0x1.8p+1"), "clip(-inf, -inf, -3) = -inf"),
        (("int8", "-128", "lowest", "-1"), "clip(-128, -128, -1) = -128"),
        (("real", "-6.1", "0", "10"), "clip(-6.1, 0, 10) = 0"),
        (("bfloat16", "0x7fc1", "1", "2"), "clip(nan, 1, 2) = nan"),
    ],
)
def test_values_in_every_form(arguments, result):
    assert explanation_text(explain(*arguments)).splitlines()[0] == f"{arguments[0]}: {result}"


def test_latitude_and_forms_depend_on_the_family():
    (other,) = explain("float32", "-0", "0", "1").acceptable
    assert (other.latitude, other.answer.bits) == ("zero-sign", "0x80000000")
    assert explain("int32", "1", "2", "3").acceptable == ()
    real = explain("real", "1", "2", "3")
    assert (real.x.bits, real.x.hex_float) == (None, None)
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
        (("float31", "1", "0", "1"), "float31"),
    ],
)
def test_bad_input_is_one_message(arguments, words):
    with pytest.raises(UserError) as caught:
        explain(*arguments)
    assert words in str(caught.value)


def test_obligations_that_are_not_generated_are_one_message(own_spec):
    module._known_obligations.cache_clear()
    with pytest.raises(UserError, match="sonnx-clip generate"):
        explain("float32", "1", "0", "1")
    module._known_obligations.cache_clear()


def test_the_kernels_are_one_line_unless_all_are_wanted(tmp_path):
    (tmp_path / "proofs.json").write_text("{", encoding="utf-8")  # proves nothing
    folded, listed = (run(*ARGUMENTS, *more, "--build", str(tmp_path)) for more in ((), ("--all",)))
    assert "not yet proved here" in folded
    number = sum(one.kernel for one in explain("float32", "nan", "1", "0").obligations)
    assert number > 10
    assert f"the C and NumPy kernels compute Clip ({number} of them; --all lists each)" in folded
    for id_ in ("float32.c_clip: ", "float32.numpy_fill_in_place: "):
        assert id_ in listed
        assert id_ not in folded
    lines = explanation_text(explain("float32", "nan", "1", "0"), every=True, width=80).splitlines()
    assert max(map(len, lines)) <= 80


@pytest.fixture(scope="module")
def record():
    return made.proofs()


def explained(record, folder):
    (folder / "proofs.json").write_text(json.dumps(record), encoding="utf-8")
    return run(*ARGUMENTS, "--build", str(folder))


@pytest.mark.nightly
def test_who_proved_it_is_read_from_the_record(record, tmp_path):
    told = explained(record, tmp_path)
    assert f"  obligations, proved by Z3 and cvc5\n    {ID}: " in told
    assert "not proved" not in told


SPOILT = {
    "another specification": lambda r: r["about"].update(spec_digest="0" * 64),
    "another theory": lambda r: r["about"]["files"].update({"why3/clip.mlw": "0" * 64}),
    "no outcome": lambda r: r.update(outcomes=[o for o in r["outcomes"] if o["id"] != ID]),
    "no list": lambda r: r.update(outcomes=7),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_a_record_that_does_not_fit_proves_nothing(spoil, record, tmp_path):
    spoilt = copy.deepcopy(record)
    spoil(spoilt)
    told = explained(spoilt, tmp_path)
    assert f"  obligations, not yet proved here (run: make prove)\n    {ID}: " in told


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"verdict": "unknown"}, "proved by Z3 only"),
        ({"verdict": "countermodel"}, "not proved by these provers"),
        ({"task": ""}, "proved by Z3 only"),
    ],
)
def test_the_stated_status_is_not_believed(fields, status, record, tmp_path):
    spoilt = copy.deepcopy(record)
    (found,) = [o for o in spoilt["outcomes"] if o["id"] == ID]
    found["replies"][1].update(fields)
    assert f"  obligations, {status}\n    {ID}: " in explained(spoilt, tmp_path)
