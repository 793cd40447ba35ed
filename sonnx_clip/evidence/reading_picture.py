"""The matrix of readings and classes as a picture: where each cell stands, and whether it is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.explain.readings_matrix import MEANINGS, SIGNS, matrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.evidence.view import View
    from sonnx_clip.explain.readings_matrix import Agreement, ReadingCell, ReadingsRow
    from sonnx_clip.spec import Spec

Colour: TypeAlias = Literal["bits", "values", "differs", "open"]

TYPE = "float32"
LABEL, NUMBERS, DUE = 4, 172, 360  # where the columns before the readings begin
LEFT, TOP, STEP_X, STEP_Y = 412, 30, 88, 21
GLYPHS: dict[Agreement, str] = {"bits": "=", "values": "≈", "differs": "×"}


@dataclass(frozen=True)
class Tile:
    """A reading in a class; ``open`` where an obligation of the cell is not proved."""

    x: int
    y: int
    colour: Colour
    text: str
    said: str
    obligation: str | None


@dataclass(frozen=True)
class ClassLine:
    """A class: its numbers, and what is expected for them."""

    id: str
    y: int
    numbers: str
    due: str
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class ReadingPicture:
    """The picture; `columns` are the readings, each with the place of its column and its title."""

    width: int
    height: int
    columns: tuple[tuple[str, int, str], ...]
    lines: tuple[ClassLine, ...]
    legend: tuple[tuple[str, str, str], ...]


def reading_picture(spec: Spec, view: View) -> ReadingPicture:
    """Draw the matrix of an element type; the proofs are those of the evidence."""
    found = matrix(spec, spec.element_type(TYPE))
    columns = tuple((id_, LEFT + i * STEP_X, title) for i, (id_, title) in enumerate(found.titles.items()))
    lines = tuple(
        ClassLine(row.id, y, f"{row.x}, {row.min}, {row.max}", row.due, tuple(_tiles(view, row, y)))
        for row, y in ((row, TOP + i * STEP_Y) for i, row in enumerate(found.rows))
    )
    legend = tuple((agreement, GLYPHS[agreement], MEANINGS[agreement]) for agreement in SIGNS)
    size = LEFT + STEP_X * len(columns), TOP + STEP_Y * len(lines)
    return ReadingPicture(*size, columns, lines, legend)


def _tiles(view: View, row: ReadingsRow, y: int) -> Iterator[Tile]:
    for i, cell in enumerate(row.cells):
        proved = all(
            view.has_obligation(id_) and view.obligation(id_).status != "not proved"
            for id_ in cell.obligations
        )
        sign = GLYPHS[cell.agreement] if proved else "?"
        # The obligation on values shows a difference in value, that on bits everything else.
        id_ = cell.obligations[0 if cell.agreement == "differs" else 1]
        yield Tile(
            x=LEFT + i * STEP_X,
            y=y,
            colour=cell.agreement if proved else "open",
            text=f"{sign} {' or '.join(cell.answers)}",
            said=_said(cell, row, proved=proved),
            obligation=id_ if view.has_obligation(id_) else None,
        )


def _said(cell: ReadingCell, row: ReadingsRow, *, proved: bool) -> str:
    told = f"{cell.reading} in {row.id}: {MEANINGS[cell.agreement]}{'' if proved else ', not proved'}"
    if cell.other is None:
        return told
    o = cell.other
    return f"{told}; X = {o.x}, min = {o.min}, max = {o.max} gives {o.answer}, expected {o.due}"
