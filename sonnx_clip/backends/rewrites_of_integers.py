"""Renders the question whether the critical points decide two terms of one integer type.

The abstract integers of why3/rewrites.mlw have no opposite. So terms with Neg or Abs are stated in the
element type itself. These operators are not defined for its least number: where `before` is not defined, any
result is right, and where `after` alone is not, the terms differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.declared import opposite_function
from sonnx_clip.backends.rewrites_theory import TermPrinter, operator_as_function
from sonnx_clip.backends.theory import CLIP, Declared, Goal, Module
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.rewrites.terms import ELEMENT, constants_in, functions_in, operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType


def critical_points_suffice_in(etype: ElementType, before: Expr, after: Expr) -> Module:
    """That two terms agree at every X of an integer type if they do at the critical points.

    The points are fewer than those that are tried: the neighbours of the constants are not among them.
    """
    printer = TermPrinter(etype, operators()["clip"].signature)
    element = ELEMENT.lower()
    constants = [name.lower() for name in constants_in(before, after)]
    arguments = " ".join([element, *constants])
    # X comes first, and is marked where no term has it: Why3 warns of an unused parameter.
    parameters = arguments if ELEMENT in tree.names_in(before, after) else f"_{arguments}"
    agree = Declared(
        f"predicate agree ({parameters}: t)",
        _agreement(before, after, etype, printer),
        "Both terms have the same result, where `before` is defined.",
    )
    functions = _operators_used(etype, printer, before, after)
    points = _points(constants, etype, printer, before, after)
    agree_at = [" ".join([point, *constants]) for point in points]
    agree_at.append(arguments)  # the conclusion: everywhere
    statement = " -> ".join(f"agree {place}" for place in agree_at)
    goal = Goal(
        name="suffice_bits",
        kind="theorem",
        shows=("terms",),
        title=f"The critical points suffice in {etype.id}",
        statement=f"forall {arguments}: t. {statement}",
    )
    return Module(
        name="CriticalPoints",
        about="Terms of a command.",
        uses=[f"use elements.{etype.why3}", CLIP],
        parts=[declared.text for declared in (*functions, agree)],
        goals=[goal],
    )


def _operators_used(etype: ElementType, printer: TermPrinter, *terms: Expr) -> Iterator[Declared]:
    """The functions that terms need beside Clip."""
    yield opposite_function(etype, printer)
    used = functions_in(*terms) - {"clip"}  # a clone of why3/clip.mlw has it
    for name, operator in operators().items():
        if name in used:
            family = operator.element_type(etype.id).family
            yield operator_as_function(operator, family, printer)


def _points(
    constants: list[str], etype: ElementType, printer: TermPrinter, *terms: Expr
) -> Iterator[str]:
    """The critical points: zero, the ends of the type, constants and numbers, and their opposites."""
    texts = {"0": None, "lowest": None, "highest": None}
    for term in terms:
        for part in tree.subtrees(term):
            if isinstance(part, tree.Number):
                texts[part.text] = None
    # By the pattern: a number of a term may be an end of the type in other words.
    patterns = dict.fromkeys(encode(text, etype) for text in texts)
    literals = [printer.value(pattern) for pattern in patterns]
    for number in (*constants, *literals):
        yield number
        yield f"(opposite {number})"


def _agreement(
    before: Expr,
    after: Expr,
    etype: ElementType,
    printer: TermPrinter,
) -> str:
    """That both terms have the same result, where `before` is defined."""
    # Where `before` is not defined any result is right; where `after` alone is not, the terms differ.
    agreement = f"({printer.show(before)}) = ({printer.show(after)})"
    defined_after = _where_defined(after, etype)
    if defined_after is not None:
        agreement = f"({printer.show(defined_after)}) /\\ {agreement}"
    defined_before = _where_defined(before, etype)
    if defined_before is not None:
        agreement = f"({printer.show(defined_before)}) -> {agreement}"
    return agreement


def _where_defined(term: Expr, etype: ElementType) -> Expr | None:
    """The condition under which all operators of a term are defined; None if they always are.

    As in the evaluation of terms, the branch that is not taken does not count, nor does what follows a
    condition that decides alone.
    """
    match term:
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            return _all_of(
                _where_defined(condition, etype),
                _implied(condition, _where_defined(then, etype)),
                _implied(tree.Not(condition), _where_defined(otherwise, etype)),
            )
        case tree.Connective(operator="and" | "implies", left=left, right=right):
            right_is_defined = _implied(left, _where_defined(right, etype))
            return _all_of(_where_defined(left, etype), right_is_defined)
        case tree.Connective(operator="or", left=left, right=right):
            right_is_defined = _implied(tree.Not(left), _where_defined(right, etype))
            return _all_of(_where_defined(left, etype), right_is_defined)
        case _:
            parts = [_where_defined(part, etype) for part in tree.parts_of(term)]
            return _all_of(*parts, _domain_of_call(term, etype))


def _domain_of_call(term: Expr, etype: ElementType) -> Expr | None:
    """The condition under which an operator is defined for its operands; None if it always is."""
    if not isinstance(term, tree.Call) or term.function not in operators():
        return None
    operator = operators()[term.function]
    # By the family that the operator has the type in: unsigned types may be a family of their own.
    domain = operator.domain_of(operator.element_type(etype.id).family)
    if domain is None:
        return None
    operands = dict(zip(operator.signature.ids, term.arguments, strict=True))
    return tree.substituted(domain, operands)


def _implied(condition: Expr, conclusion: Expr | None) -> Expr | None:
    return None if conclusion is None else tree.Connective("implies", condition, conclusion)


def _all_of(*conditions: Expr | None) -> Expr | None:
    """The conjunction of conditions; None if all are always true."""
    stated = [condition for condition in conditions if condition is not None]
    if not stated:  # the language has no `true` to return
        return None
    conjunction, *others = stated
    for condition in others:
        conjunction = tree.Connective("and", conjunction, condition)
    return conjunction
