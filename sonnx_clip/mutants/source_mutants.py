"""Mutants of the NumPy kernels and planners (Python) and of the C kernels, as changed source texts."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from sonnx_clip.mutants import Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class KernelMutant(Mutant):
    """A file of kernels with one change; `name` is the file, and the function where it holds several."""

    source: str


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.In: (ast.NotIn,),
}
_NAMES = {
    "bitwise_and": "bitwise_or",
    "bitwise_or": "bitwise_and",
    "bitwise_xor": "bitwise_or",
    "add": "subtract",
    "subtract": "add",
    "max": "min",
    "min": "max",
    "right_shift": "left_shift",
    "lower": "upper",
    "upper": "lower",
    "low": "high",
    "high": "low",
    "fill": "limit",
    "limit": "fill",
    "infinity": "minus_infinity",
    "minus_infinity": "infinity",
    "plus_zero": "minus_zero",
    "minus_zero": "plus_zero",
    "magnitude": "sign",
    "first_nan": "infinity",
    "sign": "magnitude",
    "one": "plus_zero",
    "infinite": "lowest",
    "lowest": "infinite",
    "least": "shift",
    "signed_infinity": "lowest",
    "beyond_infinity": "infinity",
    "shift": "one",
}
"""Names that are swapped: operations, bounds, kernels and constants of a format."""


def of_python(file: str, source: str) -> Iterator[KernelMutant]:
    """Every mutant of a module.

    Statements are dropped, comparisons, branches and operations swapped, bounds and constants taken for one
    another, numbers moved by one.
    """
    lines = source.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    assert source.isascii()  # so that columns are places in a line
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        name = f"{file} {function.name}"
        for node in ast.walk(function):
            # The source is changed as text, not printed from the tree, so that lines keep their
            # numbers.
            for edited in _edits_in_python(node):
                # Only these have a place in the text.
                assert isinstance(node, ast.expr | ast.stmt)
                begin = starts[node.lineno - 1] + node.col_offset
                last_line = (node.end_lineno or 0) - 1
                end = starts[last_line] + (node.end_col_offset or 0)
                before, behind = source[:begin], source[end:]
                # In one line, since a change is a line of the record.
                old = " ".join(source[begin:end].split())
                new = ast.unparse(edited)
                change = f"line {node.lineno}: {old} => {new}"
                # In parentheses, whatever binds more strongly around it.
                changed = f"{before}({new}){behind}"
                yield KernelMutant("NumPy kernels", name, change, changed)


def _edits_in_python(node: ast.AST) -> Iterator[ast.expr]:
    """What a small mistake puts in the place of a node: one arm for each kind of mistake."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=right):
            others = _COMPARISONS[type(operator)]
            yield from (ast.Compare(left, [other()], right) for other in others)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (ast.IfExp(test, orelse, body), body, orelse)
        case ast.BoolOp(op=operator, values=values):
            swapped = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield ast.BoolOp(swapped, values)
            yield from values
        # The order of the operands makes no difference to what is commutative.
        case ast.Call(func=ast.Attribute(attr=name), args=[first, second], keywords=keywords):
            if not name.startswith(("bitwise_", "add")):
                yield ast.Call(node.func, [second, first], keywords)
        # A statement that is a call is a step, which is left out.
        case ast.Expr(value=ast.Call()):
            yield ast.Constant(None)
        case ast.Attribute(value=owner, attr=name) if name in _NAMES:
            yield ast.Attribute(owner, _NAMES[name])
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield ast.Name(_NAMES[name])
        case ast.Constant(value=int(number)):
            yield ast.Constant(number + 1)


_OPERATORS_IN_C = {
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">=": (">", "<="),
    "+": ("-",),
    "-": ("+",),
    "&": ("|",),
}
_EDITS_IN_C = {
    # Between two operands with a space on each side: a sign or a pointer has none.
    **{rf"(?<=[\w)] ){re.escape(old)}(?= [\w(])": new for old, new in _OPERATORS_IN_C.items()},
    r"\breturn (?:max|min|limited);": (
        "return max;",
        "return min;",
        "return x;",
        "return limited;",
    ),
    r"\blimited = (?:max|x);": ("limited = max;", "limited = x;", "limited = min;"),
    r"\breturn [01];": ("return 1;", "return 0;"),
    r"\bi = 0": ("i = 1",),
    r"\bi = i \+ 1": ("i = i + 2",),
    r"\bi < n": ("i + 1 < n",),
    r"\bx\[i\]": ("x[0]", "y[i]"),
    r"\by\[i\] =": ("y[0] =",),
    r"(?<=, )min, max(?=\))": ("max, min", "min, min"),
    r"\b0x[0-9A-F]+\b": (r"(\g<0> + 1)", r"(\g<0> - 1)"),
}
"""What a small mistake puts in the place of each match."""


def of_c(file: str, source: str) -> Iterator[KernelMutant]:
    """Every mutant of a C kernel."""
    # In front of it are a comment and includes, whose words are no code.
    start_of_code = source.index("static inline")
    for pattern, edits in _EDITS_IN_C.items():
        matches = re.compile(pattern).finditer(source, start_of_code)
        for match in matches:
            line = source.count("\n", 0, match.start()) + 1
            before = source[: match.start()]
            behind = source[match.end() :]
            for new in map(match.expand, edits):
                if new != match[0]:
                    change = f"line {line}: {match[0]} => {new}"
                    yield KernelMutant("C kernels", file, change, before + new + behind)
