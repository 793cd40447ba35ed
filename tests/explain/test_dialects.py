"""`sonnx-clip dialects` and `sonnx-clip dialect`."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.explain.dialect_call import apply
from sonnx_clip.explain.dialects_text import cells, dialect_table
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

SPEC = load_spec()


def run(*arguments):
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("columns", ["200", "50"])
def test_the_table_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    lines = run("dialects").splitlines()
    assert max(map(len, lines)) <= int(columns)
    shown = [line.split()[0] for line in lines if line.startswith((" onnx", " sonnx", " direct"))]
    rows = json.loads(run("dialects", "--format", "json"))["rows"]
    assert shown == [row["id"] for row in rows] == [dialect.id for dialect in SPEC.dialects]
    assert rows[4]["missing"] == "lowest and highest of FLOAT"
    assert rows[4]["changes"] == {"float16": "inf", "float64": "inf"}
    assert rows[9]["conversion"] == "to float to nearest, ties to even; to int toward zero"


def test_a_row_in_words():
    told = {row.id: cells(row, SPEC) for row in dialect_table(SPEC).rows}
    assert told["onnx-13"] == (
        "onnx-13", "all of int, all of float", "any", "inputs, of X's type", "lowest and highest of X's type",
        "no", "onnx-13-words, decided by onnx-body", "no", "no",
    )  # fmt: skip
    assert told["directml-3.0"][1:4] == (
        "int8, int16, int32, uint8, uint16, uint32, float16, float32", "1 to 8",
        "members of the structure, FLOAT",
    )  # fmt: skip


def test_a_call_is_explained():
    told = run("dialect", "onnx-6", "float16", "--x", "inf", "--max", "0x1.8p+2").splitlines()
    assert told[:7] == [
        "onnx-6, float16: clip(inf, missing, 6) = 6",
        "  X        inf  0x7c00",
        "  min      missing, which is -inf  0xfc00 in float16",
        "  max      6  0x40c00000, which is 6  0x4600 in float16",
        "  result   6  0x4600",
        "  allowed  6  0x4600",
        "  SONNX    6  0x4600",
    ]
    assert any(line.startswith("  silent   casts: how a FLOAT becomes") for line in told)


def test_open_words_scaling_and_reals():
    told = apply("onnx-12", "float32", "5", min="7", max="3")
    assert {one.number for one in told.allowed} == {"3", "7"}
    assert told.result.number == told.sonnx.number == "3"
    nan = ("dialect", "onnx-13", "float32", "--x", "nan", "--min", "1", "--max", "0")
    told = json.loads(run(*nan, "--json"))
    assert told["result"] == {"number": "nan", "bits": "0x7fc00000"}
    assert told["sonnx"]["number"] == "0"
    assert "a different result" in run(*nan)
    scaled = ("--x", "2", "--min", "0", "--max", "9", "--scale", "3", "--bias", "1")
    told = run("dialect", "directml-1.0", "float32", *scaled)
    assert told.startswith("directml-1.0, float32: clip(2, 0, 9) = 7\n")
    assert "  scale    3  0x40400000\n  bias     1  0x3f800000\n" in told
    assert apply("sonnx-real", "real", "0.1", min="0.2", max="1").result.number == "0.2"


@pytest.mark.parametrize(
    ("arguments", "where", "says"),
    [
        (("onnx-7", "float32", "1"), None, "no dialect `onnx-7`"),
        (("onnx-6", "float31", "1"), None, "no `float31` among the element types"),
        (("onnx-6", "float32", "one"), "--x", "`one` is not a number"),
        (("onnx-6", "int8", "1"), "sonnx-clip dialect onnx-6 int8", "x is int8; it takes"),
        (("sonnx-real", "float32", "1"), "sonnx-clip dialect sonnx-real float32", "an array of Fraction"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message(arguments, where, says):
    with pytest.raises(UserError, match=says) as caught:
        apply(*arguments, min=None, max=None)
    assert caught.value.where == where
