"""One statement that provers have to prove: what `backends` print, `prove` runs and `evidence` shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "theorem", "refutation", "instance", "refinement", "equivalence", "finding", "smoke"
]


@dataclass(frozen=True)
class Obligation:
    """One thing to be shown by a prover.

    Args:
        id: permanent, ``<subject>.<goal>``: the subject is an element type or the theory file's name.
        kind: what has to come out; a smoke obligation must *not* be Valid, all others must.
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
