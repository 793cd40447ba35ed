"""The matrix of readings for a terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from sonnx_clip.readings.matrix import MEANINGS, SIGNS, matrix
from sonnx_clip.render.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from sonnx_clip.readings.matrix import Cell, Matrix, Row
    from sonnx_clip.spec import Spec

PATH = "generated/docs/readings.md"
SHOWN = ("float32", "int32", "real")  # one of each family: the others of a family differ in nothing
_STYLES = {"bits": "green", "values": "yellow", "differs": "bold red"}


def print_matrix(found: Matrix, console: Console) -> None:
    """Print a matrix; a class whose numbers do not tell a reading apart has others below."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("class", no_wrap=True)
    table.add_column("X, min, max", no_wrap=True)
    table.add_column("due", no_wrap=True)
    for id_ in found.titles:
        table.add_column(id_, overflow="fold")
    for row in found.rows:
        cells = [Text(_short(cell), style=_STYLES[cell.agreement]) for cell in row.cells]
        table.add_row(row.id, _at(row), row.due, *cells)
    console.print(f"[bold]{found.type}[/]: what each reading answers, and whether it agrees with the cases")
    console.print(table)
    for agreement, sign in SIGNS.items():
        console.print(f"[{_STYLES[agreement]}]{sign}[/] {MEANINGS[agreement]}", highlight=False)
    for line in _elsewhere(found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _short(cell: Cell) -> str:
    return f"{SIGNS[cell.agreement]} {' or '.join(cell.answers)}"


def _at(row: Row) -> str:
    return f"{row.x}, {row.min}, {row.max}"


def _elsewhere(found: Matrix) -> Iterator[str]:
    """The differences that the numbers of a row do not show."""
    for row in found.rows:
        for cell in row.cells:
            other = cell.other
            if other is not None and (other.x, other.min, other.max) != (row.x, row.min, row.max):
                yield (
                    f"  {cell.reading} in {row.id}: X = {other.x}, min = {other.min}, max = {other.max}"
                    f" gives {other.answer}, {other.due} is due"
                )


def render_markdown(spec: Spec) -> dict[str, str]:
    """The text of each file of the target, by its path in the repository."""
    parts = [f"<!--\n{chr(10).join(header_lines(spec))}\n-->\n\n# Readings of {spec.operator}, class by class\n"]
    parts.append(
        "What the prose, the formula or a library can be taken to say instead of the cases. A row is a class"
        " with numbers that lie in it and what is due for them; a cell says what the reading answers there,"
        " and in front of it whether the reading agrees with the cases in the whole class:\n"
    )
    parts.append("".join(f"- `{SIGNS[a]}` {meaning}\n" for a, meaning in MEANINGS.items()))
    parts.append(
        "Each sign is a theorem in `generated/why3/readings_<type>.mlw`, or numbers that show the difference;"
        " `sonnx-clip prove` says whether it is proved. The other element types of a family differ in nothing.\n"
    )
    parts.append("".join(_reading_lines(spec)))
    for type_id in SHOWN:
        parts.append(markdown(matrix(spec, spec.element_type(type_id))))
    return {PATH: "\n".join(parts)}


def _reading_lines(spec: Spec) -> Iterator[str]:
    for reading in spec.readings:
        where = f" ({reading.reference})" if reading.reference else ""
        yield f"- **{reading.id}**: {reading.title}{where}\n"


def markdown(found: Matrix) -> str:
    """A matrix as a Markdown section."""
    head = ["class", "X, min, max", "due", *found.titles]
    rows = [[row.id, _at(row), row.due, *(_short(cell) for cell in row.cells)] for row in found.rows]
    lines = [head, ["---"] * len(head), *rows]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    elsewhere = "".join(f"- {line.strip()}\n" for line in _elsewhere(found))
    more = f"\nElsewhere in the class:\n\n{elsewhere}" if elsewhere else ""
    return f"## {found.type}\n\n{table}{more}"
