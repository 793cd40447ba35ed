"""The table of NumPy's operations is read as it stands, or refused by name."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sonnx_clip.prove.trusted import GOLDEN, surprises, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.trace.evaluate_table import reading
from sonnx_clip.trace.numpy_meaning import PATH, table

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

LESS = "  predicate less (a b: t) = lt a b\n"


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (f"{LESS}\n{LESS}", "two operations are called less"),
        ("  predicate less (a b: t) = forall c: t. lt a c\n", "Order.less: "),
        ("  predicate less (a b: t) = if lt a b then true\n", "`else` is expected"),
        ("  predicate less a b = lt a b\n", "module Order holds a definition that is not read"),
        (
            f"  axiom easy: forall a: t. a = a\n{LESS}",
            "module Order holds a definition that is not read",
        ),
    ],
)
def test_construct_outside_the_subset_is_rejected(new: str, said: str, bench: Workbench) -> None:
    bench.plant(PATH, LESS, new)
    with pytest.raises(UserError, match=re.escape(said)) as stop:
        table()
    assert stop.value.where == PATH


def test_a_changed_meaning_is_a_surprise(bench: Workbench) -> None:
    bench.plant(PATH, LESS, "  predicate less (a b: t) = le a b\n")
    assert surprises(trusted(())) != []
    news = [line for line in surprises(trusted(())) if "numpy." in line]
    assert news == [
        "+ assumption numpy.Order.less: less(a, b) = le a b",
        "- assumption numpy.Order.less: less(a, b) = lt a b",
    ]
    assert "numpy.Order.less" in (bench.root / GOLDEN).read_text(encoding="utf-8")


def test_orders_of_64_bits_are_those_of_python() -> None:
    edges = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1]
    a, b = np.array([*product(edges, repeat=2)], np.uint64).T
    signed = [n - (1 << 64) if n >> 63 else n for n in edges]
    for name, numbers in (("Unsigned", edges), ("Signed", signed)):
        found = reading(name, load_spec().element_type("int64")).lt(a, b).tolist()
        assert found == [i < j for i, j in product(numbers, repeat=2)]
