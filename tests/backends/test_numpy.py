"""The NumPy printer: the form of the text, and that it means what the tree means."""

import ast
from itertools import product

import numpy as np
import pytest

from sonnx_clip.backends.numpy_oracle import _broken, expression, python_name, render_numpy
from sonnx_clip.language import tree
from sonnx_clip.language.tree import Kind
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.spec import load_spec

P, Q, R = (tree.Name(name, Kind.BOOL) for name in "PQR")
X, L = (tree.Name(name, Kind.ELEMENT) for name in "XL")


def join(operator, left, right):
    return tree.Connective(operator, left, right)


def less(left, right):
    return tree.Compare("<", left, right, Kind.ELEMENT)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (join("and", join("or", P, Q), R), "(P | Q) & R"),
        (join("or", P, join("and", Q, R)), "P | Q & R"),
        (join("or", P, join("or", Q, R)), "P | (Q | R)"),
        (join("implies", less(X, L), Q), "~(X < L) | Q"),
        (join("implies", P, join("implies", Q, R)), "~P | (~Q | R)"),
        (join("iff", P, join("or", Q, R)), "P == Q | R"),
        (join("iff", P, join("iff", Q, R)), "P == (Q == R)"),
        (tree.Not(join("and", P, Q)), "~(P & Q)"),
        (join("and", tree.Not(P), less(X, L)), "~P & (X < L)"),
        (less(X, tree.Number("-inf")), 'X < _constant("-inf", X)'),
        (less(X, tree.Number("-0")), 'X < _constant("-0", X)'),
        (tree.If(P, Q, R, Kind.BOOL), "np.where(P, Q, R)"),
        (tree.If(P, X, L, Kind.ELEMENT), "_choose(P, X, L)"),
        (tree.CasesResult("clip", (X, L, L), Kind.ELEMENT), "float_clip(X, L, L)"),
        (tree.Call("identical", (X, L), Kind.BOOL), "_identical(X, L)"),
        (tree.Use("inverted", (), Kind.BOOL, ("X", "L", "M")), "float_inverted(X, L, M)"),
        (tree.Use("same", (X, L), Kind.BOOL), "float_same(X, L)"),
    ],
)
def test_the_text_of_an_expression(expr, text):
    assert expression(expr, "float", "X") == text


OPERATORS = {
    "and": lambda p, q: p and q,
    "or": lambda p, q: p or q,
    "implies": lambda p, q: not p or q,
    "iff": lambda p, q: p == q,
}


@pytest.mark.parametrize(("outer", "inner"), [*product(OPERATORS, repeat=2)])
@pytest.mark.parametrize("negated", [False, True])
def test_every_nesting_of_connectives_means_what_the_tree_means(outer, inner, negated):
    mean_outer, mean_inner = OPERATORS[outer], OPERATORS[inner]
    wrap = tree.Not if negated else (lambda expr: expr)
    for side in ("left", "right"):
        nested = wrap(join(inner, Q, R))
        expr = join(outer, nested, P) if side == "left" else join(outer, P, nested)
        code = expression(expr, "float", "X")
        for p, q, r in product([False, True], repeat=3):
            scope = {"P": np.array([p]), "Q": np.array([q]), "R": np.array([r])}
            part = mean_inner(q, r) != negated
            due = mean_outer(part, p) if side == "left" else mean_outer(p, part)
            assert eval(code, {}, scope).tolist() == [due]


def test_a_long_expression_is_broken_at_its_outermost_operator_and_means_the_same():
    long = join("and", join("or", P, Q), join("and", less(X, L), R))
    code = expression(long, "float", "X") + " " * 100
    broken = _broken(code, long, "float", "X")
    assert broken.splitlines()[1:-1] == ["        (P | Q)", "        & (X < L)", "        & R"]
    scope = {"P": True, "Q": False, "X": 1, "L": 2, "R": True}
    assert eval(broken, {}, scope) == eval(code.strip(), {}, scope)


@pytest.mark.parametrize(
    "expr",
    [
        tree.Every(P),
        tree.Subscript(tree.Name("X", Kind.TENSOR)),
        tree.Call("is_sparse", (tree.Name("X", Kind.DECLARED),), Kind.BOOL),
        tree.Compare("==", X, L, Kind.SHAPE),
    ],
)
def test_tensor_expressions_are_not_printed(expr):
    with pytest.raises(ValueError, match="NumPy has no elements"):
        expression(expr, "float", "X")


def test_a_function_for_each_entry_with_its_id_and_no_import_but_numpy():
    spec = load_spec()
    ((path, text),) = render_numpy(spec).items()
    assert path == ORACLE_FILE
    module = ast.parse(text)
    documented = {
        node.name: ast.get_docstring(node) for node in module.body if isinstance(node, ast.FunctionDef)
    }
    for family in ("int", "float"):
        entries = [*spec.definitions, *spec.cases, *spec.classes_of(family), *spec.latitude]
        for entry in entries:
            assert documented[f"{family}_{python_name(entry.id)}"].startswith(f"{entry.id}: ")
        for reading in spec.readings:
            assert documented[f"{family}_{reading.word}_returns"].startswith(f"{reading.id}: ")
    imports = [
        ast.unparse(node) for node in ast.walk(module) if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert imports == ["import numpy as np"]
    assert all(len(line) <= 110 for line in text.splitlines())
    assert spec.digest in text.splitlines()[2]
