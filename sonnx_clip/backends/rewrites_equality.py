"""Renders the question whether a term or a condition of a rewrite means the same as a mutant of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.rewrites_theory import (
    constant_for,
    functions_used,
    generalised,
    printer_of,
    theory_of,
)
from sonnx_clip.backends.theory import Goal, Module
from sonnx_clip.backends.whyml_printer import AND
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.backends.rewrites_theory import TermPrinter, Theory
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId


@dataclass(frozen=True)
class Equality:
    """A term or a condition, and a mutant of it.

    Args:
        name: the name of the goal.
        original: what stands in the file.
        mutant: what may mean the same.
        given: for which constants they are compared; None for all.
    """

    name: str
    original: Expr
    mutant: Expr
    given: Expr | None = None


def equalities(family: FamilyId, questions: Sequence[Equality]) -> Module:
    """A goal for each question: that both mean the same, for every X and all constants of a family."""
    theory = theory_of(family)
    printer = printer_of(theory)
    sides: list[Expr] = []
    for question in questions:
        sides += (question.original, question.mutant)
    # Of all questions together: each function is declared once in the module.
    functions = functions_used(sides, printer, has_opposite=theory.has_opposite)
    declarations = [function.text for function in functions]
    goals = []
    for question in questions:
        statement = _statement(question, theory, printer)
        goals.append(
            Goal(
                name=question.name,
                kind="theorem",
                shows=(),
                title=question.name,
                statement=statement,
            )
        )
    return Module(
        name="Equal",
        about="Mutants and originals.",
        uses=theory.uses,
        parts=declarations,
        goals=goals,
    )


def _statement(question: Equality, theory: Theory, printer: TermPrinter) -> str:
    """That the sides of a question are equal where the condition of the question holds."""
    original = generalised(question.original, theory)
    mutant = generalised(question.mutant, theory)
    conditions = [] if question.given is None else [generalised(question.given, theory)]
    # Terms are elements, conditions are formulas.
    sign = "=" if kind_of(original) is tree.Kind.ELEMENT else "<->"
    conclusion = f"(({printer.show(original)}) {sign} ({printer.show(mutant)}))"
    premises = [printer.operand(condition, AND) for condition in conditions]
    # A number became a constant of which nothing else is known than its sign.
    numbers = _numbers_of(question.original, question.mutant)
    premises += _signs(numbers, theory)
    statement = " -> ".join([*premises, conclusion])
    names = sorted(tree.names_in(original, mutant, *conditions))
    if not names:  # Why3 has no quantifier over nothing
        return statement
    variables = " ".join(names).lower()
    return f"forall {variables}: t. {statement}"


def _numbers_of(*sides: Expr) -> dict[str, tree.Number]:
    """The numbers of terms and conditions by their texts."""
    numbers = {}
    for side in sides:
        for part in tree.subtrees(side):
            if isinstance(part, tree.Number):
                numbers[part.text] = part
    return numbers


def _signs(numbers: dict[str, tree.Number], theory: Theory) -> list[str]:
    """On which side of zero the numbers are that became constants."""
    zero = theory.points[0]
    premises = []
    for text, number in numbers.items():
        constant = constant_for(number, theory)
        # A named one needs no premise: nothing is proved of it that does not hold for all constants.
        if constant is None or number.constant is not None:
            continue
        name = constant.id.lower()
        value = float(text)
        if value < 0:
            premises.append(f"lt {name} {zero}")
        elif value > 0:
            premises.append(f"lt {zero} {name}")
    return premises
