"""What explains the answers of a runtime that no reading allows: formulas of C, SSE and Arm, and changes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.conform.likely_mistakes import PAYLOADS, changes, explained, formulas
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

SPEC = load_spec()
FLOATS = ("float16", "bfloat16", "float32", "float64")


def triples(name, more=()):
    """X, L and M: every triple of special values, and of some more."""
    etype = SPEC.element_type(name)
    patterns = [*special_patterns(etype), *(encode(text, etype) for text in more)]
    values = np.array(patterns, bits_type(name)).view(numpy_type(name))
    return tuple(np.array(column, values.dtype) for column in zip(*product(values, repeat=3), strict=True))


def explanation(name, function, more=()):
    x, l, m = triples(name, more)
    return explained(
        SPEC.element_type(name), (x, l, m), function(x, l, m), load_oracle().READINGS[family(name)]
    )


def family(name):
    return SPEC.element_type(name).family


def cases(x, l, m):
    return np.concatenate([clip(x[i : i + 1], l[i], m[i]) for i in range(len(x))])


def sse(x, l, m):
    """minps(maxps(x, l), m): the second operand in doubt."""
    v = np.where(x > l, x, l)
    return np.where(v < m, v, m)


def flushed(x, l, m):
    def zero(values):
        smallest = SPEC.element_type("float32")
        normal = np.array([encode("smallest_normal", smallest)], np.uint32).view(np.float32)
        return np.where(np.abs(values) < normal, np.copysign(np.float32(0), values), values)

    return cases(zero(x), zero(l), zero(m))


@pytest.mark.parametrize("name", FLOATS)
def test_the_order_of_sse_is_told_in_c(name):
    assert explanation(name, sse) == "`v = X > L ? X : L; Y = v < M ? v : M`"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("end", ["FMAXNM(X, L); Y = FMINNM(v, M)", "FMIN(X, M); Y = FMAX(v, L)"])
def test_the_instructions_of_arm(name, end):
    (found,) = [
        f
        for f in formulas(SPEC.element_type(name))
        if f.text == f"`v = {end}` (capitals: instructions of Arm)"
    ]
    assert explanation(name, found.of) == found.text


def test_flushed_subnormal_numbers():
    assert (
        explanation("float32", flushed)
        == "the reading cases of operands that were changed first: subnormal numbers taken for zero"
    )


def test_the_payload_of_a_nan_that_is_lost():
    def canonical(x, l, m):
        found = cases(x, l, m)
        return np.where(np.isnan(found), np.float32(np.nan), found)

    assert explanation("float32", canonical) == "those of the cases" + PAYLOADS


@pytest.mark.parametrize(
    ("name", "through", "beyond", "words"),
    [
        ("int32", np.float32, "max", "float32 and back, the nearest integer"),
        ("int32", np.float32, "min", "float32 and back, the least integer"),
        ("int64", np.float64, "max", "float64 and back, the nearest integer"),
        ("uint64", np.float32, "max", "float32 and back, the nearest integer"),
    ],
)
def test_integers_through_a_float(name, through, beyond, words):
    limits = np.iinfo(name)

    def changed(values):
        exact = [int(through(v)) for v in values.tolist()]
        return np.array([v if v <= limits.max else getattr(limits, beyond) for v in exact], name)

    more = ("16777217", "16777219") if name == "int32" else ("9007199254740993", "16777217")
    found = explanation(name, lambda x, l, m: cases(changed(x), changed(l), changed(m)), more)
    assert found is not None
    assert f"X, L and M rounded to {words} standing for what is too large" in found


def test_int64_cut_to_int32():
    def cut(values):
        return values.astype(np.int32).astype(np.int64)

    found = explanation("int64", lambda x, l, m: cases(cut(x), cut(l), cut(m)), ("4294967301",))
    assert found is not None
    assert found.endswith("X, L and M cut to the low 32 bits, as int32")


@pytest.mark.parametrize("etype", [e for e in SPEC.element_types if e.family != "real"], ids=lambda e: e.id)
def test_every_change_changes_something_and_keeps_zero(etype):
    values = np.array(special_patterns(etype), bits_type(etype.id)).view(numpy_type(etype.id))
    for change in changes(etype):
        after = change.of(values)
        assert after.dtype == values.dtype
        assert after.shape == values.shape
        assert after.tobytes() != values.tobytes(), change.words
        assert not change.of(np.zeros(1, values.dtype)).view(bits_type(etype.id)).any()


@pytest.mark.parametrize("name", FLOATS)
def test_no_two_formulas_are_one(name):
    """Each can be told from every other by special values, so that the first that fits is the only one."""
    with np.errstate(all="ignore"):
        found = [f.of(*triples(name)).tobytes() for f in formulas(SPEC.element_type(name))]
    assert len(found) == 72
    assert len(set(found)) == 72
