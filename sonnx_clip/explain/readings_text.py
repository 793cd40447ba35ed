"""The matrix of readings and classes, as `sonnx-clip readings` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sonnx_clip.explain.readings_matrix import MEANINGS, SIGNS
from sonnx_clip.root.terminal import hanging

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.readings_matrix import Matrix, ReadingCell, ReadingsRow

_ANY_WIDTH = 1000
_FIXED = ("class", "X, min, max", "expected")
_STYLES = {"bits": "green", "values": "yellow", "differs": "bold red"}


def print_matrix(found: Matrix, console: Console) -> None:
    """Print a matrix: one table with the answers where it fits, else the signs, and the answers below."""
    console.print(f"[bold]{found.type}[/]: whether each reading agrees with the cases, class by class")
    answers = _answers_table(found)
    if Console(width=_ANY_WIDTH).measure(answers).maximum <= console.width:
        console.print(answers)
        others = list(_elsewhere(found))
    else:
        for table in _sign_tables(found, console.width):
            console.print(table)
        others = [*_answer_lines(found), "", "elsewhere in the class", *_elsewhere(found)]
    for agreement, sign in SIGNS.items():
        console.print(f"[{_STYLES[agreement]}]{sign}[/] {MEANINGS[agreement]}", highlight=False)
    for line in (*others, *_interpretation_lines(found)):
        console.print(hanging(line, console.width, indent=2), markup=False, highlight=False, soft_wrap=True)


def _interpretation_lines(found: Matrix) -> Iterator[str]:
    """What readings make of the silence of their words on NaN."""
    if found.interpretations:
        yield "NaN, which the words of these readings do not mention"
        yield from (f"  {reading}: {what}" for reading, what in found.interpretations.items())


def _answers_table(found: Matrix) -> Table:
    """Every reading with its answer for the numbers of the row."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in (*_FIXED, *found.titles):
        table.add_column(name, no_wrap=True)
    for row in found.rows:
        cells = [Text(_short(cell), style=_STYLES[cell.agreement]) for cell in row.cells]
        table.add_row(row.id, _at(row), row.due, *cells)
    return table


def _sign_tables(found: Matrix, width: int) -> Iterator[Table]:
    """The signs alone; ``cases`` is left out, which agrees with itself, and long names take two lines."""
    heads = [id_.replace("-", "\n-", 1) for id_ in found.titles]
    first = max(len(row.id) for row in found.rows)
    chosen: list[int] = []
    taken = first
    for index, head in enumerate(heads):
        wide = 1 + max(map(len, head.splitlines()))
        if chosen and taken + wide > width:
            yield _signs(found, chosen, heads)
            chosen, taken = [], first
        if list(found.titles)[index] != "cases":
            chosen.append(index)
            taken += wide
    yield _signs(found, chosen, heads)


def _signs(found: Matrix, chosen: Sequence[int], heads: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("class", no_wrap=True)
    for index in chosen:
        table.add_column(heads[index], no_wrap=True)
    for row in found.rows:
        cells = [row.cells[index].agreement for index in chosen]
        table.add_row(row.id, *(Text(SIGNS[sign], style=_STYLES[sign]) for sign in cells))
    return table


def _answer_lines(found: Matrix) -> Iterator[str]:
    """What the readings answer that do not agree bit for bit, for the numbers of each class."""
    yield ""
    yield "for X, min, max in the class: answers of the readings that do not agree bit for bit"
    for row in found.rows:
        by_answer: dict[str, list[str]] = {}
        for cell in row.cells:
            if cell.agreement != "bits":
                by_answer.setdefault(" or ".join(cell.answers), []).append(cell.reading)
        if by_answer:
            told = "; ".join(f"{answer} from {', '.join(readings)}" for answer, readings in by_answer.items())
            yield f"  {row.id}: {_at(row)}: expected {row.due}; {told}"


def _short(cell: ReadingCell) -> str:
    return f"{SIGNS[cell.agreement]} {' or '.join(cell.answers)}"


def _at(row: ReadingsRow) -> str:
    return f"{row.x}, {row.min}, {row.max}"


def _elsewhere(found: Matrix) -> Iterator[str]:
    """The differences that the numbers of a row do not show."""
    for row in found.rows:
        for cell in row.cells:
            other = cell.other
            if other is not None and (other.x, other.min, other.max) != (row.x, row.min, row.max):
                yield (
                    f"  {cell.reading} in {row.id}: X = {other.x}, min = {other.min}, max = {other.max}"
                    f" gives {other.answer}, expected {other.due}"
                )
