"""spec/clip.qualification.yaml as a model: what a tool qualification needs to know of each command.

The file holds judgements that nobody can compute: what a command is used for, what an error in it would do,
what detects such an error, and what the user must ensure. Levels follow from them by the tables of DO-330 and
ISO 26262-8.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from sonnx_clip.language.types import Part, Text
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import read_document
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path

PATH = "spec/clip.qualification.yaml"
MOST_NODES = 40

Number: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(TOR|ERR|UC|KP)-\d{3}0$")]
"""An id: permanent, never reused, in steps of ten."""

# By criterion, for the software levels A to D in this order.
_TQL = {"1": "TQL-1, 2, 3, 4", "2": "TQL-4, 4, 5, 5", "3": "TQL-5", None: "none"}
# By tool error detection, where an error has an impact.
_TCL = {"TD1": "TCL1", "TD2": "TCL2", "TD3": "TCL3"}


class Tool(Part):
    """A command: its use, the effect of an error, and the proposed classification with its argument."""

    use: Text
    effect: Text
    criterion: Literal["1", "2", "3"] | None
    impact: Literal["TI1", "TI2"]
    detection: Literal["TD1", "TD2", "TD3"] | None = None
    argument: Text

    @model_validator(mode="after")
    def _detection_where_there_is_impact(self) -> Self:
        if (self.detection is None) != (self.impact == "TI1"):
            raise ValueError("`detection` is required for TI2, and only for TI2")
        return self

    @property
    def tql(self) -> str:
        """Tool qualification levels for software levels A, B, C and D (DO-178C, table 12-1)."""
        return _TQL[self.criterion]

    @property
    def tcl(self) -> str:
        """Tool confidence level (ISO 26262-8, table 3)."""
        # Without impact (TI1) it is TCL1 whatever is detected.
        return _TCL[self.detection] if self.detection else "TCL1"


class Requirement(Part):
    """A tool operational requirement of a command, and what verifies it."""

    id: Number
    command: Text
    text: Text
    tests: tuple[Text, ...] = Field(min_length=1)
    obligations: tuple[Text, ...] = ()


class PotentialError(Part):
    """A way in which commands could be wrong unnoticed, and what detects it.

    Args:
        obligations: ids, in which ``*`` stands for any text.
        gates: dotted names of functions that stop a command.
        tests: files that plant such a mistake.
        mutants: kinds of mutants, as in spec/measured/mutants.json.
        make: targets of the Makefile.
        constraints: user constraints without which the error would stay unnoticed.
        trusted: rows of docs/trusted-base.md that concern it.
        rest: what stays undetected.
    """

    id: Number
    commands: tuple[Text, ...] = Field(min_length=1)
    error: Text
    obligations: tuple[Text, ...] = ()
    gates: tuple[Text, ...] = ()
    tests: tuple[Text, ...] = ()
    mutants: tuple[Text, ...] = ()
    make: tuple[Text, ...] = ()
    constraints: tuple[Number, ...] = ()
    trusted: tuple[Text, ...] = ()
    rest: Text | None = None

    @model_validator(mode="after")
    def _is_detected(self) -> Self:
        if not (self.obligations or self.gates or self.tests or self.mutants or self.make):
            raise ValueError(
                f"{self.id} has no detection: name obligations, gates, tests, mutants or make"
            )
        return self


class UserConstraint(Part):
    """What the user must ensure, the words of the trusted base from which it follows, and how to check it.

    `probe`: `sonnx-clip verify` checks it on the machine on which it runs.
    """

    id: Number
    text: Text
    derived_from: tuple[Text, ...] = Field(min_length=1)
    check: Text
    probe: bool = False


class KnownProblem(Part):
    """A problem of the tool itself: its consequence and what to do about it."""

    id: Number
    text: Text
    todo: Text


class Upstream(Part):
    """Reports elsewhere on how runtimes compute Clip, read and not reproduced; `runtimes` have a record."""

    topic: Text
    links: tuple[Text, ...] = Field(min_length=1)
    runtimes: tuple[Text, ...] = ()


class NotRun(Part):
    """What was not run, and why."""

    what: Text
    why: Text


class Node(Part):
    """A node of the assurance case. A solution links to its evidence: a path, with #anchor if need be."""

    id: Annotated[str, StringConstraints(pattern=r"^(Sn|[GSCA])\d+$")]
    text: Text
    below: str | None = None
    link: Text | None = None

    @property
    def kind(self) -> str:
        """Its kind in GSN, from the first letter of its id."""
        names = {"G": "goal", "S": "strategy", "C": "context", "A": "assumption", "Sn": "solution"}
        return names[self.id.rstrip("0123456789")]  # the pattern allows these letters alone

    @property
    def is_claim(self) -> bool:
        """Whether it is a goal or a strategy, below which other nodes support it."""
        return self.kind in ("goal", "strategy")


class Kit(Part):
    """The whole file."""

    tools: dict[str, Tool]
    requirements: tuple[Requirement, ...]
    errors: tuple[PotentialError, ...]
    constraints: tuple[UserConstraint, ...]
    known_problems: tuple[KnownProblem, ...]
    upstream: tuple[Upstream, ...]
    not_run: tuple[NotRun, ...]
    # Deviations, by rule of MISRA C: the category of the rule, and why it is deviated from.
    misra: dict[Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")], Text]
    # Each node after the one that it is below, and so few that a person can read the whole.
    assurance_case: tuple[Node, ...] = Field(max_length=MOST_NODES)

    @model_validator(mode="after")
    def _refers_to_itself(self) -> Self:
        for prefix, entries in self._numbered.items():
            ids = [entry.id for entry in entries]
            # Ids have one length: the order of the texts is that of the numbers.
            for id_ in ids:
                if not id_.startswith(prefix):
                    raise ValueError(f"{id_} is listed among the entries of {prefix}")
            for id_, following in pairwise(ids):
                if id_ >= following:
                    raise ValueError(f"{following} is out of order: ids ascend and are unique")
        self._check_names()
        return self

    def _check_names(self) -> None:
        """Names of commands and constraints exist, and no command lacks a requirement or an error."""
        # Commands and constraints are one set here: an id of the one cannot be taken for the other.
        known = set(self.tools)
        known.update(constraint.id for constraint in self.constraints)
        with_requirement: set[str] = set()
        with_error: set[str] = set()
        for error in self.errors:
            _require_known(error.id, (*error.constraints, *error.commands), known)
            with_error.update(error.commands)
        for requirement in self.requirements:
            _require_known(requirement.id, (requirement.command,), known)
            with_requirement.add(requirement.command)
        # Sorted, so that the message is the same in every run.
        for command in sorted(self.tools.keys() - with_requirement):
            raise ValueError(f"the command {command} has no requirement (TOR)")
        for command in sorted(self.tools.keys() - with_error):
            raise ValueError(f"the command {command} has no potential error (ERR)")

    @model_validator(mode="after")
    def _case_is_a_tree(self) -> Self:
        # A node names an earlier one, so that there can be no cycle, and one root.
        seen: dict[str, Node] = {}
        for node in self.assurance_case:
            if node.id in seen:
                raise ValueError(f"two nodes have the id {node.id}")
            is_first = not seen  # only the first node is the root
            is_root = node.below is None
            if is_first != is_root or (node.below and node.below not in seen):
                raise ValueError(
                    f"`below` of {node.id} must name an earlier node; the first node has none"
                )
            if node.below and not seen[node.below].is_claim:
                raise ValueError(
                    f"{node.id} is below {node.below}, which is not a goal or strategy"
                )
            seen[node.id] = node

        # A context or an assumption says where a goal applies, and supports nothing.
        supported: set[str | None] = set()
        for node in self.assurance_case:
            if node.kind not in ("context", "assumption"):
                supported.add(node.below)
        for node in self.assurance_case:
            if node.is_claim and node.id not in supported:
                raise ValueError(f"{node.id} has no goal or solution below it")
            if not node.is_claim and node.link is None:
                raise ValueError(f"{node.id} has no link: add `link`")
        return self

    @property
    def _numbered(
        self,
    ) -> dict[str, tuple[Requirement | PotentialError | UserConstraint | KnownProblem, ...]]:
        sections = (self.requirements, self.errors, self.constraints, self.known_problems)
        return dict(zip(("TOR", "ERR", "UC", "KP"), sections, strict=True))


def _require_known(id_: str, names: Iterable[str], known: Container[str]) -> None:
    """ValueError for the first name that an entry uses and that does not exist."""
    for name in names:
        if name not in known:
            raise ValueError(f"{id_} names {name}, which is not under `tools` or `constraints`")


def load_kit(path: Path | None = None) -> Kit:
    """Read spec/clip.qualification.yaml; UserError with the place of the first mistake."""
    document, _ = read_document(path or repo_file(PATH))
    return validate(Kit, document)
