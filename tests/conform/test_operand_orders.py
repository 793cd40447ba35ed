"""What gives every answer of a runtime that no reading allows: orders of the operands of two comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sonnx_clip.conform.answers import Answers
from sonnx_clip.conform.causes import explains_all
from sonnx_clip.conform.operand_orders import operand_orders
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

SPEC = load_spec()
FLOATS = ("float16", "bfloat16", "float32", "float64")


def triples(name):
    """X, L and M: every triple of special values."""
    special = special_patterns(SPEC.element_type(name))
    values = np.array(special, bits_type(name)).view(numpy_type(name))
    return tuple(
        np.array(column, values.dtype) for column in zip(*product(values, repeat=3), strict=True)
    )


def explanation(name, operands, result):
    """What gives these results, each in a call of its own."""
    bits, places = bits_type(name), np.zeros(len(result), int)
    got, expected = result.view(bits), clip_operator().result(*operands).view(bits)
    answers = Answers(
        etype=SPEC.element_type(name),
        operands=tuple(operand.view(bits) for operand in operands),
        got=got,
        expected=expected,
        classes=places,
        violating=np.not_equal(got, expected),
        layouts=places,
        lengths=places + 1,
        entries=places,
    )
    return explains_all(clip_operator(), answers)


def sse(x, l, m):
    """minps(maxps(x, l), m): the second operand in doubt."""
    v = np.where(x > l, x, l)
    return np.where(v < m, v, m)


@pytest.mark.parametrize("name", FLOATS)
def test_order_of_sse_is_explained_in_c(name):
    operands = triples(name)
    assert explanation(name, operands, sse(*operands)) == "`v = X > L ? X : L; Y = v < M ? v : M`"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("end", ["FMAXNM(X, L); Y = FMINNM(v, M)", "FMIN(X, M); Y = FMAX(v, L)"])
def test_instructions_of_arm_are_explained(name, end):
    orders = dict(operand_orders(SPEC.element_type(name)))
    words = f"`v = {end}` (capitals: instructions of Arm)"
    operands = triples(name)
    assert explanation(name, operands, orders[words](*operands)) == words


@pytest.mark.parametrize("where", [0, 1, -1])
def test_one_other_answer_leaves_no_explanation(where):
    operands = triples("float32")
    got = sse(*operands)
    got[where] = -got[where] if np.isfinite(got[where]) else 5
    assert explanation("float32", operands, got) is None
