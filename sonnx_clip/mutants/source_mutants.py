"""Mutants of the NumPy kernels and planners (Python) and of the C kernels, as changed source texts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_CALLED = {
    "bitwise_and": "bitwise_or", "bitwise_or": "bitwise_and", "bitwise_xor": "bitwise_or", "add": "subtract",
    "subtract": "add", "less_equal": "less", "less": "less_equal", "greater": "greater_equal",
    "greater_equal": "greater", "logical_and": "logical_or", "logical_or": "logical_and",
    "max": "min", "min": "max", "right_shift": "left_shift", "maximum": "minimum", "minimum": "maximum",
}  # fmt: skip
_COMMUTATIVE = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "add", "logical_and", "logical_or"})
_NAMES = {"lower": "upper", "upper": "lower", "low": "high", "high": "low", "L": "M", "M": "L", "X": "L"}
_FORMS = {
    "infinity": "minus_infinity", "minus_infinity": "infinity", "plus_zero": "minus_zero",
    "minus_zero": "plus_zero", "magnitude": "sign", "first_nan": "infinity", "sign": "magnitude",
    "one": "plus_zero",
    "infinite": "lowest", "lowest": "infinite", "least": "signed_zero", "signed_zero": "least",
    "signed_infinity": "signed_zero", "beyond_infinity": "infinity", "shift": "one",
}  # fmt: skip


def of_python(source: str) -> Iterator[tuple[str, str, str]]:
    """Every mutant of a module: the function, the change, and the text of the module.

    Statements are dropped, conditions negated, comparisons and operations swapped, names of bounds and of
    constants taken for one another, numbers moved by one.
    """
    tree = ast.parse(source)
    spots = [(function, node) for function in tree.body if isinstance(function, ast.FunctionDef)
             for node in ast.walk(function)]  # fmt: skip
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()

    def span_of(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for function, node in spots:
        for changed in _of_python_node(node):
            begin, end = span_of(node)  # type: ignore[arg-type]
            old = data[begin:end].decode()
            new = (data[:begin] + changed.encode() + data[end:]).decode()
            where = f"line {getattr(node, 'lineno', 0)}: "
            yield function.name, f"{where}{' '.join(old.split())} => {' '.join(changed.split())}", new


def _of_python_node(node: ast.AST) -> Iterator[str]:  # noqa: C901, PLR0912
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            for other in _COMPARED.get(type(operator), ()):
                yield ast.unparse(ast.Compare(left, [other()], [right]))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
            yield f"({ast.unparse(body)})"
            yield f"({ast.unparse(orelse)})"
        case ast.BoolOp(op=operator, values=values):
            joined: ast.boolop = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(joined, values))})"
            yield from (ast.unparse(value) for value in values)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield ast.unparse(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BITS:
            yield f"({ast.unparse(ast.BinOp(left, _BITS[type(operator)](), right))})"
            yield ast.unparse(left)
            yield ast.unparse(right)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=keywords):
            if name in _CALLED:
                changed = ast.Attribute(owner, _CALLED[name])
                yield ast.unparse(ast.Call(changed, arguments, keywords))
            if len(arguments) == 2 and name not in _COMMUTATIVE:
                yield ast.unparse(ast.Call(ast.Attribute(owner, name), arguments[::-1], keywords))
        case ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Attribute(value=ast.Name(id="form"), attr=name) if name in _FORMS:
            yield f"form.{_FORMS[name]}"
        case ast.Attribute(value=ast.Name(id="kernels"), attr=name):
            yield from (f"kernels.{other}" for other in ("fill", "limit") if other != name)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield _NAMES[name]
        case ast.Constant(value=bool()):
            yield str(not node.value)
        case ast.Constant(value=int(number)):
            yield str(number + 1)


_BITS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------ C

_C_SPOTS = (
    (re.compile(r"(?<=[\w)] )<(?= [\w(])"), ("<=", ">")),
    (re.compile(r"(?<=[\w)] )<=(?= [\w(])"), ("<", ">=")),
    (re.compile(r"(?<=[\w)] )>=(?= [\w(])"), (">", "<=")),
    (re.compile(r"(?<=[\w)] )\+(?= [\w(])"), ("-",)),
    (re.compile(r"(?<=[\w)] )-(?= [\w(])"), ("+",)),
    (re.compile(r"(?<=[\w)] )&(?= [\w(])"), ("|",)),
    (re.compile(r"\breturn (?:max|min|limited);"),
     ("return max;", "return min;", "return x;", "return limited;")),
    (re.compile(r"\blimited = (?:max|x);"), ("limited = max;", "limited = x;", "limited = min;")),
    (re.compile(r"\breturn [01];"), ("return 1;", "return 0;")),
    (re.compile(r"\b(?:i = 0|i = i \+ 1|i < n)\b"), ("i = 1", "i = i + 2", "i + 1 < n", "i < n - 1")),
    (re.compile(r"\bx\[i\]"), ("x[0]", "y[i]")),
    (re.compile(r"\by\[i\] ="), ("y[0] =",)),
    (re.compile(r"(?<=, )min, max(?=\))"), ("max, min", "min, min")),
    (re.compile(r"\b0x[0-9A-F]+\b"), ("+1", "-1")),
)  # fmt: skip
_C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_INDEX = {"i = 0": ("i = 1",), "i = i + 1": ("i = i + 2",), "i < n": ("i + 1 < n",)}


def of_c(source: str) -> Iterator[tuple[str, str]]:
    """Every mutant of a C kernel: the change, and the text of the file."""
    begin = source.index("static inline")
    comments = [comment.span() for comment in _C_COMMENT.finditer(source)]
    for pattern, others in _C_SPOTS:
        for match in pattern.finditer(source, begin):
            if any(first <= match.start() < end for first, end in comments):
                continue
            old = match[0]
            choices = _INDEX.get(old, others)
            for other in choices:
                new = hex((int(old, 16) + int(other)) % 65536) if old.startswith("0x") else other
                if new != old:
                    line = source.count("\n", 0, match.start()) + 1
                    yield (
                        f"line {line}: {old} => {new}",
                        source[: match.start()] + new + source[match.end() :],
                    )
