"""The conditions of spec/rewrites.yaml are exact: the evaluator agrees with what the provers show."""

from itertools import product

import pytest

from sonnx_clip.language import encode
from sonnx_clip.rewrites.critical_points import difference
from sonnx_clip.rewrites.model import known_rewrites
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
