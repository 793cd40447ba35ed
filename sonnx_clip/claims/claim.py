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


# --- A claim: one thing that the specification says, before it is printed for any prover --------------------
#
# Why3 and Coq print claims; what an obligation is called, what it shows and what has to come out of it are
# read off them. docs/claims.md lists the roles, and what only a person can write.


Role: TypeAlias = Literal[
    "complete",  # every input falls into one of what it is about
    "disjoint",  # no input falls into two
    "inhabited",  # some input falls into it
    "results",  # each case gives the result that it names
    "written",  # the YAML and what is written by hand say the same
    "holds",  # a property, a constraint or the claim of a finding
    "refuted",  # a statement of the source is false, at the witness
    "repaired",  # it is true under its condition
    "repaired inhabited",  # some numbers meet that condition
    "step",  # what later claims of the module rest on
    "used",  # a latitude accepts an answer that is not the result
    "narrow",  # a latitude accepts nothing that it does not speak of
    "given",  # what a latitude accepts, its readings give
    "accepted",  # what a reading gives, some latitude accepts
    "example",  # a worked example
    "encoding",  # what symbols of the element type mean, in bits
    "answers",  # a reading allows an answer for every input
    "agrees",  # it agrees with the cases in a region
    "nowhere else",  # and outside of the region it does not
    "differs",  # it differs, at the witness
    "agrees in classes",
    "differs in classes",
    "differs from",  # two readings do not allow the same
    "allows its oracle",  # a dialect allows what its oracle answers
    "defaults convert",
    "defaults are limits",
    "without bounds",
    "without min",
    "without max",
    "infinities",  # what the default bounds make of them
    "printed default",
    "after",  # what a newer version changes
    "widened",
    "after, without bounds",
    "changed",
    "equals",  # a dialect has the values of a reading, as its page says
    "converts",  # a bound that is converted
    "scales",  # ScaleBias
    "independent",  # a restriction can be broken alone
    "consistent",  # one node meets every restriction
    "worded",  # a word in which restrictions are stated means the same to provers and evaluator
]
"""What a claim says of what it is about."""

Aspect: TypeAlias = Literal["", "values", "bits"]


@dataclass(frozen=True)
class Binder:
    """Variables of one kind that a claim speaks of for all their values."""

    names: tuple[str, ...]
    sort: Sort = Sort.ELEMENT


@dataclass(frozen=True)
class Written:
    """A formula that a person wrote, in WhyML: it speaks of symbols that the language does not have.

    Args:
        text: the formula, with ``{name}`` for each of the literals.
        literals: numbers, as expressions of the language.
    """

    text: str
    literals: Mapping[str, Expr] = field(default_factory=dict)


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
