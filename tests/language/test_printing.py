"""Print, read back, compare: what each target makes of a tree is that tree, by a reader of the target's own.

Python, whyml_reader.py and readers.py read the targets.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonnx_clip.backends import numpy_oracle, whyml_printer
from sonnx_clip.backends.coq_printer import CoqPrinter
from sonnx_clip.export import latex
from sonnx_clip.language import tree, unparse
from sonnx_clip.language.parse import parse
from sonnx_clip.language.scope import NO_SIGNATURE, element_scope
from sonnx_clip.spec import load_spec
from tests.language.forms import Former, joined
from tests.language.readers import read_coq, read_latex
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
            return joined(
                "and" if isinstance(op, ast.BitAnd) else "or", of_python(left), of_python(right)
            )
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


COQ = CoqPrinter("float", "here", load_spec().signature)
WHYML = whyml_printer.WhymlPrinter(FLOAT32, NO_SIGNATURE)
LATEX = latex.LatexPrinter(load_spec(), "float", frozenset())
TARGETS: dict[str, tuple[Callable[[Expr], str], Callable[[str], Any]]] = {
    "the language": (unparse, lambda text: FORMER.form(parse(text, SCOPE))),
    "WhyML": (WHYML.show, read_formula),
    "NumPy": (lambda expr: numpy_oracle.expression(expr, "float", "X"), from_numpy),
    "Coq, a proposition": (COQ.proposition, read_coq),
    "Coq, a bool": (COQ.show, read_coq),
    "LaTeX": (LATEX.show, read_latex),
}


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=150)
@given(expr=CONDITIONS)
def test_printed_condition_parses_to_the_same_tree(target: str, expr: Expr) -> None:
    show, read = TARGETS[target]
    form = FORMER.form(expr)
    assert read(show(expr)) == (in_numpy(form) if target == "NumPy" else form), show(expr)
