"""What each dialect takes and returns: as data, and as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.types import Source
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from rich.console import Console

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect

GIVEN_AS = {"inputs": "inputs", "attributes": "attributes", "members": "members of the structure"}
COLUMNS = (
    "dialect", "element types", "ranks", "bounds", "a missing bound is", "bounds are converted", "reading",
    "ScaleBias", "in place",
)  # fmt: skip


class DialectTableRow(Stored):
    """A dialect of spec/clip.yaml; `ranks`, `bounds`, `missing` and `conversion` (perhaps empty) in words.

    `reading` is what its page allows, `answers` the reading by which the oracle decides. `changes` are types
    for which missing bounds give another result than in the version before (`after`), each with an X. `says`
    are the words on each aspect, `unsaid` the aspects on which the page is silent, with what the oracle does.
    """

    id: str
    title: str
    element_types: tuple[str, ...]
    ranks: str
    bounds: str
    missing: str
    conversion: str
    reading: str
    answers: str
    scale_bias: bool
    in_place: bool
    after: str | None
    changes: dict[str, str]
    says: dict[str, Source]
    unsaid: dict[str, str]


class DialectTable(Stored):
    """All dialects, in the order of the file."""

    rows: tuple[DialectTableRow, ...]


def dialect_table(spec: Spec) -> DialectTable:
    """The dialects of a specification."""
    return DialectTable(rows=tuple(_row(spec, d) for d in spec.dialects))


def _row(spec: Spec, d: Dialect) -> DialectTableRow:
    of_tensor = d.bound_type == "tensor"
    kind = "of X's type" if of_tensor else "FLOAT"
    missing = "refused"
    if d.missing is not None:
        of = "X's type" if d.missing.of == "element" or of_tensor else "FLOAT"
        missing = f"{d.missing.min} and {d.missing.max} of {of}"
    families = {spec.element_type(id_).family for id_ in d.element_types if d.converts_to(id_)}
    how = (("float", "to nearest, ties to even"), ("int", "toward zero"))
    same = ("id", "title", "element_types", "reading", "answers", "scale_bias", "in_place", "after")
    return DialectTableRow(
        **{name: getattr(d, name) for name in same},
        ranks=str(d.ranks),
        bounds=f"{GIVEN_AS[d.bounds]}, {kind}",
        missing=missing,
        conversion="; ".join(f"to {family} {words}" for family, words in how if family in families),
        changes=dict(d.changes),
        says=dict(d.says),
        unsaid=dict(d.unsaid),
    )


def _types_in_words(types: tuple[str, ...], spec: Spec) -> str:
    """Element types in short: a whole family by its name."""
    shown = []
    for family in spec.families:
        of_family = [etype.id for etype in spec.types_of(family.id)]
        there = [id_ for id_ in of_family if id_ in types]
        shown += [f"all of {family.id}"] if len(there) == len(of_family) > 1 else there
    return ", ".join(shown)


def cells(row: DialectTableRow, spec: Spec) -> tuple[str, ...]:
    """A row of the table, in words: `COLUMNS`."""
    reading = row.reading if row.reading == row.answers else f"{row.reading}, decided by {row.answers}"
    return (
        row.id, _types_in_words(row.element_types, spec), row.ranks, row.bounds, row.missing,
        row.conversion or "no", reading, "yes" if row.scale_bias else "no", "yes" if row.in_place else "no",
    )  # fmt: skip


def print_table(found: DialectTable, spec: Spec, console: Console) -> None:
    """Print each dialect in a few lines, which fit any terminal."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_lines=True)
    table.add_column("dialect", no_wrap=True)
    table.add_column("what it takes, and what it makes of bounds")
    for row in found.rows:
        _, types, ranks, bounds, missing, converted, reading, scale_bias, in_place = cells(row, spec)
        lines = (
            f"{row.title}: {types}; rank {ranks}",
            f"bounds: {bounds}; a missing one is {missing}",
            *([f"bounds are converted: {converted}"] if row.conversion else []),
            f"reading: {reading}; ScaleBias: {scale_bias}; in place: {in_place}",
        )
        table.add_row(row.id, "\n".join(lines))
    console.print(table, highlight=False)
    console.print("The words of each page: sonnx-clip dialects --json", highlight=False)
