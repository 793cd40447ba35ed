"""Print, read back, compare: what each target makes of a tree is that tree, by a reader of the target's own.

Python and whyml_reader.py read two of the targets. Coq's is read by its manual's levels, below.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonnx_clip.backends import numpy_oracle, whyml_printer
from sonnx_clip.backends.coq_printer import CoqPrinter
from sonnx_clip.export import latex
from sonnx_clip.language import tree, unparse
from sonnx_clip.language.parse import parse
from sonnx_clip.language.scope import NO_HEAD, element_scope
from sonnx_clip.spec import load_spec
from tests.language.forms import Former, joined
from tests.language.latex_reader import read_latex
from tests.language.whyml_reader import read_formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.language.tree import Expr

B, E = tree.Kind.BOOL, tree.Kind.ELEMENT
NAMES = ("X", "L", "M", "Y")
SCOPE = element_scope("a test", NAMES, {}, frozenset({"float"}))
FLOAT32 = load_spec().element_type("float32")
FORMER = Former(FLOAT32, of_tensors=False)
SIGNS = ("<", "<=", ">", ">=", "==")
WORDS = ("and", "or", "implies", "iff")


def _trees(depth: int) -> tuple[st.SearchStrategy[Expr], st.SearchStrategy[Expr]]:
    """Elements and conditions of at most a depth."""
    name = st.builds(tree.Name, st.sampled_from(NAMES), st.just(E))
    nan = st.builds(tree.Call, st.just("is_nan"), st.tuples(name), st.just(B))
    if depth == 0:
        return name, nan
    e, c = _trees(depth - 1)
    return (
        st.one_of(name, st.builds(tree.If, c, e, e, st.just(E))),
        st.one_of(
            nan,
            st.builds(tree.Compare, st.sampled_from(SIGNS), e, e, st.just(E)),
            st.builds(tree.Call, st.just("identical"), st.tuples(e, e), st.just(B)),
            st.builds(tree.Not, c),
            st.builds(tree.Connective, st.sampled_from(WORDS), c, c),
            st.builds(tree.If, c, c, c, st.just(B)),
        ),
    )


CONDITIONS = _trees(4)[1]


# --- NumPy -----------------------------------------------------------------------------------------------

_PYTHON = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
_CALLED = {"_is_nan": "is_nan", "_identical": "identical", "_choose": "if", "where": "if"}


def from_numpy(text: str) -> Any:
    return of_python(ast.parse(text, mode="eval").body)


def of_python(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name):
            return name.lower()
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
            return (_CALLED[name], *map(of_python, arguments))
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return ("not", of_python(operand))
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() as op, right=right):
            return joined("and" if isinstance(op, ast.BitAnd) else "or", of_python(left), of_python(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sign, a, b = _PYTHON[type(op)], of_python(left), of_python(right)
            return (sign.replace(">", "<"), b, a) if ">" in sign else (sign, a, b)
    raise AssertionError(ast.dump(node))


def in_numpy(form: Any) -> Any:
    """A form as arrays of truths have it: an implication is an or, an equivalence is an equality."""
    match form:
        case str():
            return form
        case ("implies", left, right):
            return joined("or", ("not", in_numpy(left)), in_numpy(right))
        case ("iff", left, right):
            return ("==", in_numpy(left), in_numpy(right))
        case ("and" | "or" as word, first, *others):
            made = in_numpy(first)
            for other in others:
                made = joined(word, made, in_numpy(other))
            return made
        case (word, *parts):
            return (word, *map(in_numpy, parts))


# --- Coq, by the levels of its manual: the smaller, the tighter -----------------------------------------

# Sign: level, and the levels of the operands, here and in coq/Order.v.
_COQ = {
    "->": (99, 98, 99, "implies"), "<->": (95, 94, 94, "iff"),
    "\\/": (85, 84, 85, "or"), "/\\": (80, 79, 80, "and"),
    "=": (70, 69, 69, "identical"), "<": (70, 69, 69, "<"),
    "<=": (70, 69, 69, "<="), "==": (70, 69, 69, "=="),
    "||": (50, 50, 49, "or"), "&&": (40, 40, 39, "and"),
}  # fmt: skip
_HEADS = {"nan": "is_nan", "identical": "identical", "negb": "not", "implb": "implies", "Bool.eqb": "iff"}
_TOKEN = re.compile(r"<->|->|\\/|/\\|\|\||&&|<=|==|[=<~():]|[\w.]+")


class Coq:
    """Reads a term of Coq."""

    def __init__(self, text: str) -> None:
        self.left = _TOKEN.findall(text)
        assert "".join(self.left) == text.replace(" ", "")

    def take(self, *wanted: str) -> str:
        assert not wanted or self.left[0] in wanted, (wanted, self.left)
        return self.left.pop(0)

    def term(self, most: int = 200) -> Any:
        """A term of at most a level."""
        made, level = self.start(most)
        while self.left and self.left[0] in _COQ:
            own, before, after, word = _COQ[self.left[0]]
            if own > most or level > before:
                break
            self.take()
            made, level = joined(word, made, self.term(after)), own
        return made

    def start(self, most: int) -> tuple[Any, int]:
        if self.left[0] == "~":
            assert most >= 75
            self.take()
            return ("not", self.term(75)), 75
        if self.left[0] == "if":
            assert most >= 200
            parts = []
            for word in ("if", "then", "else"):
                self.take(word)
                parts.append(self.term())
            return ("if", *parts), 200
        return self.applied(), 10

    def applied(self) -> Any:
        if self.left[0] not in _HEADS:
            return self.atom()
        head, arguments = _HEADS[self.take()], []
        while self.left and (self.left[0] == "(" or re.fullmatch(r"[xlmy]", self.left[0])):
            arguments.append(self.atom())
        return joined(head, *arguments) if len(arguments) == 2 else (head, *arguments)

    def atom(self) -> Any:
        if self.left[0] != "(":
            return self.take()
        self.take("(")
        made = self.term()
        if self.left[0] == ":":
            self.take(":")
            self.take("Prop")
        self.take(")")
        return made


def from_coq(text: str) -> Any:
    reader = Coq(text)
    made = reader.term()
    assert not reader.left, reader.left
    return made


# --- The tests -------------------------------------------------------------------------------------------

COQ = CoqPrinter("float", "here", load_spec().head)
WHYML = whyml_printer.WhymlPrinter(FLOAT32, NO_HEAD)
LATEX = latex.LatexPrinter(load_spec(), "float", frozenset())
TARGETS: dict[str, tuple[Callable[[Expr], str], Callable[[str], Any]]] = {
    "the language": (unparse, lambda text: FORMER.form(parse(text, SCOPE))),
    "WhyML": (WHYML.show, read_formula),
    "NumPy": (lambda expr: numpy_oracle.expression(expr, "float", "X"), from_numpy),
    "Coq, a proposition": (COQ.proposition, from_coq),
    "Coq, a bool": (COQ.show, from_coq),
    "LaTeX": (LATEX.show, read_latex),
}


def _wrong(target: str, expr: Expr) -> bool:
    show, read = TARGETS[target]
    expected = in_numpy(FORMER.form(expr)) if target == "NumPy" else FORMER.form(expr)
    try:
        return read(show(expr)) != expected
    except (AssertionError, IndexError):
        return True  # it is no text of the target at all


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=150)
@given(expr=CONDITIONS)
def test_printed_condition_parses_to_the_same_tree(target: str, expr: Expr) -> None:
    assert not _wrong(target, expr), TARGETS[target][0](expr)
