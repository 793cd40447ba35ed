"""`sonnx-clip readings`: the matrix for people and for machines."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.cli.app import app
from sonnx_clip.explain.readings_matrix import Matrix, matrix
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

SPEC = load_spec()


def run(*arguments):
    done = CliRunner().invoke(app, ["readings", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def cell(found, klass, reading):
    (row,) = [row for row in found.rows if row.id == klass]
    (one,) = [one for one in row.cells if one.reading == reading]
    return one


def test_json_is_the_matrix():
    found = Matrix.model_validate(json.loads(run("--format", "json")))
    assert found == matrix(SPEC, SPEC.element_type("float32"))
    body = cell(found, "inverted_nan", "onnx-body")
    assert (body.agreement, body.answers) == ("differs", ("nan",))
    assert (body.other.x, body.other.answer, body.other.due) == ("nan", "nan", "0")
    assert cell(found, "low_zero_tie", "numpy").answers == ("-0", "0")
    assert cell(found, "inside_nan", "numpy").answers == ("any nan",)
    assert cell(found, "inside_nan", "numpy").agreement == "values"


@pytest.mark.parametrize("type_id", ["real", "uint8", "bfloat16"])
def test_the_obligations_of_every_cell_exist(type_id):
    known = {o.id for o in all_obligations(SPEC)}
    found = matrix(SPEC, SPEC.element_type(type_id))
    assert {id_ for row in found.rows for one in row.cells for id_ in one.obligations} <= known


@pytest.mark.parametrize(("columns", "tables"), [(200, 1), (80, 2), (50, 4)])
def test_the_heads_are_whole_and_distinct_at_every_width(monkeypatch, columns, tables):
    monkeypatch.setenv("COLUMNS", str(columns))
    told = run()
    assert "…" not in told
    assert max(len(line.rstrip()) for line in told.splitlines()) <= columns
    lines = told.splitlines()
    assert sum(line.split()[:1] == ["class"] for line in lines) == tables
    assert sum(line.startswith(("inverted_zero_tie ", " inverted_zero_tie ")) for line in lines) == tables
    heads = [k for k, line in enumerate(lines) if line.split()[:1] == ["class"]]
    head = " ".join(f"{lines[k - 1]} {lines[k]}" for k in heads)
    for id_ in [r.id for r in SPEC.readings if r.id != "cases"]:
        assert all(part in head for part in id_.replace("-", " -", 1).split())
    joined = " ".join(told.split())
    assert "onnx-body in low_max_nan: X = -0, min = 0, max = nan gives -0, expected 0" in joined


def test_the_signs_and_the_answers_below_them_are_the_matrix(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = run()
    found = matrix(SPEC, SPEC.element_type("float32"))
    rows: dict[str, list[str]] = {}
    for line in told.splitlines():  # of each of the tables side by side
        if line.startswith(("in", "low", "high")) and ":" not in line:
            rows.setdefault(line.split()[0], []).extend(line.split()[1:])
    signs = {"bits": "=", "values": "~", "differs": "X"}
    assert {
        row.id: [signs[one.agreement] for one in row.cells if one.reading != "cases"] for row in found.rows
    } == rows
    joined = " ".join(told.split())
    answers = (
        "0; nan from onnx-body, onnx-words; nan or 0 from onnx-13-words; any nan from formula-2019,"
        " numpy, onnx-equation; 1 or any nan from directml; 1 from directml-c"
    )
    assert f"inverted_nan: nan, 1, 0: expected {answers}" in joined


def test_integers_differ_where_bounds_are_inverted_alone():
    found = matrix(SPEC, SPEC.element_type("int8"))
    differs = {row.id for row in found.rows for one in row.cells if one.agreement == "differs"}
    assert differs == {"inverted_ordinary"}


def test_an_unknown_type_is_one_message():
    with pytest.raises(UserError, match="float8"):
        CliRunner().invoke(app, ["readings", "--dtype", "float8"], catch_exceptions=False)
