"""What each dialect takes and returns: as data, and as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as RichTable

from sonnx_clip.language.types import Source
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from rich.console import Console

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect


GIVEN_AS = {"inputs": "inputs", "attributes": "attributes", "members": "members of the structure"}


class DialectTableRow(Stored):
    """A dialect.

    Args:
        id: its id in spec/clip.yaml.
        title: its name.
        element_types: of X.
        ranks: of X, in words.
        bounds: how they are given and in which type, in words.
        missing: what stands for a missing bound, in words.
        conversion: what becomes of a bound of another type, in words; empty if there is none.
        reading: what its words allow.
        answers: the reading by which the oracle decides.
        scale_bias: whether X may be scaled and shifted first.
        in_place: whether the result may take the place of X.
        after: the version before.
        changes: types for which missing bounds give another result than before, each with an X.
        says: the words on each aspect.
        unsaid: the aspects on which the page is silent, and what the oracle does then.
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
    return DialectTableRow(
        id=d.id,
        title=d.title,
        element_types=d.element_types,
        ranks=str(d.ranks),
        bounds=f"{GIVEN_AS[d.bounds]}, {kind}",
        missing=missing,
        conversion="; ".join(f"to {family} {words}" for family, words in how if family in families),
        reading=d.reading,
        answers=d.answers,
        scale_bias=d.scale_bias,
        in_place=d.in_place,
        after=d.after,
        changes=dict(d.changes),
        says=dict(d.says),
        unsaid=dict(d.unsaid),
    )


def types_told(types: tuple[str, ...], spec: Spec) -> str:
    """Element types in short: all of a family by its name."""
    told = []
    for family in spec.families:
        of_family = [etype.id for etype in spec.types_of(family.id)]
        there = [id_ for id_ in of_family if id_ in types]
        whole = len(there) == len(of_family) > 1
        told += [f"all of {family.id}"] if whole else there
    return ", ".join(told)


COLUMNS = (
    "dialect", "element types", "ranks", "bounds", "a missing bound is", "bounds are converted", "reading",
    "ScaleBias", "in place",
)  # fmt: skip


def cells(row: DialectTableRow, spec: Spec) -> tuple[str, ...]:
    """A row of the table, in words."""
    reading = row.reading if row.reading == row.answers else f"{row.reading}, decided by {row.answers}"
    return (
        row.id, types_told(row.element_types, spec), row.ranks, row.bounds, row.missing,
        row.conversion or "no", reading, "yes" if row.scale_bias else "no", "yes" if row.in_place else "no",
    )  # fmt: skip


def print_table(found: DialectTable, spec: Spec, console: Console) -> None:
    """Print each dialect in a few lines, so that they fit any terminal."""
    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_lines=True)
    shown.add_column("dialect", no_wrap=True)
    shown.add_column("what it takes, and what it makes of bounds")
    for row in found.rows:
        told = dict(zip(COLUMNS, cells(row, spec), strict=True))
        lines = [
            f"{row.title}: {told['element types']}; rank {row.ranks}",
            f"bounds: {row.bounds}; a missing one is {row.missing}",
            f"bounds are converted: {told['bounds are converted']}",
            f"reading: {told['reading']}; ScaleBias: {told['ScaleBias']}; in place: {told['in place']}",
        ]
        shown.add_row(row.id, "\n".join(line for line in lines if not line.endswith("converted: no")))
    console.print(shown, highlight=False)
    console.print("The words of each page: sonnx-clip dialects --json", highlight=False)
