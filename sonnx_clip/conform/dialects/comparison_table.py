"""The outcome of a comparison as a table: operator sets and forms by element type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.conform.dialects.comparison_record import ComparisonCell, ComparisonRecord, Place, State


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
