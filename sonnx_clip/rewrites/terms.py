"""Terms over the operators of spec/: ``relu(clip(X, A, B))``, of an element X and of constants.

A term is read by the parser of conditions, and its meaning is that of the specifications: their cases,
evaluated on exact values. A constant is a capital letter other than X.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.language import tree
from sonnx_clip.language.parse import LanguageError, parse
from sonnx_clip.language.scope import ELEMENT_FUNCTIONS, Scope, operator_function
from sonnx_clip.language.tree import Kind, subtrees
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.evaluate import Evaluator, evaluator
from sonnx_clip.spec.operators import known_operators, specification

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec

ELEMENT = "X"
_CONSTANTS = tuple(letter for letter in string.ascii_uppercase if letter != ELEMENT)


class UndefinedError(Exception):
    """An operand is outside the domain of an operator, whose text then allows any result."""


@cache
def operators() -> Mapping[str, Spec]:
    """The specifications of spec/, by the names of their functions in terms."""
    by_function: dict[str, Spec] = {}
    for name in known_operators():
        spec = specification(name)
        by_function[spec.signature.function] = spec
    return by_function


@cache
def type_of_clip(type_id: str) -> ElementType:
    """An element type in the family that Clip has it in, as for rewrites and contexts; or a UserError."""
    return operators()["clip"].element_type(type_id)


def read_term(text: str, where: str) -> Expr:
    """The tree of a term; UserError, with the place `where`, if it is none."""
    return _read(text, where, Kind.ELEMENT, "a term", (ELEMENT, *_CONSTANTS))


def read_condition(text: str, where: str) -> Expr:
    """The tree of a condition on constants; UserError, with the place `where`, if it is none."""
    # Without X: a condition decides for all X at once.
    return _read(text, where, Kind.BOOL, "a condition on constants", _CONSTANTS)


def _read(
    text: str,
    where: str,
    kind: Kind,
    name: str,
    variables: tuple[str, ...],
) -> Expr:
    # Terms are over several operators: each is a function here, beside those of the language.
    functions = dict(ELEMENT_FUNCTIONS)
    for spec in operators().values():
        functions |= operator_function(spec.signature)
    scope = Scope(name, dict.fromkeys(variables, Kind.ELEMENT), functions)
    try:
        return parse(text, scope, kind)
    except LanguageError as error:
        # Columns are counted from 1.
        column = error.offset + 1
        raise UserError(error.what, f"{where}, column {column}", error.todo) from error


def constants_in(*terms: Expr) -> tuple[str, ...]:
    """The constants of some terms, in alphabetical order."""
    return tuple(sorted(tree.names_in(*terms) - {ELEMENT}))


def functions_in(*terms: Expr) -> frozenset[str]:
    """The names of the operators and built-in functions of some terms."""
    names: set[str] = set()
    for term in terms:
        for part in subtrees(term):
            if isinstance(part, tree.Call):
                names.add(part.function)
    return frozenset(names)


@dataclass(frozen=True)
class TermMeaning:
    """The meaning of terms and conditions in one element type."""

    etype: ElementType
    evaluate: Evaluator

    def result(self, term: Expr, values: Mapping[str, Value]) -> Value | None:
        """What a term is for values of X and the constants; None where an operator is not defined."""
        try:
            value: Value = self.evaluate(term, values)
        except UndefinedError:
            return None
        return value

    def holds(self, condition: Expr, values: Mapping[str, Value]) -> bool:
        """Whether a condition holds for values of the constants."""
        return bool(self.evaluate(condition, values))


@cache
def meaning(type_id: str) -> TermMeaning:
    """The meaning in an element type; UserError if Clip does not have it."""
    # Of Clip, whose families rewrites are stated for.
    clip = operators()["clip"]
    etype = clip.element_type(type_id)
    # One of its own: conditions of Clip, whose evaluator is shared, call no other operator.
    evaluate = Evaluator(clip, etype)
    for name, spec in operators().items():
        type_ids = [known.id for known in spec.element_types]
        if type_id in type_ids:
            # The type as this operator has it: its family may be another one there.
            result = _result_of(spec, spec.element_type(type_id))
            evaluate.add_function(name, result)
    return TermMeaning(etype, evaluate)


def _result_of(spec: Spec, etype: ElementType) -> Callable[..., Value]:
    """An operator as a function of values; it raises `UndefinedError` outside of its domain."""
    cases = evaluator(spec, etype)

    def result(*operands: Value) -> Value:
        # An exception, since it has to leave all functions around it: no value stands for "any".
        if not cases.is_defined(*operands):
            raise UndefinedError
        return cases.result(*operands)

    return result
