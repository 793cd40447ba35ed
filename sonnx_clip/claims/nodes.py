"""Expressions of claims: variables that they use, and nodes that several claims share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import Expr, Kind, Name, Number, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.root.signature import Signature
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Restriction

STATED = "stated_"
"""Prefix of a constraint or restriction as the YAML states it."""


def variable_nodes(ids: Iterable[str], kind: Kind = Kind.ELEMENT) -> tuple[Name, ...]:
    """Variables of one kind."""
    return tuple(Name(name, kind) for name in ids)


def number_nodes(texts: Mapping[str, str]) -> dict[str, Expr]:
    """The numbers of a witness, by variable."""
    return {name: Number(text) for name, text in texts.items()}


def values(literals: Mapping[str, object], kind: Kind = Kind.ELEMENT) -> dict[str, Expr]:
    """Values by their bits, or declared tensors, by name."""
    return {name: tree.Value(literal, kind) for name, literal in literals.items()}


def result_of(signature: Signature, *, tensors: bool = False) -> tree.Call:
    """The result of the cases; or of the operator on tensors, which why3/tensor.mlw defines."""
    if tensors:
        operands = variable_nodes(signature.ids, Kind.TENSOR)
        return tree.Call("clip_tensor", operands, Kind.TENSOR)
    operands = variable_nodes(signature.ids)
    return tree.CasesResult(signature.function, operands, Kind.ELEMENT)


def stated(signature: Signature, entry: Constraint | Restriction, kind: Kind) -> tree.Use:
    """A constraint or restriction as the YAML states it, of the operands and the result."""
    arguments = variable_nodes(signature.all_ids, kind)
    return tree.Use(f"{STATED}{entry.id}", arguments, Kind.BOOL)


def answers_of_cases(spec: Spec, family: str) -> tuple[Expr, ...]:
    """The operands, and what else cases give in a family, each once."""
    operands = variable_nodes(spec.signature.ids)
    results = [case.result for case in spec.giving_cases(family)]
    # Most cases give an operand: repeated, it would only make a disjunction over answers longer.
    return tuple(dict.fromkeys((*operands, *results)))


def free_names(expr: Expr) -> set[str]:
    """The free variables of an expression; an entry without arguments uses the operands."""
    match expr:
        case Name(id=name):
            return {name}
        case tree.Use(arguments=(), of=operands):  # a case or class, without arguments in its text
            return set(operands)
        case tree.Let(name=name, value=value, body=body):
            # The value is outside the scope of the variable that it is bound to.
            free_in_body = free_names(body) - {name}
            return free_names(value) | free_in_body
        case _:
            names: set[str] = set()
            for part in parts_of(expr):
                names |= free_names(part)
            return names


def names_used(claim: Claim) -> set[str]:
    """The variables that premises and conclusion use, and those that the values of these use."""
    assert not isinstance(claim.conclusion, Written)
    used = free_names(claim.conclusion)
    for premise in claim.premises:
        used |= free_names(premise)

    # A value uses quantified variables only, no other value: one step is enough.
    of_values: set[str] = set()
    for name, value in claim.witness.items():
        if name in used:
            of_values |= free_names(value)
    return used | of_values


def variables_of(signature: Signature, condition: Expr) -> tuple[str, ...]:
    """The operands, and other entries of the first tensor where a condition compares two inputs."""
    if signature.second not in free_names(condition):
        return signature.ids
    first, *others = signature.ids
    return (first, signature.second, *others)
