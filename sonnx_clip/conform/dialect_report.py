"""What a runtime does with every Clip that ONNX has had: the record, and its text for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import Verdict
from sonnx_clip.conform.form_words import grouped
from sonnx_clip.conform.report_text import short_type
from sonnx_clip.oracle import ORACLE_FILE
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

FOLDER = "dialects"
"""Where in the build folder the records are."""
RUNTIMES = ("onnxruntime", "onnx-reference")
"""What is compared if no runtime is named."""
SIGNS: dict[Verdict, str] = {
    "conforms": "·", "acceptable": "~", "violates": "X", "refused": "-", "crashed": "!",
}  # fmt: skip
MEANINGS: dict[Verdict, str] = {
    "conforms": "the bits of the oracle", "acceptable": "allowed by the text of the version",
    "violates": "not allowed", "refused": "refused by the runtime", "crashed": "the runtime died",
}  # fmt: skip
_STYLES: dict[Verdict, str] = {
    "conforms": "green", "acceptable": "yellow", "violates": "red", "refused": "dim", "crashed": "bold red",
}  # fmt: skip
NOT_DIRECTML = (
    "DirectML was not run: it needs Windows and a Direct3D 12 device. Its dialects are judged against their"
    " text alone."
)


class DialectDeviation(Stored):
    """The first answer that a version does not allow, or the first call without a result.

    `min` and `max` are as given, in the bits of `bound_type`; None where one is missing. `got` is None where
    a call gave no result: `words` is then what the runtime said.
    """

    bound_type: str
    min: str | None
    max: str | None
    x: str | None = None
    expected: str | None = None
    got: str | None = None
    shown: str
    words: str | None = None


class DialectCell(Stored):
    """One form of one element type in one operator set; results are counted by entry, `refused` by call.

    `cause` says what accounts for all deviations: a reading that allows every answer, or what the runtime
    takes for a missing bound. `obligations` prove that this differs from the version.
    """

    opset: int
    dialect: str
    type: str
    form: str
    verdict: Verdict
    calls: int
    compared: int = 0
    acceptable: int = 0
    violating: int = 0
    refused: int = 0
    words: str | None = None
    cause: str | None = None
    obligations: tuple[str, ...] = ()
    deviation: DialectDeviation | None = None


class DialectReport(Stored):
    """A run of one runtime. `complete`: every version and element type was compared.

    `kept` is when it was made, if it was taken from an earlier run under the same conditions.
    """

    format: Literal[2] = 2
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
    cells: tuple[DialectCell, ...]
    kept: str | None = None

    @property
    def compared(self) -> int:
        """How many results were compared in all."""
        return sum(cell.compared for cell in self.cells)

    @property
    def failed(self) -> bool:
        """Whether something violates a version, the runtime died, or nothing was compared."""
        return self.compared == 0 or any(c.verdict in ("violates", "crashed") for c in self.cells)


def dialect_oracle_digest() -> str:
    """SHA-256 of what judges: the generated oracle, that of the dialects, and what calls and compares."""
    here = Path(__file__).resolve().parent
    there = (here.parent / "oracle" / "dialect.py", here.parent / "runtimes" / "model_process.py")
    files = (repo_file(ORACLE_FILE), *there, here / "compare.py", here / "dialects.py")
    return digest_of_parts(file.read_bytes() for file in files)


@dataclass(frozen=True)
class DialectRow:
    """Operator sets in which a form has the same verdicts by element type; None: the type is not taken."""

    opsets: str
    dialect: str
    form: str
    verdicts: tuple[Verdict | None, ...]


def rows_of(report: DialectReport) -> tuple[tuple[str, ...], tuple[DialectRow, ...]]:
    """The element types, and the rows of the table."""
    met = {cell.type for cell in report.cells}
    types = tuple(etype.id for etype in load_spec().element_types if etype.id in met)
    sets: dict[tuple[str, str, tuple[Verdict | None, ...]], list[int]] = {}
    forms = grouped(((cell.opset, cell.dialect, cell.form), cell) for cell in report.cells)
    for (opset, dialect, form), cells in sorted(forms.items(), key=lambda found: found[0][0]):
        by_type = {cell.type: cell.verdict for cell in cells}
        key = (dialect, form, tuple(by_type.get(type_id) for type_id in types))
        sets.setdefault(key, []).append(opset)
    return types, tuple(DialectRow(_listed(opsets), *key) for key, opsets in sets.items())


def _listed(opsets: Iterable[int]) -> str:
    """Operator sets in words: ``6, 10``."""
    return ", ".join(map(str, sorted(set(opsets))))


def print_dialects(report: DialectReport, console: Console) -> None:
    """Print a report: the table, its legend, each cause of deviations, and one closing line."""
    types, rows = rows_of(report)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("opset", "means", "bounds"):
        table.add_column(name, no_wrap=True)
    for type_id in types:
        table.add_column(short_type(type_id), justify="center", no_wrap=True)
    for row in rows:
        cells = [Text(SIGNS[v], style=_STYLES[v]) if v else Text("") for v in row.verdicts]
        table.add_row(row.opsets, f"Clip-{row.dialect.removeprefix('onnx-')}", row.form, *cells)
    console.print(f"[bold]{report.runtime_version}[/]: operator sets and bounds given, by element type")
    console.print(table)
    found = {cell.verdict for cell in report.cells}
    legend = "  ".join(f"{SIGNS[v]} {MEANINGS[v]}" for v in SIGNS if v in found)
    console.print(legend, style="dim", soft_wrap=True, highlight=False)
    for line in (*refusals(report), *deviations(report), summary(report)):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def refusals(report: DialectReport) -> Iterator[str]:
    """The words with which a runtime refuses a whole form or dies, once, with the places."""
    words = (((c.verdict, " ".join((c.words or "").split())), c) for c in report.cells)
    for (verdict, text), cells in grouped(words).items():
        if verdict in ("refused", "crashed"):
            yield f"{verdict} {where(cells)}: {text}"


def deviations(report: DialectReport) -> Iterator[str]:
    """One block for each cause: where, the first deviation, and what proves that the cause differs."""
    for cause, cells in by_cause(report).items():
        first = cells[0]
        results, refused = sum(cell.violating for cell in cells), sum(cell.refused for cell in cells)
        count = f"{results:,} results, {refused:,} refused calls in {where(cells)}"
        yield f"violates: {cause or 'no reading allows the answers'} ({count})"
        shown = first.deviation
        if shown is not None:
            yield f"    opset {first.opset}, {first.type}, {first.form}: {shown.shown}"
            if shown.words:
                yield f"    {' '.join(shown.words.split())}"
        proved = dict.fromkeys(id_ for cell in cells for id_ in cell.obligations)
        if proved:
            more = f" and {len(proved) - 3} more" if len(proved) > 3 else ""
            yield f"    the difference is proved by {', '.join([*proved][:3])}{more}"


def by_cause(report: DialectReport) -> dict[str | None, list[DialectCell]]:
    """The cells that violate, by cause: first those without one, then those with most results."""
    found = grouped((cell.cause, cell) for cell in report.cells if cell.verdict == "violates")
    number = {cause: -sum(cell.violating for cell in cells) for cause, cells in found.items()}
    return {cause: found[cause] for cause in sorted(found, key=lambda c: (c is not None, number[c]))}


def where(cells: Sequence[DialectCell]) -> str:
    """Places in words: ``opset 6, 10 float16, float32; opset 11 float16``."""
    types = grouped((cell.opset, cell.type) for cell in cells)
    sets = grouped((tuple(dict.fromkeys(names)), opset) for opset, names in types.items())
    return "; ".join(f"opset {_listed(opsets)} {', '.join(names)}" for names, opsets in sets.items())


def summary(report: DialectReport) -> str:
    """The last line: what was compared, and how it came out."""
    verdicts = Counter(cell.verdict for cell in report.cells)
    counts = ", ".join(f"{verdicts[v]:,} {v}" for v in SIGNS if verdicts[v])
    nothing = "; nothing was compared" if report.compared == 0 else ""
    kept = f"; kept from {report.kept} (--again repeats it)" if report.kept else ""
    return (
        f"{report.runtime_version}, opsets {_listed(cell.opset for cell in report.cells)}: {counts} of"
        f" {len(report.cells):,} forms; {report.compared:,} results compared in {report.seconds:g} s"
        f"{nothing}{kept}"
    )
