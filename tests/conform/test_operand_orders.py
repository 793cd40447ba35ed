"""What explains the answers of a runtime that no reading allows: orders of operands, and wrong operators."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.operand_orders import explained, operand_orders
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

SPEC = load_spec()
FLOATS = ("float16", "bfloat16", "float32", "float64")


def triples(name, more=()):
    """X, L and M: every triple of special values, and of some more."""
    etype = SPEC.element_type(name)
    patterns = [*special_patterns(etype), *(encode(text, etype) for text in more)]
    values = np.array(patterns, bits_type(name)).view(numpy_type(name))
    return tuple(
        np.array(column, values.dtype) for column in zip(*product(values, repeat=3), strict=True)
    )


def explanation(name, function, more=()):
    x, l, m = triples(name, more)
    return explained(clip_operator(), SPEC.element_type(name), (x, l, m), function(x, l, m))


def sse(x, l, m):
    """minps(maxps(x, l), m): the second operand in doubt."""
    v = np.where(x > l, x, l)
    return np.where(v < m, v, m)


@pytest.mark.parametrize("name", FLOATS)
def test_order_of_sse_is_explained_in_c(name):
    assert explanation(name, sse) == "`v = X > L ? X : L; Y = v < M ? v : M`"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("end", ["FMAXNM(X, L); Y = FMINNM(v, M)", "FMIN(X, M); Y = FMAX(v, L)"])
def test_instructions_of_arm_are_explained(name, end):
    orders = dict(operand_orders(SPEC.element_type(name)))
    words = f"`v = {end}` (capitals: instructions of Arm)"
    assert explanation(name, orders[words]) == words


@pytest.mark.parametrize("where", [0, 1, -1])
def test_answer_outside_the_sample_counts(where):
    x, l, m = triples("float32")
    got = sse(x, l, m)
    got[where] = -got[where] if np.isfinite(got[where]) else 5
    assert explained(clip_operator(), SPEC.element_type("float32"), (x, l, m), got) is None
