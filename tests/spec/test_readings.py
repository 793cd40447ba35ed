"""Readings: what they answer by evaluation, where they agree with the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.language import encode
from sonnx_clip.language.special import sampled
from sonnx_clip.language.values import comparison_key, identical
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import agrees, answers, answers_told, leaves_values_open, same_value

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec

# Written down from the definitions, not from the file: X, L, M, and what each reading allows. "NaN" is any.
ANSWERS = [
    ("onnx-body", ("nan", "1", "0"), {"X"}),
    ("onnx-body", ("-0", "0", "1"), {"X"}),
    ("onnx-body", ("3", "nan", "2"), {"M"}),
    ("formula-c", ("nan", "0", "1"), {"L"}),
    ("formula-c", ("0", "nan", "1"), {"L"}),
    ("formula-c", ("0", "-1", "-0"), {"X"}),
    ("formula-2008", ("nan", "0", "1"), {"L"}),
    ("formula-2008", ("0", "nan", "nan"), {"X"}),
    ("formula-2008", ("-0", "0", "1"), {"X", "L"}),
    ("formula-2008", ("-1", "0", "-0"), {"L", "M"}),
    ("formula-2008", ("snan", "0", "1"), {"M"}),
    ("formula-2008", ("0", "snan", "1"), {"M"}),
    ("formula-2019", ("-0", "0", "1"), {"L"}),
    ("formula-2019", ("0", "-1", "-0"), {"M"}),
    ("numpy", ("0", "-1", "-0"), {"X", "M"}),
    ("numpy", ("5", "2", "1"), {"M"}),
    ("onnx-13-words", ("nan", "1", "0"), {"X", "M"}),
    ("onnx-13-words", ("3", "nan", "2"), {"M"}),
    ("onnx-equation", ("0", "-1", "-0"), {"X", "M"}),
    ("onnx-equation", ("-1", "-0", "0"), {"L", "M"}),
    ("formula-cpp", ("nan", "0", "1"), {"M"}),
    ("formula-cpp", ("nan", "1", "0"), {"M"}),
    ("formula-cpp", ("0", "nan", "1"), {"X"}),
    ("formula-cpp", ("0", "1", "nan"), {"M"}),
    ("formula-cpp", ("-0", "0", "1"), {"X"}),
    ("formula-cpp", ("-1", "0", "-0"), {"M"}),
    ("sonnx-2026-01-words", ("nan", "1", "0"), {"M"}),
    ("sonnx-2026-01-words", ("-0", "0", "1"), {"X"}),
    ("sonnx-2026-01-words", ("0", "-1", "-0"), {"X"}),
    ("sonnx-2026-01-words", ("0", "1", "nan"), {"L"}),
    ("sonnx-2026-01-words", ("3", "nan", "2"), {"M"}),
    ("sonnx-2026-01-words", ("-inf", "nan", "nan"), {"X"}),
    ("directml", ("5", "2", "1"), {"L"}),
    ("directml", ("1", "-0", "0"), {"L", "M"}),
    ("directml", ("-0", "0", "0"), {"X", "L"}),
    ("directml-c", ("5", "2", "1"), {"L"}),
    ("directml-c", ("nan", "0", "1"), {"M"}),
    ("directml-c", ("0", "1", "nan"), {"M"}),
    *((id_, texts, {"NaN"}) for id_ in ("formula-2019", "numpy", "onnx-equation")
      for texts in (("0", "nan", "1"), ("nan", "0", "1"), ("0", "1", "nan"))),
    # A signalling NaN is delivered as a NaN, and a quiet one is dropped.
    *(("formula-2008", texts, {"NaN"})
      for texts in (("0", "1", "snan"), ("snan", "0", "nan"), ("nan", "nan", "snan"))),
    ("formula-2008", ("0", "1", "nan"), {"L"}),
    # The larger of two values leaves a NaN open.
    ("directml", ("nan", "0", "1"), {"L", "M", "NaN"}),
    ("directml", ("0", "1", "nan"), {"L", "NaN"}),
    ("directml", ("5", "nan", "2"), {"M", "NaN"}),
]  # fmt: skip


@pytest.mark.parametrize("type_id", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("id_", "texts", "allowed"), ANSWERS)
def test_answers_of_a_reading(
    spec: Spec, type_id: str, id_: str, texts: tuple[str, str, str], allowed: set[str]
) -> None:
    etype = spec.element_type(type_id)
    triple = tuple(encode(text, etype) for text in texts)
    due = {dict(zip("XLM", triple, strict=True))[name] for name in allowed - {"NaN"}}
    found, any_nan = answers_told(spec, etype, spec.reading(id_), triple)
    assert (set(found), any_nan) == (due, "NaN" in allowed)


def test_integers_and_reals_have_one_answer_each(spec: Spec) -> None:
    for type_id in ("real", "int8", "uint8"):
        etype = spec.element_type(type_id)
        for reading in spec.readings:
            for triple in sampled(etype, 3):
                numbers, any_nan = answers_told(spec, etype, reading, triple)
                inverted = comparison_key(triple[2], etype) < comparison_key(triple[1], etype)
                assert len(numbers) == (2 if reading.id == "onnx-words" and inverted else 1)
                assert not any_nan


def test_readings_that_leave_values_open(spec: Spec) -> None:
    for type_id in ("real", "int8", "float32"):
        etype = spec.element_type(type_id)
        assert [r.id for r in spec.readings if leaves_values_open(spec, etype, r)] == (
            ["onnx-words", "onnx-13-words", "directml"] if etype.family == "float" else ["onnx-words"]
        )


def test_the_regions_are_where_the_answers_are_those_of_the_cases(spec: Spec) -> None:
    etype = spec.element_type("bfloat16")
    for reading in spec.readings:
        for triple in sampled(etype, 3):
            due = evaluator(spec, etype).result(*triple)
            allowed = answers(spec, etype, reading, triple)
            by_bits = all(identical(y, due) for y in allowed)
            by_value = all(same_value(y, due, etype) for y in allowed)
            assert agrees(spec, etype, reading, triple, bitwise=True) == by_bits
            assert agrees(spec, etype, reading, triple, bitwise=False) == by_value
