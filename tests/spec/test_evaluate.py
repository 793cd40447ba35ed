"""The evaluator against NumPy's comparisons, and the specification against itself at special values."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from sonnx_clip.language import encode
from sonnx_clip.language.special import sampled
from sonnx_clip.spec import DeclaredTensor, Evaluator, TensorValue, declared_example, evaluator, load_spec

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType, Value

SPEC = load_spec()
FLOAT32 = SPEC.element_type("float32")


def values_of(etype: ElementType) -> list[Value]:
    return [value for (value,) in sampled(etype, 1)]


@pytest.mark.parametrize("etype", [t for t in SPEC.element_types if t.width], ids=lambda etype: etype.id)
def test_clip_is_the_cases_in_numpy(etype: ElementType) -> None:
    unsigned = np.dtype(f"u{etype.width // 8}")
    dtype = np.dtype(ml_dtypes.bfloat16) if etype.id == "bfloat16" else np.dtype(etype.id)
    triples = list(sampled(etype, 3))
    bits = np.array(triples, unsigned)
    x, l, m = (column.view(dtype) for column in bits.T.copy())
    due = np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x))).astype(dtype).view(unsigned)
    for triple, result in zip(triples, due, strict=True):
        assert evaluator(SPEC, etype).result(*triple) == int(result)


def tensors_of(evaluate: Evaluator, x: list[Value], l: Value, m: Value) -> dict[str, TensorValue]:
    etype = evaluate.etype
    y = tuple(evaluate.result(entry, l, m) for entry in x)
    return {
        "X": TensorValue(etype.id, (len(x),), tuple(x)),
        "L": TensorValue(etype.id, (), (l,)),
        "M": TensorValue(etype.id, (), (m,)),
        "Y": TensorValue(etype.id, (len(x),), y),
    }


def test_constraints_see_a_wrong_shape_and_type() -> None:
    evaluate = evaluator(SPEC, FLOAT32)
    tensors = tensors_of(evaluate, [0, 0], 0, 0)
    wrong_shape = tensors | {"Y": TensorValue("float32", (2, 1), (0, 0))}
    assert not evaluate(SPEC.constraint("C1").holds, wrong_shape)
    for name in "XLMY":
        wrong = tensors | {name: TensorValue("float64", tensors[name].shape, tensors[name].entries)}
        assert not evaluate(SPEC.constraint("C3").holds, wrong)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"L": None}, {"R1"}),
        ({"L": None, "M": None}, {"R1", "R2"}),
        ({"Y": DeclaredTensor("float32", (2, 3), sparse=True)}, {"R3"}),
        ({"X": DeclaredTensor("float32", None)}, {"R4"}),
        ({"X": DeclaredTensor("float32", ("N", 3))}, {"R4"}),
        ({"X": DeclaredTensor("float32", (2, -1))}, {"R4"}),
        ({"M": DeclaredTensor("float32", None)}, {"R4", "scalar_bounds"}),
        ({"X": DeclaredTensor("int8", (2, 3))}, {"R5"}),
        ({"M": DeclaredTensor("float32", (1,))}, {"scalar_bounds"}),
        ({"M": DeclaredTensor("int8", (1, "N"), sparse=True)}, {"R3", "R4", "R5", "scalar_bounds"}),
    ],
)
def test_restrictions_on_declared_tensors(changes, broken: set[str]) -> None:
    tensors = declared_example(SPEC) | changes
    evaluate = evaluator(SPEC, FLOAT32)
    assert {r.id for r in SPEC.restrictions if not evaluate(r.holds, tensors)} == broken


@pytest.mark.parametrize(
    ("x", "l", "m", "answer", "ids"),
    [
        ("-0", "0", "1", "-0", {"zero-sign"}),
        ("1", "0", "2", "-0", set()),
        ("-1", "-0", "0", "0", {"zero-sign"}),
        ("1", "-0", "0", "-0", set()),
        ("-0", "-0", "-0", "0", set()),
        ("-0", "1", "0", "-0", set()),
        ("nan", "0", "1", "-nan", {"nan-payload"}),
        ("nan", "1", "0", "-nan", {"nan-inverted"}),
        ("nan", "1", "0", "1", set()),
        ("-0", "-1", "1", "0", set()),
    ],
)
def test_latitude(x: str, l: str, m: str, answer: str, ids: set[str]) -> None:
    values = [encode(text, FLOAT32) for text in (x, l, m)]
    found = tuple(evaluator(SPEC, FLOAT32).latitudes(values, encode(answer, FLOAT32)))
    assert {entry.id for entry in found} == ids


def test_r5_is_c3_for_every_choice_of_types() -> None:
    """The finding r5-and-c3; four types are enough, since only whether two are the same matters."""
    types, names = [etype.id for etype in SPEC.element_types[:4]], [*SPEC.head.operands, "Y"]
    evaluate = evaluator(SPEC, SPEC.element_types[0])
    for given in product(types, repeat=len(names)):
        declared = {name: DeclaredTensor(type_, ()) for name, type_ in zip(names, given, strict=True)}
        values = {name: TensorValue(tensor.type, (), (0,)) for name, tensor in declared.items()}
        r5, c3 = SPEC.restriction("R5").holds, SPEC.constraint("C3").holds
        assert evaluate(r5, declared) == evaluate(c3, values)
