"""Expressions of the language as claims write them: short names for the nodes of its tree."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import Expr, Kind, parts_of, rewritten
from sonnx_clip.spec.entries import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.scope import Head
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Constraint, Restriction

STATED = "stated_"
"""What stands before the id of a constraint or restriction as the YAML states it."""

element = partial(tree.Name, kind=Kind.ELEMENT)
"""A variable that stands for an element."""
tensor = partial(tree.Name, kind=Kind.TENSOR)
"""A variable that stands for a tensor."""
negation = tree.Not
group = tree.Parentheses


def number(text: str, kind: Kind = Kind.ELEMENT) -> tree.Number:
    """A number or named constant, as a text of the YAML gives it."""
    return tree.Number(text, kind)


def numbers(texts: Mapping[str, str]) -> dict[str, Expr]:
    """The numbers of a witness, by variable."""
    return {name: number(text) for name, text in texts.items()}


def value(of: object, kind: Kind = Kind.ELEMENT) -> tree.Value:
    """A value by its bits."""
    return tree.Value(of, kind)


def use(id_: str, *arguments: Expr) -> tree.Use:
    """A case, class, definition or reading by its id."""
    return tree.Use(id_, arguments, Kind.BOOL)


def call(function: str, *arguments: Expr, kind: Kind = Kind.BOOL) -> tree.Call:
    """A function or predicate of the theories."""
    return tree.Call(function, arguments, kind)


def all_of(*parts: Expr) -> Expr:
    """And; there is at least one part."""
    return reduce(lambda left, right: tree.Connective("and", left, right), parts)


def any_of(*parts: Expr) -> Expr:
    """Or; there is at least one part."""
    return reduce(lambda left, right: tree.Connective("or", left, right), parts)


def result_of(head: Head) -> tree.CasesResult:
    """The result of the cases."""
    return tree.CasesResult(head.function, tuple(map(element, head.operands)), Kind.ELEMENT)


def tensor_result_of(head: Head) -> tree.Call:
    """The result of the operator on tensors, which why3/tensor.mlw defines."""
    return call("clip_tensor", *map(tensor, head.operands), kind=Kind.TENSOR)


def stated(head: Head, entry: Constraint | Restriction, kind: Kind) -> tree.Use:
    """A constraint or restriction as the YAML states it, of the operands and the result."""
    return use(f"{STATED}{entry.id}", *(tree.Name(name, kind) for name in head.all))


def named_result(case: Case) -> Expr:
    """What a case gives: an operand, or a number."""
    return number(case.result) if is_number(case.result) else element(case.result)


def numbers_of_cases(spec: Spec) -> tuple[Expr, ...]:
    """The numbers that cases give, each once; none where each gives an operand."""
    return tuple(number(text) for text in dict.fromkeys(c.result for c in spec.cases) if is_number(text))


def replaced(expr: Expr, name: str, by: Expr) -> Expr:
    """An expression with another in the place of a variable."""
    return rewritten(expr, lambda node: by if isinstance(node, tree.Name) and node.id == name else None)


def free_names(expr: Expr) -> set[str]:
    """The variables that an expression speaks of and does not bind.

    What is used by its id alone speaks of the operands, and `every` of entries of tensors.
    """
    match expr:
        case tree.Name(id=name):
            return {name}
        case tree.Use(arguments=(), of=operands):
            return set(operands)
        case tree.Let(name=name, value=of, body=body):
            return free_names(of) | (free_names(body) - {name})
        case _:
            return {name for part in parts_of(expr) for name in free_names(part)}


def names_used(claim: Claim, head: Head) -> set[str]:
    """The variables that a claim speaks of and does not bind; a result speaks of the operands."""
    assert not isinstance(claim.conclusion, Written)
    used = {name for part in (*claim.premises, claim.conclusion) for name in free_names(part)}
    return used - {head.result} | set(head.operands) if claim.of_result else used


def variables_of(head: Head, condition: Expr) -> tuple[str, ...]:
    """The operands, and other entries of the first tensor where a condition compares two inputs."""
    first, *others = head.operands
    return (first, head.second, *others) if head.second in free_names(condition) else head.operands
