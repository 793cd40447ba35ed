"""Claims: statements of the specification before they are printed. Obligations: their goals in theories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.tree import Kind as Sort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr, Name


Kind: TypeAlias = Literal[
    "theorem", "refutation", "counterexample", "instance", "refinement", "equivalence", "finding", "smoke",
    "canary",
]  # fmt: skip


@dataclass(frozen=True)
class Obligation:
    """One proof goal.

    Args:
        id: permanent, ``<subject>.<goal>``: the subject is an element type or the theory file's name.
        kind: a smoke obligation must *not* be Valid, a canary must be refuted, all others must be Valid.
        subject: an element type of the YAML, or the name of a hand-written theory file.
        shows: the ids of the entries that it shows.
        title: one sentence for people.
        file: the theory file, as a path in the repository.
        theory: the module in that file.
        goal: the name of the goal there.
        statement: the formula, in WhyML; empty for the axioms of a clone.
    """

    id: str
    kind: Kind
    subject: str
    shows: tuple[str, ...]
    title: str
    file: str
    theory: str
    goal: str
    statement: str = ""


@dataclass(frozen=True)
class Written:
    """A formula in WhyML, with symbols that the language lacks: texts and literals."""

    parts: tuple[str | Expr, ...]


@dataclass(frozen=True)
class Claim:
    """A statement on one element type, or on the restrictions.

    Args:
        subject: the id of the element type, or ``restrictions``.
        name: the name of its goal: ``C1_refuted``.
        role: its part among the claims on an entry, as claims.yaml names it.
        kind: the kind of its obligation.
        shows: the ids of the entries that it shows, the main one first.
        title: one sentence for people.
        conclusion: a condition; or a formula in WhyML, which then is the whole claim.
        premises: conditions under which the conclusion holds.
        variables: universally quantified, each with its kind.
        witness: values of other variables, which may use the quantified ones.
    """

    subject: str
    name: str
    role: str
    kind: Kind
    shows: tuple[str, ...]
    title: str
    conclusion: Expr | Written
    premises: tuple[Expr, ...] = ()
    variables: tuple[Name, ...] = ()
    witness: Mapping[str, Expr] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of its obligation."""
        return f"{self.subject}.{self.name}"

    @property
    def of_tensors(self) -> bool:
        """Whether its variables are tensors."""
        return any(name.kind is Sort.TENSOR for name in self.variables)
