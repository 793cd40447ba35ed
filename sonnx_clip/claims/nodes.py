"""Expressions of the language as claims write them: short names for the nodes of its tree."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, get_args

from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import NOWHERE, Expr, Kind, parts_of
from sonnx_clip.spec.entries import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.scope import Head
    from sonnx_clip.spec.entries import Case, Constraint, Restriction

STATED = "stated_"
"""What stands before the id of a constraint or restriction as the YAML states it."""
WRITTEN_ON_TENSORS = "clip_tensor"
"""What why3/tensor.mlw calls the operator on tensors."""
_NODES: tuple[Any, ...] = get_args(Expr)


def element(name: str) -> tree.Name:
    """A variable that stands for an element."""
    return tree.Name(name, Kind.ELEMENT, NOWHERE)


def tensor(name: str) -> tree.Name:
    """A variable that stands for a tensor."""
    return tree.Name(name, Kind.TENSOR, NOWHERE)


def variables_of(head: Head, condition: Expr) -> tuple[str, ...]:
    """The operands, and other entries of the first tensor where a condition compares two inputs."""
    first, *others = head.operands
    return (first, head.second, *others) if head.second in free_names(condition) else head.operands


def result_of(head: Head) -> tree.CasesResult:
    """The result of the cases."""
    return tree.CasesResult(head.function, tuple(map(element, head.operands)), Kind.ELEMENT, NOWHERE)


def tensor_result_of(head: Head) -> tree.Call:
    """The result of the operator on tensors, which why3/tensor.mlw defines."""
    return call(WRITTEN_ON_TENSORS, *map(tensor, head.operands), kind=Kind.TENSOR)


def stated(head: Head, entry: Constraint | Restriction, kind: Kind) -> tree.Use:
    """A constraint or restriction as the YAML states it, of the operands and the result."""
    return use(f"{STATED}{entry.id}", *(tree.Name(name, kind, NOWHERE) for name in head.all))


def named_result(case: Case) -> Expr:
    """What a case gives: an operand, or a number."""
    return number(case.result) if is_number(case.result) else element(case.result)


def use(id_: str, *arguments: Expr) -> tree.Use:
    """A case, class, definition or reading by its id."""
    return tree.Use(id_, arguments, Kind.BOOL, NOWHERE)


def call(function: str, *arguments: Expr, kind: Kind = Kind.BOOL) -> tree.Call:
    """A function or predicate of the theories."""
    return tree.Call(function, arguments, kind, NOWHERE)


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


def rewritten(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """An expression with each node replaced, its parts before itself; None keeps a node."""
    parts: dict[str, Any] = {}
    for field in fields(expr):
        of = getattr(expr, field.name)
        if isinstance(of, _NODES):
            parts[field.name] = rewritten(of, change)
        elif isinstance(of, tuple) and isinstance(next(iter(of), None), _NODES):
            parts[field.name] = tuple(rewritten(part, change) for part in of)
    made = replace(expr, **parts) if parts else expr
    changed = change(made)
    return made if changed is None else changed


def replaced(expr: Expr, name: str, by: Expr) -> Expr:
    """An expression with another in the place of a variable."""
    return rewritten(expr, lambda node: by if isinstance(node, tree.Name) and node.id == name else None)


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
