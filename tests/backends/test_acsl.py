"""The contracts for Frama-C: their text, and what they take for granted."""

import re
from functools import partial
from itertools import product

import numpy as np
import pytest

from sonnx_clip.backends.acsl import LOOP, AcslPrinter, contract_path, is_bits, render_acsl
from sonnx_clip.language import tree
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import comparison_key, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

P, Q, R = (tree.Name(name, Kind.BOOL) for name in "PQR")
X, L = (tree.Name(name, Kind.ELEMENT) for name in "XL")
SPEC = load_spec()
TYPES = [etype for etype in SPEC.element_types if etype.c is not None]
OF_BITS = [etype for etype in TYPES if is_bits(etype)]


def show(expr, type_id):
    return AcslPrinter(SPEC.element_type(type_id), SPEC.signature.ids).show(expr)


join = tree.Connective


def compare(operator):
    return tree.Compare(operator, X, L, Kind.ELEMENT)


@pytest.mark.parametrize(
    ("type_id", "expr", "text"),
    [
        ("int8", join("and", join("or", P, Q), R), "(P || Q) && R"),
        ("int8", join("or", P, join("or", Q, R)), "P || (Q || R)"),
        ("int8", join("implies", P, join("implies", Q, R)), "P ==> (Q ==> R)"),
        ("int8", join("iff", P, join("or", Q, R)), "P <==> Q || R"),
        ("int8", tree.If(P, tree.If(P, Q, R, Kind.BOOL), R, Kind.BOOL), "P ? (P ? Q : R) : R"),
        ("int8", tree.Use("inverted", (), Kind.BOOL), "inverted(X, L, M)"),
        ("float32", compare("<"), r"\lt_float(X, L)"),
        ("bfloat16", compare("<"), "less(X, L)"),
        ("bfloat16", compare(">="), "less_or_equal(L, X)"),
        ("float64", compare("=="), r"\eq_double(X, L)"),
        ("bfloat16", compare("=="), "less_or_equal(X, L) && less_or_equal(L, X)"),
        ("float16", tree.Not(compare("==")), "!(less_or_equal(X, L) && less_or_equal(L, X))"),
    ],
)
def test_the_text_of_an_expression_is_that_of_the_type(type_id, expr, text):
    assert show(expr, type_id) == text


@pytest.mark.parametrize(
    "expr",
    [
        tree.Call("clip", (X, L, L), Kind.ELEMENT),
        tree.Use("same", (X, L), Kind.BOOL),
        tree.Number("0"),
    ],
)
def test_expression_without_acsl_form_is_rejected(expr):
    with pytest.raises(UserError, match="ACSL has no expression for `"):
        show(expr, "int8")


def test_every_type_of_c_has_contracts_with_the_cases_in_their_order():
    files = render_acsl(SPEC)
    assert set(files) == {LOOP, *map(contract_path, TYPES)}
    lines = [f"{case.id}(X, L, M) ? identical(Y, {case.result_text}) :" for case in SPEC.cases]
    for etype in TYPES:
        text = files[contract_path(etype)]
        relation = text.partition("predicate clip(")[2].partition("*/")[0].splitlines()
        assert [line.strip() for line in relation[1:]] == [*lines, r"\false;"]
        # Only formats without a type of C take anything for granted.
        assert text.count("axiom ") == (2 if etype in OF_BITS else 0)
        assert not re.search("admit|assume", text)


def render_acsl_of(spec, type_id):
    only = (spec.element_type(type_id),)
    return render_acsl(spec.model_copy(update={"element_types": only}))[contract_path(*only)]


def test_acsl_assumptions_hold_for_every_value():
    high = np.arange(0x8000, 0x10000)
    assert np.array_equal(high.astype(np.uint16) & np.uint16(0x7FFF), high - 0x8000)
    negative = np.arange(-0x8000, 0)
    assert np.array_equal(negative.astype(np.int32).astype(np.uint16), negative + 0xFFFF + 1)
    for etype in OF_BITS:
        text = render_acsl(SPEC)[contract_path(etype)]
        assert (
            r"axiom mask: \forall integer a; 0x8000 <= a <= 0xFFFF ==> (a & 0x7FFF) == a - 0x8000;"
            in text
        )
        assert (
            r"axiom wrap: \forall integer a; -0x8000 <= a < 0 ==> (uint16_t)a == a + 0xFFFF + 1;"
            in text
        )


@pytest.mark.parametrize("etype", OF_BITS, ids=lambda etype: etype.id)
def test_the_order_of_bits_is_that_of_the_numbers(etype):
    """The definitions of the contracts, done in Python, against the decoded values."""
    top = int({"float16": "0x7C00", "bfloat16": "0x7F80"}[etype.id], 16)
    assert f"predicate is_nan(uint16_t a) = magnitude(a) > 0x{top:X};" in render_acsl_of(
        SPEC, etype.id
    )

    def magnitude(a):
        return a if a < 0x8000 else a - 0x8000

    def order(a):
        return magnitude(a) if a < 0x8000 else -magnitude(a)

    def number(a):
        return magnitude(a) <= top

    key = partial(comparison_key, etype=etype)
    assert all(number(a) != is_nan(a, etype) for a in range(0x10000))
    for a, b in product([*special_patterns(etype), *range(0, 0x10000, 2047)], repeat=2):
        both = number(a) and number(b)
        assert (both and order(a) < order(b)) == (key(a) < key(b))
        assert (both and order(a) <= order(b)) == (key(a) <= key(b))
