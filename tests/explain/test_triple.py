"""`sonnx-clip explain`: the case, class, readings, latitude and obligations of one triple."""

import json
import re

import pytest

from sonnx_clip.explain.triple import explain_triple
from sonnx_clip.prove.proofs_record import theory_digests
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.rendered_goals import rendered_obligations
from tests.command import printed
from tests.obligations import obligations

SPEC = load_spec()
NAN = ("explain", "float32", "--x", "nan", "--min", "1", "--max", "0")
ID = "float32.cases_complete"


def test_nan_and_inverted_bounds():
    told = printed(*NAN)
    assert told.splitlines()[0] == "float32: clip(nan, 1, 0) = 0"
    for words in (
        "inverted: the bounds are inverted; M < L", "inverted_nan: NaN under inverted bounds; is_nan(X)",
        "also acceptable: any NaN (nan-inverted)", "float32.inverted_nan_inhabited: ", ID,
    ):  # fmt: skip
        assert words in told
    lines = {words[0]: words[1:] for line in told.splitlines() if (words := line.split())}
    assert lines["onnx-body"] == ["differs", "nan", "nan", "0x7fc00000"]
    assert lines["formula-c"][-1] == "0x00000000"
    assert lines["numpy"] == ["differs", "any", "NaN"]


def test_obligations_and_readings_are_those_of_the_triple():
    shown = {one.id for one in explain_triple(SPEC, "int8", "3", "2", "10").obligations}
    assert {"int8.inside_inhabited", "int8.inside_ordinary_inhabited"} <= shown
    assert not {id_ for id_ in shown if "inverted" in id_ or not id_.startswith("int8.")}
    tie = {one.id: one for one in explain_triple(SPEC, "float64", "-0", "0", "1").readings}
    assert [answer.decimal for answer in tie["formula-2008"].answers] == ["-0", "0"]
    assert tie["formula-2008"].agreement == "by value"
    assert {one.agreement for one in explain_triple(SPEC, "real", "1", "0", "2").readings} == {
        "bit for bit"
    }


def test_latitude_and_forms_depend_on_the_family():
    (other,) = explain_triple(SPEC, "float32", "-0", "0", "1").acceptable
    assert (other.latitude, other.answer.bits) == ("zero-sign", "0x80000000")
    assert explain_triple(SPEC, "int32", "1", "2", "3").acceptable == ()
    real = explain_triple(SPEC, "real", "1", "2", "3")
    assert (real.x.bits, real.x.hex_float) == (None, None)
    told = json.loads(
        printed("explain", "float32", "--x", "nan", "--min", "0", "--max", "1", "--json")
    )
    assert told["class_id"] == "inside_nan"
    assert told["result"] == {"decimal": "nan", "hex_float": "nan", "bits": "0x7fc00000"}


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
        explain_triple(SPEC, *arguments)
    assert words in str(caught.value)


def test_obligations_that_are_not_generated_are_one_message(own_spec):
    with pytest.raises(UserError, match="sonnx-clip generate"):
        explain_triple(SPEC, "float32", "1", "0", "1")


def _record(replies, files=None, digest=None):
    """A record of the provers in which one obligation has these replies."""
    replies = [
        {
            "prover": prover,
            "version": "1",
            "verdict": verdict,
            "cpu": 0.1,
            "task": task,
            "words": "",
        }
        for prover, (verdict, task) in zip(("Z3", "cvc5"), replies, strict=False)
    ]
    digests = theory_digests() | (files or {})
    return {
        "about": {
            "tool": "sonnx-clip",
            "spec_digest": digest or load_spec().digest,
            "files": digests,
        },
        "tools": {"why3": "1", "Z3": "1", "cvc5": "1"},
        "outcomes": [{"id": ID, "replies": replies}],
    }


PROVED = ("valid", "1" * 64)
NOT_YET = "not in a complete run of `sonnx-clip prove` here"
RECORDS = {
    "both provers": (lambda: _record([PROVED, PROVED]), "proved by Z3 and cvc5"),
    "another specification": (lambda: _record([PROVED, PROVED], digest="0" * 64), NOT_YET),
    "another theory": (lambda: _record([PROVED, PROVED], {"why3/clip.mlw": "0" * 64}), NOT_YET),
    "no outcome": (lambda: _record([PROVED, PROVED]) | {"outcomes": []}, NOT_YET),
    "one prover": (lambda: _record([PROVED, ("unknown", "2" * 64)]), "proved by Z3 only"),
    "no task": (lambda: _record([PROVED, ("valid", "")]), "proved by Z3 only"),
    "a model": (
        lambda: _record([PROVED, ("countermodel", "2" * 64)]),
        "not proved by these provers",
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_status_is_derived_from_the_record(name, tmp_path):
    record, status = RECORDS[name]
    (tmp_path / "proofs.json").write_text(json.dumps(record()), encoding="utf-8")
    told = printed(*NAN, "--build", str(tmp_path))
    assert re.search(rf"  obligations, {re.escape(status)}\n(    .*\n)*    {ID}: ", told), told


def test_obligations_read_from_the_theories_are_those_that_are_proved():
    """Canaries stand there too, and are false."""
    proved = {obligation.id: obligation for obligation in obligations()}
    from_theories = rendered_obligations()
    assert len({read.id for read in from_theories}) == len(from_theories)
    for read in from_theories:
        assert (read.kind, read.shows) == (proved[read.id].kind, proved[read.id].shows)
        assert read.title == proved[read.id].title or read.kind == "smoke"
