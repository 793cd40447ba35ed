"""Claims: statements of the specification before they are printed. Obligations: their goals in theories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.tree import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr, Name


ClaimKind: TypeAlias = Literal[
    "theorem", "refutation", "counterexample", "instance", "refinement", "equivalence", "finding", "smoke",
    "canary",
]  # fmt: skip


@dataclass(frozen=True)
class Obligation:
    """One proof goal."""

    id: str  # permanent: <subject>.<goal>
    # kind: a smoke obligation must *not* be Valid, a canary must be refuted, all others must be Valid
    kind: ClaimKind
    subject: str  # an element type of the YAML, or the name of a hand-written theory file
    shows: tuple[str, ...]  # the ids of the entries that it shows
    title: str  # one sentence for people
    file: str  # the theory file, as a path in the repository
    theory: str  # the module in that file
    goal: str  # its name there
    statement: str = ""  # the formula, in WhyML; empty for the axioms of a clone

    @property
    def name(self) -> str:
        """Its id without the subject: the same for every element type that has the goal."""
        return self.id.removeprefix(f"{self.subject}.")


@dataclass(frozen=True)
class Written:
    """A formula in WhyML, with symbols that the language lacks: texts and literals."""

    parts: tuple[str | Expr, ...]


@dataclass(frozen=True)
class Claim:
    """A statement on one element type, or on the restrictions."""

    subject: str  # the id of the element type, or `restrictions`
    name: str  # of its goal: C1_refuted
    role: str  # its part among the claims on an entry, as claims.yaml names it
    kind: ClaimKind  # of its obligation
    shows: tuple[str, ...]  # the ids of the entries that it shows, the main one first
    title: str  # one sentence for people
    conclusion: Expr | Written  # a condition; or a formula in WhyML, which then is the whole claim
    premises: tuple[Expr, ...] = ()  # conditions under which the conclusion holds
    variables: tuple[Name, ...] = ()  # universally quantified, each with its kind
    # witness: values of other variables, which may use the quantified ones
    witness: Mapping[str, Expr] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of its obligation."""
        return f"{self.subject}.{self.name}"

    def obligation(self) -> Obligation:
        """What is to be proved of it, without the place of its goal, which the theory that has it decides."""
        return Obligation(
            id=self.id,
            kind=self.kind,
            subject=self.subject,
            shows=self.shows,
            title=self.title,
            file="",
            theory="",
            goal=self.name,
        )

    @property
    def of_tensors(self) -> bool:
        """Whether its variables are tensors."""
        return any(name.kind is Kind.TENSOR for name in self.variables)
