"""build/frama-c.json: what Frama-C showed of the C kernels. What is proved is derived, not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.backends.acsl import LOOP, contract_path, due, functions
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.language import ElementType

PROVERS = ("Z3", "cvc5")
RECORD = "frama-c.json"
HEADER = "generated/c/sonnx_clip.h"

WpStatus: TypeAlias = Literal["proved", "proved by one", "not proved"]


class WpGoal(Stored):
    """A property of a function, which WP splits into `total` goals.

    `simplifier` counts those that WP's own simplifier proves, `by` those that each prover proves.
    """

    function: str
    name: str
    total: int
    simplifier: int
    by: dict[str, int]

    @property
    def asked(self) -> int:
        """How many goals went to the provers."""
        return self.total - self.simplifier

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The provers that proved every goal that went to them."""
        return tuple(name for name in PROVERS if self.by.get(name, 0) == self.asked)

    @property
    def status(self) -> WpStatus:
        """Whether two show it, one, or none; what the simplifier proves needs no prover."""
        if self.total < 1 or not 0 <= self.simplifier <= self.total or not self.shown_by:
            return "not proved"
        return "proved" if len(self.shown_by) == len(PROVERS) else "proved by one"


class WpProperty(Stored):
    """An annotation, or a guard of the C, with the status that Frama-C gives to it in the end."""

    function: str
    kind: str
    text: str
    status: str


class Smoke(Stored):
    """Whether every prover was asked for false at the end of a function, and none found it."""

    function: str
    held: bool


class OfType(Stored):
    """What came out for an element type.

    `files` holds the SHA-256 of what was proved. `taken` names the axioms of the contracts. `words` are those
    of Frama-C where something went wrong; then nothing counts as proved.
    """

    type: str
    files: dict[str, str]
    goals: tuple[WpGoal, ...]
    properties: tuple[WpProperty, ...]
    smoke: tuple[Smoke, ...]
    taken: tuple[str, ...]
    words: tuple[str, ...]
    seconds: float

    def open(self, etype: ElementType) -> tuple[str, ...]:
        """What is missing or not proved, by name; empty if all that is expected is shown."""
        there = {goal.name for goal in self.goals}
        ended = {p.function for p in self.properties if p.kind == "termination clause"}
        smoked = {s.function for s in self.smoke}
        return (
            *(f"Frama-C: {line}" for line in self.words),
            *(f"{name} is missing" for name in due(etype) if name not in there),
            *(f"{name}_terminates is missing" for name in functions(etype) if name not in ended),
            *(g.name for g in self.goals if g.status == "not proved"),
            *(f"{p.function}, {p.kind}: {p.status}" for p in self.properties if p.status != "Valid"),
            *(f"{name}_smoke is missing" for name in functions(etype) if name not in smoked),
            *(f"{s.function}_smoke: false was proved" for s in self.smoke if not s.held),
        )

    def status(self, etype: ElementType) -> WpStatus:
        """The weakest of its goals, if all that is expected is there."""
        if self.open(etype):
            return "not proved"
        return "proved by one" if any(g.status == "proved by one" for g in self.goals) else "proved"

    @property
    def total(self) -> int:
        """How many goals there are."""
        return sum(goal.total for goal in self.goals)

    @property
    def shown(self) -> int:
        """How many goals the simplifier and the provers together show."""
        most = (max([0, *(goal.by.get(name, 0) for name in PROVERS)]) for goal in self.goals)
        return sum(goal.simplifier + best for goal, best in zip(self.goals, most, strict=True))

    @property
    def simplified(self) -> int:
        """How many of them WP's own simplifier shows."""
        return sum(goal.simplifier for goal in self.goals)

    def shown_by(self, prover: str) -> int:
        """How many of the goals that went to the provers one of them shows."""
        return sum(goal.by.get(prover, 0) for goal in self.goals)


class FramaCRecord(Stored):
    """The whole file. `options` are those of the run; `complete` says that no element type was left out."""

    format: Literal[1] = 1
    tool: str
    spec_digest: str
    tools: dict[str, str]
    options: tuple[str, ...]
    complete: bool
    types: tuple[OfType, ...]


def c_path(etype: ElementType) -> str:
    """Where the C of an element type stands in the repository."""
    return f"generated/c/sonnx_clip_{etype.id}.c"


def digests(etype: ElementType, root: Path | None = None) -> dict[str, str]:
    """SHA-256 of the files that a proof rests on, as they are now in a checkout; empty if one is missing."""
    root = root or repo_root()
    paths = (c_path(etype), HEADER, contract_path(etype), LOOP)
    if not all((root / path).is_file() for path in paths):
        return {}
    return {path: digest_of_file(root / path) for path in paths}
