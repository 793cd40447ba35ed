"""evidence.json: everything that the page says, in a form for machines (format 1).

Ids are those of spec/clip.yaml, of the obligations (``float32.total``) and of the vectors
(``float32.low_tie.1``). A digest is SHA-256 in hex. A bit pattern is hex text with all its digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from sonnx_clip.claims.claim import Kind
from sonnx_clip.conform.check_report import Verdict
from sonnx_clip.conform.comparison_record import Group, State
from sonnx_clip.evidence.proof_records import Trusted
from sonnx_clip.explain.findings_told import FindingTold
from sonnx_clip.prove.outcome import Status
from sonnx_clip.prove.provers import ProverVerdict
from sonnx_clip.prove.standing import StandingKind
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.coverage_file import Sort
from sonnx_clip.spec.sections import SHOWN
from sonnx_clip.spec.sentences import WordsKind

if TYPE_CHECKING:
    Section: TypeAlias = str
else:  # the schema lists them
    Section = Literal[tuple(section.name for section in SHOWN)]
CellStatus: TypeAlias = Literal["proved", "proved by one", "not proved", "gap", "does not apply"]
"""The weakest status of the obligations of a cell; ``gap``: one is expected and there is none."""

Shown: TypeAlias = Literal[Verdict, "undecided", "not run"]
"""A verdict, or ``not run``, which is never taken for a good one.

``undecided`` says of a property that answers deviate in its classes, and that none of those that are recorded
violates it.
"""

ALL_TYPES = "all"
"""The element type of a cell whose obligations speak of every element type at once."""


class SourceWords(Stored):
    """The words of a page: `page` is an id, `title` and `file` are those of the text, `lines` its lines."""

    page: str
    title: str
    file: str
    section: str
    lines: tuple[int, ...] = ()
    quote: str


class Cell(Stored):
    """What is shown of an entry in one element type, or in all of them at once.

    `finding` says that the entry is refuted there as it stands, and proved under the repaired condition.
    """

    type: str
    status: CellStatus
    finding: bool = False
    obligations: tuple[str, ...] = ()
    note: str = ""


class Entry(Stored):
    """An entry of spec/clip.yaml with all that hangs on it.

    `cells` holds one cell for each element type and, first, one for all at once where there is one.
    `vectors` counts the test vectors that speak of it, by element type and class. `verdicts` is by runtime
    and element type: the worst verdict of its classes.
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
    source: SourceWords | None
    cells: tuple[Cell, ...]
    classes: tuple[str, ...]
    vectors: dict[str, dict[str, int]]
    verdicts: dict[str, dict[str, Shown]]

    @property
    def gaps(self) -> tuple[str, ...]:
        """The element types in which something is expected and there is no obligation."""
        return tuple(cell.type for cell in self.cells if cell.status == "gap")


class ReplyEvidence(Stored):
    """What a prover said; how long it took stands in times.json."""

    prover: str
    version: str
    verdict: ProverVerdict
    task: str
    words: str


class ObligationEvidence(Stored):
    """An obligation with the provers' replies; `commands` repeat it by hand, by prover.

    `asked` is false where no prover was asked at all. A reply's `task` is the digest of the task text.
    `standing` says whether it adds to what others state, `repeats` whose statement it repeats, and
    `witness` holds values that meet its premises, where it has some.
    """

    id: str
    kind: Kind
    subject: str
    shows: tuple[str, ...]
    title: str
    file: str
    theory: str
    goal: str
    statement: str
    status: Status
    standing: StandingKind = "counts"
    repeats: str = ""
    witness: dict[str, str] | None = None
    fails_for: tuple[str, str] | None = None
    asked: bool
    commands: dict[str, str]
    replies: tuple[ReplyEvidence, ...]


class Witness(Stored):
    """The numbers that refute a statement, in one element type: (name, decimal, bits) of each value."""

    type: str
    values: tuple[tuple[str, str, str], ...]
    obligations: tuple[str, ...]
    status: CellStatus


class Finding(Stored):
    """A statement of a source that is refuted, incomplete, ambiguous or cannot be represented.

    `told` is there for a finding of spec/clip.yaml: its words, witnesses, obligations, what runtimes do and a
    wording. `names` are all entries that it is about, `about` the one whose cells the `witnesses` point to.
    """

    id: str
    kind: Literal["refuted", "not representable", "ambiguous", "defect", "ambiguity", "gap"]
    about: str
    names: tuple[str, ...] = ()
    family: str
    said: str
    found: str
    details: tuple[str, ...] = ()
    repaired: str | None = None
    witnesses: tuple[Witness, ...] = ()
    told: FindingTold | None = None


class DeviationEvidence(Stored):
    """The first deviation of a kind of one runtime in one class and element type."""

    type: str
    klass: str
    kind: Literal["violates", "acceptable", "raises", "crashed"]
    shown: str
    words: str | None
    latitude: str | None
    explanation: str | None
    reproduce: str


class RuntimeEvidence(Stored):
    """A runtime: its verdict for each element type and class (or C1, C3), and as which reading it behaves."""

    name: str
    run: bool
    version: str = ""
    policy: str = ""
    environment: str = ""
    compared: int = 0
    verdicts: dict[str, dict[str, Shown]]
    words: dict[str, str] = Field(default_factory=dict)
    behaviour: tuple[str, ...] = ()
    deviations: tuple[DeviationEvidence, ...] = ()


class VectorEvidence(Stored):
    """A test vector: bits as in generated/vectors, `shown` in decimals."""

    id: str
    x: str
    min: str
    max: str
    expected: str
    shown: tuple[str, str, str, str]
    acceptable: tuple[str, ...]


class CKernelEvidence(Stored):
    """What Frama-C shows of the C of an element type: `shown` of `goals`, of which `simplified` by WP itself.

    `by` counts the other goals by prover, `by_one` names what one prover alone shows, `open` what is missing
    or not proved, `taken` the axioms. ``stale`` says that the files have changed since.
    """

    type: str
    status: Literal[Status, "stale", "not run"]
    goals: int = 0
    shown: int = 0
    simplified: int = 0
    by: dict[str, int] = Field(default_factory=dict)
    by_one: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)


class ReplayEvidence(Stored):
    """What generated/replay.sh counted with some versions of the tools.

    `valid` of `goals` are proved, each goal once a prover; `false` of `smoke` smoke goals are, of which there
    should be `smokes`. `digest` is of the theories, the drivers and the script.
    """

    why3: str
    z3: str
    cvc5: str
    digest: str
    valid: int
    goals: int
    smoke: int
    false: int
    smokes: int


class CoqTheorem(Stored):
    """A theorem that Coq's kernel has checked: the entries that it shows, the axioms on which it rests."""

    id: str
    shows: tuple[str, ...]
    axioms: tuple[str, ...]


class CoqEvidence(Stored):
    """What Coq's kernel has checked; ``stale`` says that the files have changed since."""

    status: Literal["checked", "not proved", "stale", "not run"]
    coq: str = ""
    theorems: tuple[CoqTheorem, ...] = ()
    problems: tuple[str, ...] = ()


class DialectRow(Stored):
    """Operator sets in which one way to give bounds has one outcome by element type; None: not taken."""

    opsets: str
    dialect: str
    form: str
    states: tuple[State | None, ...]


class DialectRunEvidence(Stored):
    """A runtime compared with every Clip that ONNX has had; `explained` accounts for disagreements."""

    name: str
    run: bool
    version: str = ""
    environment: str = ""
    summary: str = ""
    complete: bool = False
    types: tuple[str, ...] = ()
    rows: tuple[DialectRow, ...] = ()
    refusals: tuple[str, ...] = ()
    explained: tuple[Group, ...] = ()


class FileDigest(Stored):
    """A file of the repository and its SHA-256."""

    file: str
    sha256: str


class SourceItem(Stored):
    """A sentence, row, formula, example, heading or remark of a source, and what becomes of it.

    Args:
        source: the id of the text.
        line: at which the words begin.
        section: the headings above them.
        kind: what they are.
        text: the words.
        answer: which kind of answer they have.
        encoded_by: entries, aspects of dialects and obligations.
        disputed_by: findings about the sources.
        reason: why they are descriptive or not encoded; empty for the others.
        note: what a reader should know beside that; may be empty.
    """

    source: str
    line: int
    section: tuple[str, ...]
    kind: WordsKind
    text: str
    answer: Sort
    encoded_by: tuple[str, ...]
    disputed_by: tuple[str, ...]
    reason: str
    note: str


class Statements(Stored):
    """What of the page is formal. `of_page_refuted` are false as they stand in a family, and repaired there.

    `ours` are the properties: what we conclude from the page.
    """

    of_page: int
    of_page_refuted: int
    ours: int
    ours_refuted: int


class Obligations(Stored):
    """Of what the obligations speak; smoke tests are not counted."""

    of_page: int
    ours: int
    findings: int
    readings: int
    others: int


class Road(Stored):
    """A road of argument: ``run``, ``not run``, or in which part."""

    name: str
    status: str


class Times(Stored):
    """times.json: all that differs between two runs on the same things; `replies` by obligation, prover."""

    format: Literal[1] = 1
    seconds: dict[str, float]
    replies: dict[str, dict[str, float]]
    from_ledger: int
    asked: int


class Totals(Stored):
    """The counts on top. `obligations` = `by_two` + `by_one` + `smoke_held` + `not_proved`.

    `smoke` counts the obligations from whose context false must not follow, `smoke_held` those from which it
    does not. `findings` are those about the sources, `refuted` the conclusions of ours that are false as they
    stand in a family. `by_definition` and `repeats` count obligations that are proved and add nothing: they
    hold once the definitions are put in, or state what another of the same type states. `sonnx_open`
    says in words what is missing for a judgement of our own Clip in every machine type. `c_not_proved`
    counts the C kernels that Frama-C was asked about and did not prove. `fine` is the answer in one word:
    all is shown, and our own Clip was judged and violates nothing.
    """

    obligations: int
    smoke: int
    smoke_held: int
    by_two: int
    by_one: int
    by_definition: int
    repeats: int
    not_proved: int
    requirements: int
    requirements_with_gap: int
    findings: int
    refuted: int
    vectors: int
    unjustified: int
    strays: int
    complete: bool
    violated_by_sonnx: int
    sonnx_open: tuple[str, ...]
    c_not_proved: int
    fine: bool


class Evidence(Stored):
    """The whole of evidence.json."""

    format: Literal[1] = 1
    tool: str
    operator: str
    spec_sha256: str
    totals: Totals
    element_types: dict[str, str]
    entries: tuple[Entry, ...]
    obligations: tuple[ObligationEvidence, ...]
    strays: tuple[str, ...]
    findings: tuple[Finding, ...]
    runtimes: tuple[RuntimeEvidence, ...]
    c_kernels: tuple[CKernelEvidence, ...]
    coq: CoqEvidence
    dialect_runs: tuple[DialectRunEvidence, ...]
    vectors: dict[str, dict[str, tuple[VectorEvidence, ...]]]
    trusted: tuple[Trusted, ...]
    mutants: str
    tools: dict[str, str]
    replays: tuple[ReplayEvidence, ...]
    limits: dict[str, str]
    statements: Statements
    sources: tuple[SourceItem, ...]
    obligations_of: Obligations
    roads: tuple[Road, ...]
    files: tuple[FileDigest, ...]
