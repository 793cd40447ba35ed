"""A claim: one thing that the specification says, before it is printed for any prover. An obligation: a claim
printed for the provers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.tree import Kind as Sort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr


Kind: TypeAlias = Literal[
    "theorem",
    "refutation",
    "counterexample",
    "instance",
    "refinement",
    "equivalence",
    "finding",
    "smoke",
    "canary",
]


@dataclass(frozen=True)
class Obligation:
    """One thing to be shown by a prover.

    Args:
        id: permanent, ``<subject>.<goal>``: the subject is an element type or the theory file's name.
        kind: what has to come out; a smoke obligation must *not* be Valid, a canary must be refuted, all
            others must be Valid.
        subject: an element type of the YAML, or the name of a hand-written theory file.
        shows: the ids of what it shows.
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


Role: TypeAlias = Literal[
    "complete", "disjoint", "inhabited", "results", "written", "holds", "refuted", "repaired",
    "repaired inhabited", "step", "used", "narrow", "given", "accepted", "example", "encoding", "answers",
    "agrees", "nowhere else", "differs", "differs from",
    "allows its oracle", "defaults convert", "defaults are limits", "without bounds", "without min",
    "without max", "infinities", "printed default", "after", "widened", "after, without bounds", "changed",
    "equals", "converts", "scales", "independent", "consistent", "worded",
]  # fmt: skip
"""What a claim states of its entry; the templates in claims.yaml show what each means."""

Aspect: TypeAlias = Literal["", "values", "bits"]


@dataclass(frozen=True)
class Binder:
    """Variables of one kind that a claim speaks of for all their values."""

    names: tuple[str, ...]
    sort: Sort = Sort.ELEMENT


@dataclass(frozen=True)
class Written:
    """A formula in WhyML, which speaks of symbols that the language does not have: texts and literals."""

    parts: tuple[str | Expr, ...]


@dataclass(frozen=True)
class Claim:
    """Something to be shown of one element type, or of the restrictions.

    Args:
        subject: the id of the element type, or ``restrictions``.
        name: what its goal is called: ``C1_refuted``.
        role: what it says.
        kind: what has to come out.
        shows: the ids of what it shows; the first is what it is about.
        title: one sentence for people.
        conclusion: what is said; a condition, or a formula written by hand, which then says everything.
        premises: under which conditions.
        binders: of which variables, for all their values.
        witness: the values at which it is said, by variable.
        of_result: whether Y in premises and conclusion is the result of the cases.
        aspect: whether of values or of bits, where there are claims on both.
    """

    subject: str
    name: str
    role: Role
    kind: Kind
    shows: tuple[str, ...]
    title: str
    conclusion: Expr | Written
    premises: tuple[Expr, ...] = ()
    binders: tuple[Binder, ...] = ()
    witness: Mapping[str, Expr] = field(default_factory=dict)
    of_result: bool = False
    aspect: Aspect = ""

    @property
    def id(self) -> str:
        """The id of its obligation."""
        return f"{self.subject}.{self.name}"
