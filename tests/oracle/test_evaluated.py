"""The oracle that evaluates parsed conditions agrees with the generated one, and executes no text."""

from __future__ import annotations

import numpy as np
import pytest

from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.evaluated import evaluated_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

SPEC, ORACLE = load_spec(), load_oracle()
EVALUATED = evaluated_oracle(SPEC)


@pytest.mark.parametrize("name", ["int8", "uint64", "float16", "bfloat16", "float32", "float64"])
def test_evaluated_oracle_agrees_with_the_generated_one(name: str) -> None:
    etype = SPEC.element_type(name)
    values = np.array(special_patterns(etype), bits_type(name)).view(numpy_type(name))
    x, low, high = (axis.ravel() for axis in np.meshgrid(*[values] * 3))
    due = ORACLE.clip(x, low, high)
    assert np.array_equal(
        EVALUATED.clip(x, low, high).view(bits_type(name)), due.view(bits_type(name))
    )
    answer = np.roll(due, 1)
    for table, more in (("CLASSES", ()), ("LATITUDE", (due, answer)), ("READINGS", (answer,))):
        generated, evaluated = (
            getattr(ORACLE, table)[etype.family],
            getattr(EVALUATED, table)[etype.family],
        )
        assert list(generated) == list(evaluated)
        for id_, holds in generated.items():
            assert np.array_equal(
                holds(x, low, high, *more), evaluated[id_](x, low, high, *more)
            ), id_
    assert (EVALUATED.ALWAYS, EVALUATED.CASE_OF_CLASS) == (ORACLE.ALWAYS, ORACLE.CASE_OF_CLASS)
