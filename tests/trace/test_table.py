"""The table of NumPy's operations is read as it stands, or refused by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.prove.trusted import GOLDEN, surprises, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.trace.formula import FormulaError, parse
from sonnx_clip.trace.numpy_meaning import PATH, table

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

LESS = "  predicate less (a b: t) = lt a b\n"


def test_a_meaning_has_its_words_and_its_comment() -> None:
    clip = table()["clip"]
    assert (clip.module, clip.head, clip.choices) == ("Order", "clip(x, l, m, low, high)", ("low", "high"))
    assert clip.text == "let y = maximum x l low in minimum y m high"
    assert clip.about.startswith("np.clip(x, l, m): ")
    assert all(meaning.about.startswith(("np.", "a.view")) for meaning in table().values())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (LESS, f"{LESS}\n{LESS}", "two operations are called less"),
        (LESS, "  predicate less (a b: t) = forall c: t. lt a c\n", "Order.less: "),
        (LESS, "  predicate less (a b: t) = lt a b <-> lt a b\n", "`<` is not expected"),
        (LESS, "  predicate less (a b: t) = if lt a b then true\n", "`else` is expected"),
        (LESS, "  predicate less (a b: t) = (lt a b\n", "Order.less: `)` is expected"),
        (LESS, "  predicate less a b = lt a b\n", "module Order holds a definition that is not read"),
        (
            LESS,
            f"  axiom easy: forall a: t. a = a\n{LESS}",
            "module Order holds a definition that is not read",
        ),
    ],
)
def test_construct_outside_the_subset_is_rejected(old: str, new: str, said: str, bench: Workbench) -> None:
    bench.plant(PATH, old, new)
    with pytest.raises(UserError, match=re.escape(said)) as stop:
        table()
    assert stop.value.where == PATH


def test_an_empty_table_is_refused(bench: Workbench) -> None:
    (bench.root / PATH).write_text("(** nothing *)\n", encoding="utf-8")
    with pytest.raises(UserError, match="is empty"):
        table()


def test_a_changed_meaning_is_a_surprise(bench: Workbench) -> None:
    bench.plant(PATH, LESS, "  predicate less (a b: t) = le a b\n")
    assert surprises(trusted(())) != []
    news = [line for line in surprises(trusted(())) if "numpy." in line]
    assert news == [
        "+ assumption numpy.Order.less: less(a, b) = le a b",
        "- assumption numpy.Order.less: less(a, b) = lt a b",
    ]
    assert "numpy.Order.less" in (bench.root / GOLDEN).read_text(encoding="utf-8")


def test_precedence() -> None:
    assert parse("not a /\\ b \\/ c") == parse("((not a) /\\ b) \\/ c")
    assert parse("if a then b else c \\/ d") == parse("if a then b else (c \\/ d)")
    assert parse("lt a b = lt b a") == parse("(lt a b) = (lt b a)")
    with pytest.raises(FormulaError, match="a name is expected, not `in`"):
        parse("let in = a in b")
