"""The evaluator against NumPy's comparisons, and the specification against itself at special values."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sonnx_clip.language.special import sampled
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.spec import DeclaredTensor, TensorValue, evaluator, load_spec

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType

SPEC = load_spec()


@pytest.mark.parametrize(
    "etype", [t for t in SPEC.element_types if t.width], ids=lambda etype: etype.id
)
def test_clip_is_the_cases_in_numpy(etype: ElementType) -> None:
    unsigned = np.dtype(f"u{etype.width // 8}")
    dtype = numpy_type(etype.id)
    triples = list(sampled(etype, 3))
    bits = np.array(triples, unsigned)
    x, l, m = (column.view(dtype) for column in bits.T.copy())
    due = (
        np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x))).astype(dtype).view(unsigned)
    )
    for triple, result in zip(triples, due, strict=True):
        assert evaluator(SPEC, etype).result(*triple) == int(result)


def test_constraints_see_a_wrong_shape_and_type() -> None:
    ask, c1, c3 = (
        evaluator(SPEC, SPEC.element_type("float32")),
        SPEC.constraint("C1"),
        SPEC.constraint("C3"),
    )
    many, one = TensorValue("float32", (2,), (0, 0)), TensorValue("float32", (), (0,))
    tensors = {"X": many, "L": one, "M": one, "Y": many}
    assert ask(c1.holds, tensors)
    assert ask(c3.holds, tensors)
    assert not ask(c1.holds, tensors | {"Y": replace(many, shape=(2, 1))})
    for name, tensor in tensors.items():
        assert not ask(c3.holds, tensors | {name: replace(tensor, type="float64")})


def test_r5_is_c3_for_every_choice_of_types() -> None:
    """The finding r5-and-c3; four types are enough, since only whether two are the same matters."""
    types, names = [etype.id for etype in SPEC.element_types[:4]], [*SPEC.signature.ids, "Y"]
    evaluate = evaluator(SPEC, SPEC.element_types[0])
    for given in product(types, repeat=len(names)):
        declared = {
            name: DeclaredTensor(type_, ()) for name, type_ in zip(names, given, strict=True)
        }
        values = {name: TensorValue(tensor.type, (), (0,)) for name, tensor in declared.items()}
        r5, c3 = SPEC.restriction("R5").holds, SPEC.constraint("C3").holds
        assert evaluate(r5, declared) == evaluate(c3, values)
