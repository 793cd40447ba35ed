"""A comparison for people: the outcome as a table, then the disagreements, then one line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as Printed
from rich.text import Text

from sonnx_clip.conform.comparison_record import STATES
from sonnx_clip.conform.report_text import short_type
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from sonnx_clip.conform.comparison_record import ComparisonCell, ComparisonRecord, Group, Place, State


@dataclass(frozen=True)
class ComparisonRow:
    """Operator sets in which a form has the same outcome in every element type.

    Args:
        opsets: the operator sets, as ``6-10``.
        dialect: the dialect that they mean.
        form: how bounds are given.
        states: the outcome by element type; None where the dialect does not take the type.
    """

    opsets: str
    dialect: str
    form: str
    states: tuple[State | None, ...]


@dataclass(frozen=True)
class ComparisonTable:
    """The rows, and the element types of their states."""

    types: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]


def table_of(record: ComparisonRecord, order: Iterable[str]) -> ComparisonTable:
    """The table of a record.

    Args:
        record: what was found.
        order: the ids of element types, in which the columns stand.
    """
    met = {cell.type for cell in record.cells}
    types = tuple(id_ for id_ in order if id_ in met)
    cells = {(cell.opset, cell.form, cell.type): cell for cell in record.cells}
    by_opset = {opset: _outcome(record, cells, opset, types) for opset in _opsets(record)}
    rows: list[ComparisonRow] = []
    for opsets in _runs(by_opset):
        dialect, outcome = by_opset[opsets[0]]
        for form, states in outcome.items():
            rows.append(ComparisonRow(ranges(opsets), dialect, form, states))
    return ComparisonTable(types, tuple(rows))


def _opsets(record: ComparisonRecord) -> list[int]:
    return sorted({cell.opset for cell in record.cells})


def _outcome(
    record: ComparisonRecord,
    cells: dict[tuple[int, str, str], ComparisonCell],
    opset: int,
    types: Sequence[str],
) -> tuple[str, dict[str, tuple[State | None, ...]]]:
    here = [cell for cell in record.cells if cell.opset == opset]
    found = {}
    for form in dict.fromkeys(cell.form for cell in here):
        row = [cells.get((opset, form, type_id)) for type_id in types]
        found[form] = tuple(cell.state if cell is not None else None for cell in row)
    return here[0].dialect, found


def _runs(by_opset: dict[int, tuple[str, dict[str, tuple[State | None, ...]]]]) -> list[list[int]]:
    """Operator sets that follow one another and have one outcome."""
    found: list[list[int]] = []
    for opset, outcome in by_opset.items():
        if found and found[-1][-1] == opset - 1 and by_opset[opset - 1] == outcome:
            found[-1].append(opset)
        else:
            found.append([opset])
    return found


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in words: ``1-5, 7``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def where(places: Iterable[Place]) -> str:
    """Places in words: ``6-10 float16, float32; 11 float16``."""
    by_opset: dict[int, tuple[str, ...]] = {}
    for place in places:
        types = by_opset.get(place.opset, ())
        by_opset[place.opset] = types if place.type in types else (*types, place.type)
    by_types: dict[tuple[str, ...], list[int]] = {}
    for opset, types in by_opset.items():
        by_types.setdefault(tuple(sorted(types)), []).append(opset)
    return "; ".join(f"{ranges(opsets)} {', '.join(types)}" for types, opsets in by_types.items())


# --- A comparison for people: the table, then the disagreements, then one line ------------------------------


NOT_DIRECTML = (
    "DirectML was not run: it needs Windows and a Direct3D 12 device. Its dialects are judged against their"
    " text alone."
)
_STYLES: dict[State, str] = {
    "agrees": "green", "payload": "green", "allowed": "yellow", "differs": "yellow",
    "unexplained": "bold red", "refused": "dim", "crashed": "bold red",
}  # fmt: skip
_NAMED = 4  # obligations that a line names


def print_record(record: ComparisonRecord, console: Console) -> None:
    """Print a record."""
    console.print(f"[bold]{record.runtime_version}[/]: operator sets and bounds given, by element type")
    console.print(_table(record))
    legend = "  ".join(f"{sign} {meaning}" for sign, meaning in STATES.values())
    console.print(legend, style="dim", soft_wrap=True, highlight=False)
    for line in (*refusals(record), *crashes(record)):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    for group in record.groups:
        for line in group_lines(group):
            console.print(line, soft_wrap=True, highlight=False, markup=False)
    console.print(summary(record), soft_wrap=True, highlight=False, markup=False)


def _table(record: ComparisonRecord) -> Printed:
    found = table_of(record, [etype.id for etype in load_spec().element_types])
    printed = Printed(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("opset", "means", "bounds"):
        printed.add_column(name, no_wrap=True)
    for type_id in found.types:
        printed.add_column(short_type(type_id), justify="center", no_wrap=True)
    for row in found.rows:
        cells = [Text(STATES[s][0], style=_STYLES[s]) if s else Text("") for s in row.states]
        printed.add_row(row.opsets, f"Clip-{row.dialect.removeprefix('onnx-')}", row.form, *cells)
    return printed


def refusals(record: ComparisonRecord) -> Iterator[str]:
    """Each thing that a runtime says when it refuses a whole form, once, with where it says it."""
    places: dict[str, dict[str, set[int]]] = {}
    for cell in record.cells:
        if cell.state == "refused":
            places.setdefault(_line(cell.words), {}).setdefault(cell.type, set()).add(cell.opset)
    for words, types in places.items():
        told = "; ".join(f"{type_id} {ranges(opsets)}" for type_id, opsets in types.items())
        yield f"refused {told}: {words}"


def crashes(record: ComparisonRecord) -> Iterator[str]:
    """Where the runtime died, and how."""
    for cell in record.cells:
        if cell.crashed:
            yield f"crashed opset {cell.opset} {cell.type}, {cell.form}: {cell.words}"


def group_lines(group: Group) -> Iterator[str]:
    """A group as lines of text."""
    label = group.id if group.kind == "unexplained" else f"explained by {group.id}"
    what = "calls" if group.witness.x is None else "answers"
    yield f"{label}: {group.count:,} {what} in {where(group.places)}"
    yield f"    {group.words}"
    shown = group.witness
    bits = [f"{name} {text}" for name, text in _bits(group) if text is not None]
    yield f"    opset {shown.opset}, {shown.type}, {shown.form}: {shown.shown} ({', '.join(bits)})"
    if shown.words:
        yield f"    {_line(shown.words)}"
    if group.fits_too:
        yield f"    so would: {', '.join(group.fits_too)}"
    more = f" and {len(group.obligations) - _NAMED} more" if len(group.obligations) > _NAMED else ""
    yield f"    {_VERBS[group.kind]} {', '.join(group.obligations[:_NAMED]) or 'none'}{more}"


_VERBS = {
    "reading": "the difference is proved by", "missing bound": "the difference is proved by",
    "other type": "the difference is proved by", "other order": "contradicts", "refusal": "see",
    "unexplained": "contradicts",
}  # fmt: skip


def _bits(group: Group) -> Iterator[tuple[str, str | None]]:
    shown = group.witness
    yield from (
        ("X", shown.x),
        ("min", shown.min),
        ("max", shown.max),
        ("got", shown.got),
        ("due", shown.due),
    )


def _line(words: str | None) -> str:
    return " ".join((words or "").split())


def summary(record: ComparisonRecord) -> str:
    """The last line: what was compared, and how it came out."""
    states = Counter(cell.state for cell in record.cells)
    counts = ", ".join(f"{states[state]:,} {state}" for state in STATES if states[state])
    opsets = ranges(cell.opset for cell in record.cells)
    explained = sum(group.count for group in record.groups if group.kind != "unexplained")
    unexplained = sum(group.count for group in record.groups if group.kind == "unexplained")
    nothing = "; nothing was compared" if record.compared == 0 else ""
    kept = f"; kept from {record.kept} (--again repeats it)" if record.kept else ""
    return (
        f"{record.runtime_version}, opsets {opsets}: {counts} of {len(record.cells):,} forms;"
        f" {record.compared:,} answers compared, {explained:,} disagreements explained,"
        f" {unexplained:,} unexplained, in {record.seconds:g} s{nothing}{kept}"
    )
