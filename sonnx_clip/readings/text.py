"""The matrix of readings for a terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from sonnx_clip.readings.matrix import MEANINGS, SIGNS, matrix
from sonnx_clip.render.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from sonnx_clip.readings.matrix import Cell, Matrix, Row
    from sonnx_clip.spec import Spec

PATH = "docs/readings.md"
SHOWN = ("float32", "int32", "real")  # one of each family: the others of a family differ in nothing
_FIXED = ("class", "X, min, max", "due")
_STYLES = {"bits": "green", "values": "yellow", "differs": "bold red"}


def print_matrix(found: Matrix, console: Console) -> None:
    """Print a matrix, in several tables where the terminal is narrow, and what these hide."""
    console.print(f"[bold]{found.type}[/]: what each reading answers, and whether it agrees with the cases")
    for chosen in _that_fit(found, console.width):
        console.print(_table(found, chosen))
    for agreement, sign in SIGNS.items():
        console.print(f"[{_STYLES[agreement]}]{sign}[/] {MEANINGS[agreement]}", highlight=False)
    for line in _elsewhere(found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _table(found: Matrix, chosen: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    ids = list(found.titles)
    for name in (*_FIXED, *(ids[index] for index in chosen)):
        table.add_column(name, no_wrap=True)
    for row in found.rows:
        cells = [row.cells[index] for index in chosen]
        told = [Text(_short(cell), style=_STYLES[cell.agreement]) for cell in cells]
        table.add_row(row.id, _at(row), row.due, *told)
    return table


def _that_fit(found: Matrix, width: int) -> Iterator[list[int]]:
    """The readings, by number, that stand in one table beside one another."""
    fixed = [[_FIXED[0], *(r.id for r in found.rows)], [_FIXED[1], *(_at(r) for r in found.rows)]]
    fixed.append([_FIXED[2], *(r.due for r in found.rows)])
    taken = start = sum(max(map(len, column)) + 1 for column in fixed)
    chosen: list[int] = []
    for index, id_ in enumerate(found.titles):
        wide = max(len(id_), *(len(_short(row.cells[index])) for row in found.rows)) + 1
        if chosen and taken + wide > width:
            yield chosen
            chosen, taken = [], start
        chosen.append(index)
        taken += wide
    yield chosen


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
    parts = [
        f"<!--\n{chr(10).join(header_lines(spec))}\n-->\n\n# Readings of {spec.operator}, class by class\n"
    ]
    parts.append(
        "What the prose, the formula or a library can be taken to say instead of the cases. A row is a class"
        " with numbers that lie in it and what is due for them; a cell says what the reading answers there,"
        " and in front of it whether the reading agrees with the cases in the whole class:\n"
    )
    parts.append("".join(f"- `{SIGNS[a]}` {meaning}\n" for a, meaning in MEANINGS.items()))
    parts.append(
        "Each sign is a theorem in `generated/why3/readings_<type>.mlw`, or numbers that show the difference;"
        " `sonnx-clip prove` says whether it is proved. The other types of a family differ in nothing.\n"
    )
    parts.append("".join(_reading_lines(spec)))
    parts += [markdown(matrix(spec, spec.element_type(type_id))) for type_id in SHOWN]
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
