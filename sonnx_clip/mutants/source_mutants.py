"""Mutants of the NumPy kernels and planners (Python) and of the C kernels, as changed source texts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.In: (ast.NotIn,),
}  # fmt: skip
_CALLS = {
    "bitwise_and": "bitwise_or", "bitwise_or": "bitwise_and", "bitwise_xor": "bitwise_or", "add": "subtract",
    "subtract": "add", "max": "min", "min": "max", "right_shift": "left_shift",
}  # fmt: skip
_COMMUTATIVE = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "add"})
_NAMES = {"lower": "upper", "upper": "lower", "low": "high", "high": "low"}
_CONSTANTS = {
    "infinity": "minus_infinity", "minus_infinity": "infinity", "plus_zero": "minus_zero",
    "minus_zero": "plus_zero", "magnitude": "sign", "first_nan": "infinity", "sign": "magnitude",
    "one": "plus_zero", "infinite": "lowest", "lowest": "infinite", "least": "signed_zero",
    "signed_infinity": "signed_zero", "beyond_infinity": "infinity", "shift": "one",
}  # fmt: skip


def of_python(source: str) -> Iterator[tuple[str, str, str]]:
    """Every mutant of a module: the function, the change, and the text of the module.

    Statements are dropped, comparisons, branches and operations swapped, bounds and constants taken for one
    another, numbers moved by one.
    """
    lines = source.splitlines(keepends=True)
    assert source.isascii()  # so that columns are places in a line
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            for changed in _edits_in_python(node):
                assert isinstance(node, ast.expr | ast.stmt)
                begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
                old = ast.get_source_segment(source, node) or ""
                change = f"line {node.lineno}: {' '.join(old.split())} => {' '.join(changed.split())}"
                yield function.name, change, source[:begin] + changed + source[begin + len(old) :]


def _edits_in_python(node: ast.AST) -> Iterator[str]:  # noqa: C901  # one arm for each kind of mistake
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            for other in _COMPARISONS[type(operator)]:
                yield ast.unparse(ast.Compare(left, [other()], [right]))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
            yield from (f"({ast.unparse(branch)})" for branch in (body, orelse))
        case ast.BoolOp(op=operator, values=values):
            other_operator = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other_operator, values))})"
            yield from (ast.unparse(value) for value in values)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=keywords):
            if name in _CALLS:
                yield ast.unparse(ast.Call(ast.Attribute(owner, _CALLS[name]), arguments, keywords))
            if len(arguments) == 2 and name not in _COMMUTATIVE:
                yield ast.unparse(ast.Call(node.func, arguments[::-1], keywords))
        case ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Attribute(value=ast.Name(id="form"), attr=name) if name in _CONSTANTS:
            yield f"form.{_CONSTANTS[name]}"
        case ast.Attribute(value=ast.Name(id="kernels"), attr=name):
            yield from (f"kernels.{other}" for other in ("fill", "limit") if other != name)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield _NAMES[name]
        case ast.Constant(value=int(number)):
            yield str(number + 1)


# --- C ---------------------------------------------------------------------------------------------------


def _by(*texts: str) -> Callable[[str], Iterable[str]]:
    return lambda _: texts


def _beside(number: str) -> Iterable[str]:
    return (hex((int(number, 16) + step) % 65536) for step in (1, -1))


_INDEX = {"i = 0": ("i = 1",), "i = i + 1": ("i = i + 2",), "i < n": ("i + 1 < n",)}
_OPERATOR = r"(?<=[\w)] ){}(?= [\w(])"
_EDITS_IN_C: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    (_OPERATOR.format("<"), _by("<=", ">")),
    (_OPERATOR.format("<="), _by("<", ">=")),
    (_OPERATOR.format(">="), _by(">", "<=")),
    (_OPERATOR.format(r"\+"), _by("-")),
    (_OPERATOR.format("-"), _by("+")),
    (_OPERATOR.format("&"), _by("|")),
    (r"\breturn (?:max|min|limited);", _by("return max;", "return min;", "return x;", "return limited;")),
    (r"\blimited = (?:max|x);", _by("limited = max;", "limited = x;", "limited = min;")),
    (r"\breturn [01];", _by("return 1;", "return 0;")),
    (r"\b(?:i = 0|i = i \+ 1|i < n)\b", _INDEX.__getitem__),
    (r"\bx\[i\]", _by("x[0]", "y[i]")),
    (r"\by\[i\] =", _by("y[0] =")),
    (r"(?<=, )min, max(?=\))", _by("max, min", "min, min")),
    (r"\b0x[0-9A-F]+\b", _beside),
)


def of_c(source: str) -> Iterator[tuple[str, str]]:
    """Every mutant of a C kernel: the change, and the text of the file."""
    for pattern, edits in _EDITS_IN_C:
        for match in re.compile(pattern).finditer(source, source.index("static inline")):
            line = source.count("\n", 0, match.start()) + 1
            for new in edits(match[0]):
                if new != match[0]:
                    changed = source[: match.start()] + new + source[match.end() :]
                    yield f"line {line}: {match[0]} => {new}", changed
