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
ANSWERS = {
    "onnx-body": ["nan 1 0: X", "-0 0 1: X", "3 nan 2: M"],
    "formula-c": ["nan 0 1: L", "0 nan 1: L", "0 -1 -0: X"],
    "formula-2008": [
        "nan 0 1: L", "0 nan nan: X", "-0 0 1: X L", "-1 0 -0: L M", "snan 0 1: M", "0 snan 1: M",
        "0 1 snan: NaN", "snan 0 nan: NaN", "nan nan snan: NaN", "0 1 nan: L"
    ],
    "formula-2019": ["-0 0 1: L", "0 -1 -0: M", "0 nan 1: NaN", "nan 0 1: NaN", "0 1 nan: NaN"],
    "formula-2019-number": [
        "nan 0 1: L", "snan 0 1: L", "nan 1 0: M", "nan nan 1: M", "nan 0 nan: L", "nan snan nan: NaN",
        "0 nan 1: X", "0 snan 1: X", "0 1 nan: L", "0 1 snan: L", "-0 0 1: X L", "-1 0 -0: L M",
        "-1 -0 0: L M"
    ],
    "numpy": ["0 -1 -0: X M", "5 2 1: M", "0 nan 1: NaN", "nan 0 1: NaN", "0 1 nan: NaN"],
    "onnx-13-words": ["nan 1 0: X M", "3 nan 2: M"],
    "onnx-equation": ["0 -1 -0: X M", "-1 -0 0: L M", "0 nan 1: NaN", "nan 0 1: NaN", "0 1 nan: NaN"],
    "formula-cpp": ["nan 0 1: M", "nan 1 0: M", "0 nan 1: X", "0 1 nan: M", "-0 0 1: X", "-1 0 -0: M"],
    "sonnx-2026-01-words": [
        "nan 1 0: M", "-0 0 1: X", "0 -1 -0: X", "0 1 nan: L", "3 nan 2: M", "-inf nan nan: X"
    ],
    "directml": [
        "5 2 1: L", "1 -0 0: L M", "-0 0 0: X L", "nan 0 1: L M NaN", "0 1 nan: L NaN", "5 nan 2: M NaN"
    ],
    "directml-c": ["5 2 1: L", "nan 0 1: M", "0 1 nan: M"],
}  # fmt: skip


@pytest.mark.parametrize("type_id", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("id_", "row"), [(id_, row) for id_, rows in ANSWERS.items() for row in rows]
)
def test_answers_of_a_reading(spec: Spec, type_id: str, id_: str, row: str) -> None:
    etype, (texts, _, allowed) = spec.element_type(type_id), row.partition(": ")
    triple = tuple(encode(text, etype) for text in texts.split())
    due = {value for name, value in zip("XLM", triple, strict=True) if name in allowed.split()}
    found, any_nan = answers_told(spec, etype, spec.reading(id_), triple)
    assert (set(found), any_nan) == (due, "NaN" in allowed.split())


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
            ["onnx-words", "onnx-13-words", "directml"]
            if etype.family == "float"
            else ["onnx-words"]
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
