"""What a comparison of a runtime with ONNX's dialects found, in the form in which it is stored (format 1).

A bit pattern is hex text with all its digits. An answer is one entry of one call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from sonnx_clip.conform.comparison_explanations import ExplanationKind
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored

State: TypeAlias = Literal["agrees", "payload", "allowed", "differs", "unexplained", "refused", "crashed"]
STATES: dict[State, tuple[str, str]] = {
    "agrees": ("=", "agrees bit for bit"),
    "payload": ("n", "agrees but for the payload of a NaN"),
    "allowed": ("~", "not what the oracle answers, but allowed by the text"),
    "differs": ("d", "differs, explained below"),
    "unexplained": ("X", "differs, unexplained"),
    "refused": ("-", "refused by the runtime"),
    "crashed": ("!", "the runtime died"),
}
"""The sign and the meaning of each state."""

RUNTIMES = ("onnxruntime", "onnx-reference")
"""What is compared if no runtime is named."""

FOLDER = "dialects"
"""Where in the build folder records are."""


class AnswerNotAllowed(Stored):
    """One answer that the dialect does not allow: bits, and the same as numbers in `shown`.

    `min` and `max` are as they are given, in the bits of `bound_type`; None where one is missing. `got` is
    None, and so are `x` and `due`, where a call gave no result: `words` says then what there was instead.
    """

    opset: int
    type: str
    form: str
    bound_type: str
    x: str | None
    min: str | None
    max: str | None
    got: str | None
    due: str | None
    shown: str
    words: str | None = None


class Place(Stored):
    """How many answers, or calls without any, an explanation accounts for in one form of one type."""

    opset: int
    type: str
    form: str
    count: int


class Group(Stored):
    """What one explanation accounts for.

    `obligations` are the ids of the theorems that tell the rule from the dialects, or that are contradicted.
    `fits_too` are other rules that would allow all of these answers just as well.
    """

    id: str
    kind: ExplanationKind
    words: str
    places: tuple[Place, ...]
    witness: AnswerNotAllowed
    obligations: tuple[str, ...]
    fits_too: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many answers, or calls without any."""
        return sum(place.count for place in self.places)


class ComparisonCell(Stored):
    """One form of one element type in one operator set.

    `compared` = `same` + `payload` + `allowed` + `differing`. `refused` counts the calls without a result;
    `words` are the runtime's, where there are such calls or where it died. `unexplained` counts what of
    `differing`, and of `refused` where other calls were answered, has no explanation.
    """

    opset: int
    dialect: str
    type: str
    form: str
    calls: int
    refused: int = 0
    compared: int = 0
    same: int = 0
    payload: int = 0
    allowed: int = 0
    differing: int = 0
    unexplained: int = 0
    crashed: bool = False
    words: str | None = None

    @property
    def explaining(self) -> int:
        """How much of it the groups must account for."""
        return self.differing + (self.refused if self.compared else 0)

    @property
    def state(self) -> State:
        """The worst that is to be said of it."""
        if self.crashed:
            return "crashed"
        if self.unexplained:
            return "unexplained"
        if not self.compared:
            return "refused"
        if self.explaining:
            return "differs"
        return "allowed" if self.allowed else "payload" if self.payload else "agrees"


class ComparisonRecord(Stored):
    """A run of one runtime. `complete` says that every operator set and element type was asked about.

    `kept` is when it was made, if it was taken over from an earlier run under the same conditions.
    """

    format: Literal[1] = 1
    tool: str
    spec_sha256: str
    oracle_sha256: str
    runtime: str
    runtime_version: str
    onnx: str
    python: str
    numpy: str
    machine: str
    complete: bool
    seconds: float
    cells: tuple[ComparisonCell, ...]
    groups: tuple[Group, ...]
    kept: str | None = None

    @property
    def compared(self) -> int:
        """How many answers were compared in all."""
        return sum(cell.compared for cell in self.cells)

    @property
    def failed(self) -> bool:
        """Whether something has no explanation, it died, or nothing was compared at all."""
        bad = any(cell.state in ("crashed", "unexplained") for cell in self.cells)
        return bad or self.compared == 0


def oracle_digest() -> str:
    """SHA-256 of what judges: the generated oracle, that of the dialects, and what asks and compares."""
    here = Path(__file__).resolve().parent
    there = (here.parent / "oracle" / "dialect.py", here.parent / "runtimes" / "model_process.py")
    files = (repo_file(ORACLE_FILE), *there, *sorted(here.glob("*comparison*.py")))
    return digest_of_parts(file.read_bytes() for file in files)
