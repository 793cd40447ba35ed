"""`sonnx-clip dialects` and `sonnx-clip dialect`."""

import json

import pytest

from sonnx_clip.explain.dialect_call import applied_text, apply
from sonnx_clip.explain.dialects_table import dialect_table, table_text
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.command import printed

SPEC = load_spec()


def test_table_has_every_dialect_and_fits_the_terminal():
    found = dialect_table(SPEC)
    rows = {row.id: row for row in found.rows}
    assert [*rows] == [dialect.id for dialect in SPEC.dialects]
    assert json.loads(printed("dialects", "--json")) == json.loads(found.model_dump_json())
    assert printed("dialects").rstrip() == table_text(found)
    for columns in (200, 50):
        lines = table_text(found, columns).splitlines()
        assert max(map(len, lines)) <= columns
        assert [line.partition(":")[0] for line in lines if line[0] != " "][:-1] == [*rows]
    assert rows["onnx-6"].changes == {"float16": "inf", "float64": "inf"}
    assert rows["onnx-13"].words["element types"] == "all of int, all of float"
    assert rows["onnx-13"].words["reading"] == "onnx-13-words, decided by onnx-body"
    assert rows["directml-3.0"].words["ranks"] == "1 to 8"


def test_call_shows_converted_bounds_and_silence():
    told = applied_text(apply(load_spec(), "onnx-6", "float16", "inf", max="0x1.8p+2")).splitlines()
    assert told[0] == "onnx-6, float16: clip(inf, missing, 6) = 6"
    assert "  min      missing, which is -inf  -inf  0xfc00 in float16" in told
    assert any(line.startswith("  silent   casts: the conversion of a FLOAT") for line in told)


def test_open_words_scaling_and_reals():
    told = apply(load_spec(), "onnx-12", "float32", "5", min="7", max="3")
    assert {one.decimal for one in told.allowed} == {"3", "7"}
    assert told.result.decimal == told.sonnx.decimal == "3"
    nan = apply(load_spec(), "onnx-13", "float32", "nan", min="1", max="0")
    assert (nan.result.bits, nan.sonnx.decimal) == ("0x7fc00000", "0")
    assert "a different result" in applied_text(nan)
    scaled = apply(
        load_spec(), "directml-1.0", "float32", "2", min="0", max="9", scale="3", bias="1"
    )
    assert scaled.result.decimal == "7"
    assert "  scale    3  " in applied_text(scaled)
    assert (
        apply(load_spec(), "sonnx-real", "real", "0.1", min="0.2", max="1").result.decimal == "0.2"
    )


@pytest.mark.parametrize(
    ("arguments", "where", "says"),
    [
        (("onnx-7", "float32", "1"), None, "unknown dialect `onnx-7`"),
        (("onnx-6", "float31", "1"), None, "no `float31` among the element types"),
        (("onnx-6", "float32", "one"), "--x", "`one` is not a number"),
        (("onnx-6", "int8", "1"), "sonnx-clip dialect onnx-6 int8", "x is int8; it takes"),
        (
            ("sonnx-real", "float32", "1"),
            "sonnx-clip dialect sonnx-real float32",
            "an array of Fraction",
        ),
    ],
)
def test_bad_input_is_one_message(arguments, where, says):
    with pytest.raises(UserError, match=says) as caught:
        apply(load_spec(), *arguments, min=None, max=None)
    assert caught.value.where == where
