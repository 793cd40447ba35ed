"""The points that decide a rewrite find every difference that trying all values finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode, equal, is_nan
from sonnx_clip.rewrites.critical_points import STRENGTHS, difference
from sonnx_clip.rewrites.terms import meaning, read_term

INT8, FLOAT16 = meaning("int8"), meaning("float16")
LEAVES = ("X", "A", "B", "0")


def terms():
    """Terms over the operators that compare and select."""
    leaves = st.sampled_from(LEAVES)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds("relu({})".format, inner),
            st.builds("max({}, {})".format, inner, leaves),
            st.builds("min({}, {})".format, inner, leaves),
            st.builds("clip({}, {}, {})".format, inner, leaves, leaves),
        ),
        max_leaves=4,
    )


@settings(max_examples=60, deadline=None)
@given(terms(), terms(), st.integers(0, 255), st.integers(0, 255))
def test_no_difference_of_int8_is_missed(before, after, a, b):
    sides = read_term(before, "before"), read_term(after, "after")
    constants = {"A": a, "B": b}
    differ = any(
        INT8.result(sides[0], {**constants, "X": x}) != INT8.result(sides[1], {**constants, "X": x})
        for x in range(256)
    )
    assert differ == (difference(INT8, *sides, constants, "bits") is not None)


PATTERNS = st.one_of(st.sampled_from(special_patterns(FLOAT16.etype)), st.integers(0, 65535))


@settings(max_examples=200, deadline=None)
@given(terms(), terms(), PATTERNS, PATTERNS, st.lists(PATTERNS, min_size=20, max_size=20))
def test_no_difference_of_float16_is_missed(before, after, a, b, values):
    sides = read_term(before, "before"), read_term(after, "after")
    constants = {"A": a, "B": b}
    agreed = [s for s in STRENGTHS if difference(FLOAT16, *sides, constants, s) is None]
    for x in values:
        left, right = (FLOAT16.result(side, {**constants, "X": x}) for side in sides)
        same_value = (
            left == right
            or equal(left, right, FLOAT16.etype)
            or (is_nan(left, FLOAT16.etype) and is_nan(right, FLOAT16.etype))
        )
        assert left == right or "bits" not in agreed
        assert same_value or "value" not in agreed
        assert same_value or is_nan(x, FLOAT16.etype) or "numbers" not in agreed


@pytest.mark.parametrize("type_id", ["int8", "uint64", "float16", "float64", "real"])
def test_a_rewrite_that_is_wrong_between_two_constants_is_found(type_id):
    """No constant shows it: only numbers strictly between A and B do."""
    before = read_term("if A < X then (if X < B then A else X) else X", "before")
    in_type = meaning(type_id)
    values = {"A": encode("1", in_type.etype), "B": encode("3", in_type.etype)}
    assert difference(in_type, before, read_term("X", "after"), values, "numbers") is not None
