"""`sonnx-clip readings`: the matrix for people and machines, and interpretations that runs support."""

from __future__ import annotations

import json

from sonnx_clip.explain.measured_record import read_measured
from sonnx_clip.explain.readings_matrix import Matrix, matrix
from sonnx_clip.language.values import is_nan
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.readings import answers_told
from tests.command import printed

SPEC = load_spec()
GIVEN = {r.id: r.interpretation for r in SPEC.readings if r.interpretation is not None}
FLOAT32 = matrix(SPEC, SPEC.element_type("float32"))


def test_json_is_the_matrix() -> None:
    assert Matrix.model_validate(json.loads(printed("readings", "--json"))) == FLOAT32
    cells = {(row.id, one.reading): one for row in FLOAT32.rows for one in row.cells}
    body = cells["inverted_nan", "onnx-body"]
    assert (body.agreement, body.answers) == ("differs", ("nan",))
    assert body.elsewhere == "X = nan, min = 1, max = 0 gives nan, expected 0"
    assert cells["low_zero_tie", "numpy"].answers == ("-0", "0")
    assert (cells["inside_nan", "numpy"].answers, cells["inside_nan", "numpy"].agreement) == (
        ("any nan",), "values",
    )  # fmt: skip
    integers = matrix(SPEC, SPEC.element_type("uint8")).rows
    differs = {row.id for row in integers for one in row.cells if one.agreement == "differs"}
    assert differs == {"inverted_ordinary"}


def test_runs_support_the_interpretations_that_name_them() -> None:
    """Each has a run with a NaN operand, and its reading allows every answer of these runs."""
    for id_, form in [(id_, given.ran) for id_, given in GIVEN.items() if given.ran]:
        has_nan = False
        for answer in (a for a in read_measured(SPEC).answers if a.form == form and a.bits):
            etype = SPEC.element_type(answer.type)
            triple = tuple(answer.operands[name] for name in ("X", "min", "max"))
            has_nan |= any(is_nan(value, etype) for value in triple)
            allowed, any_nan = answers_told(SPEC, etype, SPEC.reading(id_), triple)
            for y in answer.bits:
                assert y in allowed or (any_nan and is_nan(y, etype)), (id_, str(answer))
        assert has_nan, id_
