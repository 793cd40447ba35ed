"""The nodes of an expression tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr


def subtrees(expr: Expr) -> Iterator[Expr]:
    """The tree and every tree in it, each before its parts; what is used by its id is not entered."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(parts_of(node))


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The trees right below the root of one."""
    match expr:
        case tree.Name() | tree.Number() | tree.Constant() | tree.Value():  # two thirds of all
            return ()
        case tree.Compare(left=left, right=right) | tree.Connective(left=left, right=right):
            return left, right
        case tree.Not(operand=part) | tree.Every(body=part) | tree.Subscript(tensor=part):
            return (part,)
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            return condition, then, otherwise
        case tree.Call(arguments=arguments) | tree.Use(arguments=arguments):
            return arguments
        case tree.Let(value=value, body=body):
            return value, body
        case tree.Parentheses(inner=inner):
            return (inner,)


def conjuncts(expr: Expr) -> list[Expr]:
    """The parts of a conjunction, or the expression itself."""
    if isinstance(expr, tree.Connective) and expr.operator == "and":
        return [*conjuncts(expr.left), *conjuncts(expr.right)]
    return [expr]
