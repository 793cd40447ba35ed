"""`sonnx-clip readings`: the matrix for people and machines, and interpretations that runs support."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.cli.app import app
from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.explain.readings_matrix import Matrix, interpreted, matrix, require_shown
from sonnx_clip.explain.triple import explain, explanation_text
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

SPEC = load_spec()
GIVEN = {r.id: r.interpretation for r in SPEC.readings if r.interpretation is not None}


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["readings", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_json_is_the_matrix() -> None:
    found = Matrix.model_validate(json.loads(run("--format", "json")))
    assert found == matrix(SPEC, SPEC.element_type("float32"))
    cells = {(row.id, one.reading): one for row in found.rows for one in row.cells}
    body = cells["inverted_nan", "onnx-body"]
    assert (body.agreement, body.answers) == ("differs", ("nan",))
    assert body.other is not None
    assert (body.other.x, body.other.answer, body.other.due) == ("nan", "nan", "0")
    assert cells["low_zero_tie", "numpy"].answers == ("-0", "0")
    assert cells["inside_nan", "numpy"].answers == ("any nan",)
    assert cells["inside_nan", "numpy"].agreement == "values"


def test_integers_differ_only_under_inverted_bounds_and_every_obligation_exists() -> None:
    known = {o.id for o in render_theories(SPEC).obligations}
    for type_id in ("real", "uint8", "bfloat16"):
        found = matrix(SPEC, SPEC.element_type(type_id))
        assert {id_ for row in found.rows for one in row.cells for id_ in one.obligations} <= known
        if type_id == "uint8":
            differs = {row.id for row in found.rows for one in row.cells if one.agreement == "differs"}
            assert differs == {"inverted_ordinary"}
    with pytest.raises(UserError, match="float8"):
        CliRunner().invoke(app, ["readings", "--dtype", "float8"], catch_exceptions=False)


@pytest.mark.parametrize("columns", [200, 80, 50])
def test_every_reading_is_shown_at_every_width(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= columns
    found = matrix(SPEC, SPEC.element_type("float32"))
    text = "\n".join(lines)
    assert "…" not in text
    assert all(part in text for id_ in found.titles if id_ != "cases" for part in id_.split("-", 1))
    joined = " ".join(text.split())
    assert "onnx-body in low_max_nan: X = -0, min = 0, max = nan gives -0, expected 0" in joined
    if columns == 80:
        answers = (
            "0; nan from onnx-body, onnx-words; nan or 0 from onnx-13-words; any nan from formula-2019,"
            " numpy, onnx-equation; 1 or any nan from directml; 1 from directml-c"
        )
        assert f"inverted_nan: nan, 1, 0: expected {answers}" in joined


def test_interpretations_are_shown_where_a_nan_occurs() -> None:
    assert {"onnx-equation", "directml-c", "onnx-body", "onnx-words"} == set(GIVEN)
    assert matrix(SPEC, SPEC.element_type("float16")).interpretations.keys() == GIVEN.keys()
    assert not matrix(SPEC, SPEC.element_type("int8")).interpretations
    for x in ("nan", "0"):
        text = explanation_text(explain("float32", x, "0", "1"))
        for reading, given in GIVEN.items():
            assert (f"    {reading}: {interpreted(given)}" in text) is (x == "nan")


@pytest.mark.parametrize(("form", "reading"), [("equation-13", "onnx-equation"), ("body-13", "onnx-body")])
def test_an_interpretation_that_runs_refute_or_lack_is_rejected(form: str, reading: str) -> None:
    """A Max that drops the NaN of X; then no run of this form at all."""
    record = read_record(SPEC)
    require_shown(SPEC, record)

    def wrong(a: Any) -> Any:
        dropped = a.form == form and a.x == "0x7fc00000" and a.bits == (a.x,)
        return a.model_copy(update={"bits": ("0x3f000000",)}) if dropped else a

    refuted = tuple(wrong(a) for a in record.answers)
    with pytest.raises(UserError, match=f"`{reading}`.*which the reading does not allow"):
        require_shown(SPEC, record.model_copy(update={"answers": refuted}))
    lacking = tuple(a for a in record.answers if a.form != form)
    with pytest.raises(UserError, match=f"`{reading}`: no run of {form} has a NaN operand"):
        require_shown(SPEC, record.model_copy(update={"answers": lacking}))
