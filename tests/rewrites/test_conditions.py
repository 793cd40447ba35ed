"""The conditions of spec/rewrites.yaml are exact: the evaluator agrees with what the provers show."""

from itertools import product

import pytest

from sonnx_clip.language import encode
from sonnx_clip.rewrites.critical_points import difference
from sonnx_clip.rewrites.rewrite import known_rewrites, rewrite_of
from sonnx_clip.rewrites.terms import meaning

TYPES = {"real": "real", "int": "int8", "float": "float16"}
NUMBERS = {
    "real": ("-1", "0", "1", "2"),
    "int": ("-1", "0", "1", "2"),
    "float": ("-1", "-0", "0", "1", "nan"),
}
MORE = {"real": ("-2",), "int": ("lowest", "highest"), "float": ("-inf", "inf", "2", "-2")}
STATED = [
    (rewrite, family, strength)
    for rewrite in known_rewrites()
    for family, strength in rewrite.stated()
]


def numbers(rewrite, family):
    """Constants that are compared: fewer where there are four of them."""
    few = len(rewrite.constants) == 4
    return NUMBERS[family] if few else (*NUMBERS[family], *MORE[family])


@pytest.mark.parametrize(
    ("rewrite", "family", "strength"), STATED, ids=[f"{r.id}-{f}-{s}" for r, f, s in STATED]
)
def test_a_rewrite_is_legal_exactly_where_it_says_so(rewrite, family, strength):
    in_type = meaning(TYPES[family])
    condition = rewrite.condition(family, strength)
    wrong = []
    for choice in product(numbers(rewrite, family), repeat=len(rewrite.constants)):
        named = zip(rewrite.constants, choice, strict=True)
        values = {name: encode(text, in_type.etype) for name, text in named}
        if rewrite.given is not None and not in_type.holds(rewrite.given, values):
            continue
        stated = condition if isinstance(condition, bool) else in_type.holds(condition, values)
        found = difference(in_type, rewrite.before, rewrite.after, values, strength)
        if stated != (found is None):
            wrong.append((choice, found))
    assert wrong == []


@pytest.mark.nightly
def test_only_zeros_of_different_signs_are_wrong_bit_for_bit():
    """Two Clips as one, by max and min of the bounds: the entry has the numbers in place of a condition."""
    rewrite = rewrite_of("clip-clip-by-max-min")
    in_type = meaning("float16")
    bounds = ("-inf", "-1", "-0", "0", "1", "2", "inf")
    legal_by_value, wrong_by_bits = 0, 0
    for choice in product(bounds, repeat=4):
        named = zip(rewrite.constants, choice, strict=True)
        values = {name: encode(text, in_type.etype) for name, text in named}
        if not in_type.holds(rewrite.given, values):
            continue
        if difference(in_type, rewrite.before, rewrite.after, values, "value") is None:
            legal_by_value += 1
            if difference(in_type, rewrite.before, rewrite.after, values, "bits") is not None:
                wrong_by_bits += 1
                assert {"-0", "0"} <= set(choice)
    why = " ".join(rewrite.entry.why.split())
    assert f"of {legal_by_value} choices of bounds" in why
    assert f"{wrong_by_bits} change the sign of a zero" in why
