"""`sonnx-clip readings`: the matrix for people and for machines, and the document in generated/."""

import json

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.errors import UserError
from sonnx_clip.paths import repo_file
from sonnx_clip.readings.matrix import Matrix, matrix
from sonnx_clip.readings.text import PATH, render_markdown
from sonnx_clip.render.generate import all_obligations
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


@pytest.mark.parametrize(("columns", "tables"), [("200", 1), ("80", 5), ("20", 8)])
def test_a_narrow_terminal_gets_several_tables(monkeypatch, columns, tables):
    monkeypatch.setenv("COLUMNS", columns)
    told = run()
    assert told.count(" class ") == tables
    assert told.count("inverted_zero_tie") == tables or columns == "20"
    assert "onnx-body in low_max_nan: X = -0, min = 0, max = nan gives -0, 0 is due" in told


def test_integers_differ_where_bounds_are_inverted_alone():
    told = run("--dtype", "int8", "--format", "markdown")
    assert (
        "| inverted_ordinary | 5, 20, 10 | 10 | = 10 | = 10 | X 20 or 10 | = 10 | = 10 | = 10 | = 10 | X 20 |"
        in told
    )
    assert [line for line in told.splitlines() if "| X " in line] == [
        line for line in told.splitlines() if "inverted_ordinary" in line
    ]


def test_the_document_is_that_in_generated():
    ((path, text),) = render_markdown(SPEC).items()
    assert path == PATH
    assert repo_file(path).read_text() == text, "run `sonnx-clip generate`"
    for reading in SPEC.readings:
        assert f"- **{reading.id}**: {reading.title}" in text
    for type_id in ("real", "int32", "float32"):
        assert f"## {type_id}\n" in text


def test_an_unknown_type_is_one_message():
    with pytest.raises(UserError, match="float8"):
        CliRunner().invoke(app, ["readings", "--dtype", "float8"], catch_exceptions=False)
