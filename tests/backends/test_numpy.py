"""The NumPy printer: the form of the text, and that it means what the tree means."""

import ast

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


def test_each_entry_has_a_function_with_its_id_and_nothing_but_numpy_is_needed():
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
    assert imports == ["from functools import cache", "import numpy as np"]
    assert spec.digest in text.splitlines()[2]
