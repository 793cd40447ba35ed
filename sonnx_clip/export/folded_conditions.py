"""Conditions of a family without what is always true or always false there, for pages that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.language import tree

if TYPE_CHECKING:
    from sonnx_clip.language.tree import Expr

    Folded: TypeAlias = Expr | bool


def folded(expr: Expr, family: str) -> Folded:
    """An equal condition of a family, or its value: no entry of it is a NaN unless it is `float`.

    In a conjunction, a variable that is identical to a number on the left is that number on the right.
    """
    match expr:
        case tree.Call(function="is_nan"):
            return expr if family == "float" else False
        case tree.Call(function="identical", arguments=(left, right)):
            return _identical(expr, left, right, family)
        case tree.Not(operand=operand):
            inner = folded(operand, family)
            return not inner if isinstance(inner, bool) else tree.Not(inner)
        case tree.Connective(operator="and", left=left, right=right):
            first = folded(left, family)
            # The right side matters only where the left one holds, and is folded under that assumption.
            if not isinstance(first, bool):
                right = _with_numbers(right, first, family)
            second = folded(right, family)
            return _joined("and", first, second, neutral=True)
        case tree.Connective(operator="or", left=left, right=right):
            first = folded(left, family)
            second = folded(right, family)
            return _joined("or", first, second, neutral=False)
    # Other predicates depend on the values of the operands, and are not decided here.
    return expr


def _identical(expr: Expr, left: Expr, right: Expr, family: str) -> Folded:
    """Whether two elements are identical; that they are equal, where they have one zero and no NaN."""
    if family != "float":
        left = _without_sign_of_zero(left)
        right = _without_sign_of_zero(right)
    if left == right:
        return True
    # Of two different numbers only the zeros are told apart here.
    zeros = (tree.Number("0"), tree.Number("-0"))
    if left in zeros and right in zeros:
        return False
    return expr if family == "float" else tree.Compare("==", left, right, tree.Kind.ELEMENT)


def _without_sign_of_zero(expr: Expr) -> Expr:
    return tree.Number("0") if expr == tree.Number("-0") else expr


def _joined(operator: str, left: Folded, right: Folded, *, neutral: bool) -> Folded:
    """A conjunction, whose neutral value is True, or a disjunction."""
    if isinstance(left, bool):
        return right if left is neutral else left
    if isinstance(right, bool):
        return left if right is neutral else right
    return tree.Connective(operator, left, right)


def _with_numbers(expr: Expr, holds: Expr, family: str) -> Expr:
    """An expression with numbers in place of the variables that are identical to them where `holds` does."""
    numbers: dict[str, Expr] = {}
    for conjunct in tree.conjuncts(holds):
        match conjunct:
            case tree.Call(
                function="identical", arguments=(tree.Name(id=name), tree.Number() as number)
            ):
                numbers[name] = number
            # Of floats, equal is not identical: a zero has two signs.
            case tree.Compare(
                operator="==", left=tree.Name(id=name), right=tree.Number() as number
            ) if family != "float":
                numbers[name] = number
    return tree.substituted(expr, numbers)
