"""What a reading makes of the silence of its words: told wherever the reading is, and shown by runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.explain.readings_matrix import interpreted, matrix, not_shown, require_shown
from sonnx_clip.explain.triple import explain, explanation_text
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.explain.measured_record import Measured

SPEC = load_spec()
GIVEN = {r.id: r.interpretation for r in SPEC.readings if r.interpretation is not None}


def test_the_readings_with_max_and_min_of_onnx_or_directml_say_what_they_make_of_a_nan() -> None:
    assert {"onnx-equation", "directml-c", "onnx-body", "onnx-words"} == set(GIVEN)


def test_the_matrix_has_each_for_floats_and_none_for_integers() -> None:
    assert matrix(SPEC, SPEC.element_type("float16")).interpretations.keys() == GIVEN.keys()
    assert not matrix(SPEC, SPEC.element_type("int8")).interpretations


@pytest.mark.parametrize(("x", "told"), [("nan", True), ("0", False)])
def test_explain_tells_them_where_an_operand_is_nan(x: str, told: bool) -> None:
    text = explanation_text(explain("float32", x, "0", "1"))
    for reading, given in GIVEN.items():
        assert (f"    {reading}: {interpreted(given)}" in text) is told


def test_the_record_shows_those_that_name_runs() -> None:
    require_shown(SPEC, read_record(SPEC))
    assert {r for r, given in GIVEN.items() if given.ran} == {"onnx-equation", "onnx-body"}


def changed(form: str, bits: str) -> Measured:
    """The record with another answer to the first question with a NaN for X, in one form."""
    record = read_record(SPEC)
    at = next(
        k for k, a in enumerate(record.answers) if a.form == form and a.x == "0x7fc00000" and a.bits == (a.x,)
    )
    answers = list(record.answers)
    answers[at] = answers[at].model_copy(update={"bits": (bits,)})
    return record.model_copy(update={"answers": tuple(answers)})


@pytest.mark.parametrize(("form", "reading"), [("equation-13", "onnx-equation"), ("body-13", "onnx-body")])
def test_an_answer_that_the_reading_does_not_allow_is_named(form: str, reading: str) -> None:
    """A Max that drops the NaN of X: the reading is then not what runs show."""
    found = next(not_shown(SPEC, changed(form, "0x3f000000")))
    assert f"`{reading}`" in found
    assert "which the reading does not allow" in found
    with pytest.raises(UserError, match="correct `interpretation`"):
        require_shown(SPEC, changed(form, "0x3f000000"))


def test_runs_without_a_nan_show_nothing() -> None:
    record = read_record(SPEC)
    without = tuple(a for a in record.answers if a.form != "equation-13")
    found = list(not_shown(SPEC, record.model_copy(update={"answers": without})))
    assert found == ["`onnx-equation`: no run of equation-13 has a NaN operand"]
