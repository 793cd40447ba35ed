"""Expression tree -> text of the language, with the fewest parentheses that parse back to the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.spec import tree

if TYPE_CHECKING:
    from sonnx_clip.spec.tree import Expr

# How tightly each form binds. An operand that binds less than its place demands goes in parentheses.
_IF, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARISON, _PRIMARY = range(8)
_LEVEL = {"iff": _IFF, "implies": _IMPLIES, "or": _OR, "and": _AND}


def unparse(expr: Expr) -> str:
    """The canonical text of a tree."""
    return _text(expr, _IF)


def _text(expr: Expr, place: int) -> str:
    level, text = _form(expr)
    return f"({text})" if level < place else text


def _form(expr: Expr) -> tuple[int, str]:
    """How tightly an expression binds, and its text."""
    match expr:
        case tree.Compare(operator=operator, left=left, right=right):
            return _COMPARISON, f"{_text(left, _PRIMARY)} {operator} {_text(right, _PRIMARY)}"
        case tree.Not(operand=operand):
            return _NOT, f"not {_text(operand, _NOT)}"
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            return _IF, f"if {unparse(condition)} then {unparse(then)} else {unparse(otherwise)}"
        case tree.Connective(operator=operator, left=left, right=right):
            return _LEVEL[operator], _connective(operator, left, right)
        case _:
            return _PRIMARY, _primary(expr)


def _primary(
    expr: tree.Name | tree.Number | tree.Constant | tree.Call | tree.Use | tree.Entry | tree.Every,
) -> str:
    match expr:
        case tree.Name(id=name) | tree.Use(id=name, arguments=()):
            return name
        case tree.Number(text=text):
            return text
        case tree.Constant(id=name, negative=negative):
            return f"{'-' * negative}{name}"
        case tree.Entry(tensor=tensor):
            return f"{tensor.id}[i]"
        case tree.Every(body=body):
            return f"every({unparse(body)})"
        case tree.Call(function=name, arguments=arguments) | tree.Use(id=name, arguments=arguments):
            return f"{name}({', '.join(map(unparse, arguments))})"


def _connective(operator: str, left: Expr, right: Expr) -> str:
    level = _LEVEL[operator]
    # `implies` groups to the right, the others to the left.
    tight_left, tight_right = (level + 1, level) if operator == "implies" else (level, level + 1)
    return f"{_text(left, tight_left)} {operator} {_text(right, tight_right)}"
