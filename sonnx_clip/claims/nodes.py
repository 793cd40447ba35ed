"""Expressions of the language as claims write them: short names for the nodes of its tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Binder, Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import NOWHERE, Expr, Kind, parts_of
from sonnx_clip.spec.entries import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.scope import Head
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Constraint, Reading, Restriction

STATED = "stated_"
"""What stands before the id of a constraint or restriction as the YAML states it."""


def element(name: str) -> tree.Name:
    """A variable that stands for an element."""
    return tree.Name(name, Kind.ELEMENT, NOWHERE)


Y, Z, A, C = map(element, "YZAC")


@dataclass(frozen=True)
class OperatorNodes:
    """The operator of a specification in expressions: `operator_of` gives it.

    Args:
        head: what it is called, takes and gives.
    """

    head: Head

    @property
    def operands(self) -> tuple[tree.Name, ...]:
        """Its operands as variables."""
        return tuple(map(element, self.head.operands))

    def every(self, *more: str) -> Binder:
        """All values of its operands, and of some other elements."""
        return Binder((*self.head.operands, *more))

    def every_two(self) -> Binder:
        """All values of its operands, and other entries of the first tensor."""
        first, *others = self.head.operands
        return Binder((first, self.head.second, *others))

    def result(self, *values: Expr) -> tree.CasesResult:
        """The result of the cases: of the operands, or of other values in their places."""
        return tree.CasesResult(self.head.function, values or self.operands, Kind.ELEMENT, NOWHERE)

    def given(self, id_: str) -> tree.Use:
        """A case, class or condition on the operands, which it names by itself."""
        return tree.Use(id_, (), Kind.BOOL, NOWHERE, self.head.operands)

    def stated(self, entry: Constraint | Restriction, kind: Kind) -> tree.Use:
        """A constraint or restriction as the YAML states it, of the operands and the result."""
        variables = self.head.all
        return use(f"{STATED}{entry.id}", *(tree.Name(name, kind, NOWHERE) for name in variables))

    def returns(self, reading: Reading, y: Expr = Y) -> tree.Use:
        """A reading allows an answer."""
        return use(reading.predicate, *self.operands, y)


def named_result(case: Case) -> Expr:
    """What a case gives: an operand, or a number."""
    return number(case.result) if is_number(case.result) else element(case.result)


def operator_of(spec: Spec) -> OperatorNodes:
    """The operator of a specification in expressions."""
    return OperatorNodes(spec.head)


def tensor(name: str) -> tree.Name:
    """A variable that stands for a tensor."""
    return tree.Name(name, Kind.TENSOR, NOWHERE)


def use(id_: str, *arguments: Expr) -> tree.Use:
    """A case, class, definition or reading by its id."""
    return tree.Use(id_, arguments, Kind.BOOL, NOWHERE)


def call(function: str, *arguments: Expr, kind: Kind = Kind.BOOL) -> tree.Call:
    """A function or predicate of the theories."""
    return tree.Call(function, arguments, kind, NOWHERE)


def same_bits(a: Expr, b: Expr) -> tree.Call:
    """The same bits."""
    return call("identical", a, b)


def other_bits(a: Expr, b: Expr) -> tree.Call:
    """Not the same bits."""
    return call("distinct", a, b)


def same_value(a: Expr, b: Expr) -> tree.Call:
    """The same value, zeros of both signs and all NaNs taken together."""
    return call("same_value", a, b)


def is_nan(a: Expr) -> tree.Call:
    """A NaN."""
    return call("is_nan", a)


def compare(left: Expr, sign: str, right: Expr) -> tree.Compare:
    """A comparison of elements."""
    return tree.Compare(sign, left, right, Kind.ELEMENT, NOWHERE)


def negation(operand: Expr) -> tree.Not:
    """Not."""
    return tree.Not(operand, NOWHERE)


def _joined(word: str, parts: Iterable[Expr]) -> Expr:
    return reduce(lambda left, right: tree.Connective(word, left, right, NOWHERE), parts)


def all_of(*parts: Expr) -> Expr:
    """And; there is at least one part."""
    return _joined("and", parts)


def any_of(*parts: Expr) -> Expr:
    """Or; there is at least one part."""
    return _joined("or", parts)


def implies(premise: Expr, conclusion: Expr) -> tree.Connective:
    """If the one then the other."""
    return tree.Connective("implies", premise, conclusion, NOWHERE)


def iff(one: Expr, other: Expr) -> tree.Connective:
    """The one if and only if the other."""
    return tree.Connective("iff", one, other, NOWHERE)


def choose(condition: Expr, then: Expr, otherwise: Expr) -> tree.If:
    """One of two elements."""
    return tree.If(condition, then, otherwise, Kind.ELEMENT, NOWHERE)


def let(name: str, value: Expr, body: Expr) -> tree.Let:
    """A name for a value in a condition."""
    return tree.Let(name, value, body)


def group(inner: Expr) -> tree.Parentheses:
    """A condition that is taken over as a whole."""
    return tree.Parentheses(inner)


def number(text: str, kind: Kind = Kind.ELEMENT) -> Expr:
    """A number or named constant, as a text of the YAML gives it."""
    return tree.Number(text, NOWHERE, kind)


def numbers(texts: Mapping[str, str]) -> dict[str, Expr]:
    """The numbers of a witness, by variable."""
    return {name: number(text) for name, text in texts.items()}


def value(of: object, kind: Kind = Kind.ELEMENT) -> tree.Value:
    """A value by its bits."""
    return tree.Value(of, kind)


def replaced(expr: Expr, name: str, by: Expr) -> Expr:
    """An expression with another in the place of a variable."""
    match expr:
        case tree.Name(id=id_):
            return by if id_ == name else expr
        case tree.Compare(left=left, right=right) | tree.Connective(left=left, right=right):
            return _with(expr, left=replaced(left, name, by), right=replaced(right, name, by))
        case tree.Not(operand=operand):
            return _with(expr, operand=replaced(operand, name, by))
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            parts = (replaced(part, name, by) for part in (condition, then, otherwise))
            return _with(expr, **dict(zip(("condition", "then", "otherwise"), parts, strict=True)))
        case tree.Call(arguments=arguments) | tree.Use(arguments=arguments):
            return _with(expr, arguments=tuple(replaced(part, name, by) for part in arguments))
        case tree.Parentheses(inner=inner):
            return _with(expr, inner=replaced(inner, name, by))
        case _:
            return expr


def _with(expr: Expr, **parts: object) -> Expr:
    return replace(expr, **parts)  # type: ignore[arg-type]


def names_used(claim: Claim, head: Head) -> set[str]:
    """The variables that a claim speaks of and does not bind; a result speaks of the operands."""
    assert not isinstance(claim.conclusion, Written)
    used = set().union(*(free_names(part) for part in (*claim.premises, claim.conclusion)))
    return used - {head.result} | set(head.operands) if claim.of_result else used


def free_names(expr: Expr) -> set[str]:
    """The variables that an expression speaks of and does not bind.

    What is used by its id alone speaks of the operands, and `every` of entries of tensors.
    """
    found: set[str] = set()
    pending: list[tuple[Expr, frozenset[str]]] = [(expr, frozenset())]
    while pending:
        node, bound = pending.pop()
        match node:
            case tree.Name(id=name):
                found |= {name} - bound
            case tree.Use(arguments=(), of=operands):
                found |= set(operands) - bound
            case tree.Let(name=name, value=of, body=body):
                pending += [(of, bound), (body, bound | {name})]
            case _:
                pending += [(part, bound) for part in parts_of(node)]
    return found
