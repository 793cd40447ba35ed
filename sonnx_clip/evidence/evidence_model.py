"""evidence.json: the content of the page, for machines (format 3).

What another command recorded has the form of its record. Ids are those of spec/clip.yaml, of the obligations
(``float32.total``) and of the vectors (``float32.low_tie.1``). A digest is SHA-256 in hex. A bit pattern is
hex text with all its digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pydantic import Field

from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.verdict_table import Verdict
from sonnx_clip.evidence.checkout import Checkout
from sonnx_clip.explain.finding_views import FindingView, Words
from sonnx_clip.prove.coq import CoqRecord
from sonnx_clip.prove.frama_c import OfType
from sonnx_clip.prove.outcome import Outcome, Status
from sonnx_clip.prove.proofs_record import TrustedItem
from sonnx_clip.root.stored import Stored


class PageSection(NamedTuple):
    """A section of spec/clip.yaml with the heading above its entries, and what they are."""

    name: str
    title: str
    about: str


SHOWN = (
    PageSection("restrictions", "Restrictions",
                "Conditions on models; `sonnx-clip lint` checks them."),
    PageSection("constraints", "Constraints", "Conditions on the tensors before or after Clip."),
    PageSection("cases", "Cases", "The normative definition: exactly one case applies to every input."),
    PageSection("properties", "Properties",
                "Consequences of the cases: proved, or refuted and proved under a condition."),
    PageSection("examples", "Worked examples",
                "The examples of the page, in each element type that can represent them."),
    PageSection("classes", "Classes",
                "The partition by which a runtime is judged; an empty class is a failure."),
    PageSection("latitude", "Latitude",
                "Accepted answers other than those of the cases; each use is reported."),
    PageSection("readings", "Readings",
                "Other meanings of the prose, the formula or a library, and where exactly each agrees."),
    PageSection("dialects", "Dialects",
                "Versioned definitions of Clip: inputs, treatment of bounds, and unspecified aspects."),
    PageSection("rewrites", "Rewrites",
                "What optimisers put in place of Clip: legal exactly where it is stated, in all types."),
    PageSection("element_types", "Element types", "Each meets the axioms of an ordered element type."),
)  # fmt: skip
"""What the evidence shows, in its order: requirements, what else the file states, element types."""

# A type checker accepts no Literal that is computed; evidence.schema.json is to list the sections.
if TYPE_CHECKING:
    Section: TypeAlias = str
else:
    Section = Literal[tuple(section.name for section in SHOWN)]

CellStatus: TypeAlias = Literal[Status, "gap"]
"""The weakest status of the obligations of a cell; ``gap``: an expected obligation is missing."""

Shown: TypeAlias = Literal[Verdict, "not run"]
"""A verdict, or ``not run``, which never counts as a good one."""

Basis: TypeAlias = Literal["confirmed", "taken from records, not repeated", "stale", "not run"]
"""``confirmed``: computed when the evidence was written. Answers of provers and runtimes are not."""

TAKEN: Basis = "taken from records, not repeated"

ALL_TYPES = "all"
"""The element type of a cell whose obligations are about every element type at once."""


class Argument(Stored):
    """One line of the argument: what it shows, its result, its record, and its basis."""

    name: str
    shows: str
    result: str
    record: str
    basis: Basis


class Cell(Stored):
    """What is shown of an entry in one element type to which it applies, or in all of them at once.

    `finding` says that the entry is refuted there as written, and proved under the repaired condition.
    """

    type: str
    status: CellStatus
    finding: bool = False
    obligations: tuple[str, ...] = ()
    note: str = ""


class Entry(Stored):
    """An entry of spec/clip.yaml and what is traced to it.

    `lines` are those at which its quotation stands. `vectors` counts the test vectors that cover it, by
    element type; `classes` are those in which they lie, and in which runtimes are judged on it. `theorems`
    are Coq's. `violated_by` names the runtimes and element types of which a recorded answer makes a property
    false.
    """

    id: str
    section: Section
    title: str
    statement: str
    role: str
    requirement: bool
    families: tuple[str, ...]
    aliases: dict[str, str] = Field(default_factory=dict)
    facts: tuple[tuple[str, str], ...] = ()
    source: Words | None
    lines: tuple[int, ...]
    cells: tuple[Cell, ...]
    classes: tuple[str, ...] = ()
    vectors: dict[str, int] = Field(default_factory=dict)
    theorems: tuple[str, ...] = ()
    violated_by: tuple[str, ...] = ()

    @property
    def gaps(self) -> tuple[str, ...]:
        """The element types in which something is expected and there is no obligation."""
        return tuple(cell.type for cell in self.cells if cell.status == "gap")

    @property
    def refuted(self) -> bool:
        """Whether it is false as written in a family."""
        return any(cell.finding for cell in self.cells)


class CKernelEvidence(Stored):
    """What Frama-C found of the C of an element type, and what of it is open."""

    type: str
    status: Literal[Status, "stale", "not run"]
    found: OfType | None = None
    open: tuple[str, ...] = ()


class CoqEvidence(Stored):
    """What Coq's kernel has checked; ``stale`` if the files have changed since."""

    status: Literal["checked", "not proved", "stale", "not run"]
    record: CoqRecord | None = None
    problems: tuple[str, ...] = ()


class ReplayEvidence(Stored):
    """What generated/replay.sh counted: `valid` of `goals` proved, `false` of `smoke` smoke goals."""

    why3: str
    z3: str
    cvc5: str
    digest: str
    valid: int
    goals: int
    smoke: int
    false: int
    smokes: int


class Totals(Stored):
    """The counts on top, and what is `open`, a line each; nothing open is exit status 0.

    Without smoke obligations: `obligations` = `by_two` + `by_one` + `not_proved`, asked in `tasks` different
    tasks. `refuted` counts the requirements that are false as they stand in a family.
    """

    obligations: int
    tasks: int
    by_two: int
    by_one: int
    not_proved: int
    smoke: int
    smoke_held: int
    requirements: int
    refuted: int
    findings: int
    vectors: int
    open: tuple[str, ...]


class OperatorEvidence(Stored):
    """Another operator of spec/ than that of the page: what is proved of it, or how to prove it.

    The ids of its entries, obligations and findings begin with its `name`: ``max:float32.total``. `record`
    is the file of its proofs, which `command` writes; `problem` says why it is stale.
    """

    name: str
    operator: str
    spec: str
    spec_sha256: str
    record: str
    command: str
    basis: Basis
    problem: str = ""
    totals: Totals | None = None
    element_types: dict[str, str] = Field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    obligations: tuple[Outcome, ...] = ()
    findings: tuple[FindingView, ...] = ()
    tools: dict[str, str] = Field(default_factory=dict)
    programs: dict[str, str] = Field(default_factory=dict)

    @property
    def open(self) -> tuple[str, ...]:
        """What is open; nothing where there is no record, which counts as not run."""
        return self.totals.open if self.totals else ()


class PersonalCheck(Stored):
    """A user constraint that no command checks: what has to hold, and how a person checks it."""

    id: str
    text: str
    check: str


class Evidence(Stored):
    """The whole of evidence.json.

    `files` holds the SHA-256 of what the evidence rests on, `programs` that of Why3, its drivers and provers.
    The record of a runtime is None where it was not run, `checkout` where git could not read one.
    """

    format: Literal[3] = 3
    tool: str
    checkout: Checkout | None = None
    operator: str
    spec_sha256: str
    totals: Totals
    argument: tuple[Argument, ...]
    for_a_person: tuple[PersonalCheck, ...]
    element_types: dict[str, str]
    entries: tuple[Entry, ...]
    obligations: tuple[Outcome, ...]
    findings: tuple[FindingView, ...]
    runtimes: dict[str, Report | None]
    c_kernels: tuple[CKernelEvidence, ...]
    coq: CoqEvidence
    replays: tuple[ReplayEvidence, ...]
    dialects: dict[str, Report | None]
    trusted: tuple[TrustedItem, ...]
    tools: dict[str, str]
    programs: dict[str, str]
    limits: dict[str, str]
    files: dict[str, str]
    operators: tuple[OperatorEvidence, ...]

    @property
    def all_entries(self) -> tuple[Entry, ...]:
        """The entries of every operator."""
        # Those of the page's operator come first, here and below.
        entries = [*self.entries]
        for operator in self.operators:
            entries += operator.entries
        return tuple(entries)

    @property
    def all_obligations(self) -> tuple[Outcome, ...]:
        """The obligations of every operator."""
        obligations = [*self.obligations]
        for operator in self.operators:
            obligations += operator.obligations
        return tuple(obligations)

    @property
    def all_programs(self) -> dict[str, str]:
        """`programs`, and those with which other operators were proved where they differ."""
        programs = dict(self.programs)
        # Each operator is proved by a run of its own, and the provers may have been updated between.
        for operator in self.operators:
            for name, digest in operator.programs.items():
                # A program of the same digest is listed once, under its own name.
                if self.programs.get(name) != digest:
                    programs[f"{name} ({operator.operator})"] = digest
        return programs

    @property
    def all_findings(self) -> tuple[FindingView, ...]:
        """The findings about the sources of every operator."""
        findings = [*self.findings]
        for operator in self.operators:
            findings += operator.findings
        return tuple(findings)
