"""`sonnx-clip readings`: the matrix for people and machines, and interpretations that runs support."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.explain.readings_matrix import Matrix, interpreted, matrix, matrix_text, require_shown
from sonnx_clip.explain.triple import explain, explanation_text
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.command import printed

SPEC = load_spec()
GIVEN = {r.id: r.interpretation for r in SPEC.readings if r.interpretation is not None}
FLOAT32 = matrix(SPEC, SPEC.element_type("float32"))


def test_json_is_the_matrix() -> None:
    assert Matrix.model_validate(json.loads(printed("readings", "--json"))) == FLOAT32
    cells = {(row.id, one.reading): one for row in FLOAT32.rows for one in row.cells}
    body = cells["inverted_nan", "onnx-body"]
    assert (body.agreement, body.answers) == ("differs", ("nan",))
    assert body.other is not None
    assert (body.other.x, body.other.answer, body.other.due) == ("nan", "nan", "0")
    assert cells["low_zero_tie", "numpy"].answers == ("-0", "0")
    assert (cells["inside_nan", "numpy"].answers, cells["inside_nan", "numpy"].agreement) == (
        ("any nan",), "values",
    )  # fmt: skip
    integers = matrix(SPEC, SPEC.element_type("uint8")).rows
    differs = {row.id for row in integers for one in row.cells if one.agreement == "differs"}
    assert differs == {"inverted_ordinary"}


@pytest.mark.parametrize("columns", [200, 50])
def test_every_reading_is_shown_at_every_width(columns: int) -> None:
    text = matrix_text(FLOAT32, columns)
    assert max(map(len, text.splitlines())) <= columns
    joined = " ".join(text.split())
    for row in FLOAT32.rows:
        part = joined.partition(f" {row.id}: {row.x}, {row.min}, {row.max}; expected {row.due} ")[2]
        assert all(cell.reading in part for cell in row.cells), row.id
    assert "onnx-body: X = -0, min = 0, max = nan gives -0, expected 0" in joined
    assert "X any nan: formula-2019, numpy, onnx-equation" in joined


def test_interpretations_are_shown_where_a_nan_occurs() -> None:
    assert matrix(SPEC, SPEC.element_type("float16")).interpretations.keys() == GIVEN.keys()
    assert not matrix(SPEC, SPEC.element_type("int8")).interpretations
    for x in ("nan", "0"):
        text = explanation_text(explain("float32", x, "0", "1"))
        for reading, given in GIVEN.items():
            assert (f"    {reading}: {interpreted(given)}" in text) is (x == "nan")


@pytest.mark.parametrize(("form", "reading"), [("equation-13", "onnx-equation"), ("body-13", "onnx-body")])
def test_interpretation_that_runs_refute_or_lack_is_rejected(form: str, reading: str) -> None:
    """A Max that drops the NaN of X; then no run of this form at all."""
    record = read_record(SPEC)
    require_shown(SPEC, record)

    def wrong(a: Any) -> Any:
        dropped = a.form == form and a.x == "0x7fc00000" and a.bits == (a.x,)
        return a.model_copy(update={"bits": ("0x3f000000",)}) if dropped else a

    refuted = tuple(wrong(a) for a in record.answers)
    with pytest.raises(UserError, match=f"`{reading}`.* the reading does not allow"):
        require_shown(SPEC, record.model_copy(update={"answers": refuted}))
    lacking = tuple(a for a in record.answers if a.form != form)
    with pytest.raises(UserError, match=f"`{reading}`: no run of {form} has a NaN operand"):
        require_shown(SPEC, record.model_copy(update={"answers": lacking}))
