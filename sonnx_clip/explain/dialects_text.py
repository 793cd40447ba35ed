"""What each dialect takes and does, as data; for a terminal; and as Markdown with all that each page says and
leaves unsaid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as RichTable

from sonnx_clip.explain.findings_text import without_tags
from sonnx_clip.language.types import Source
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from sonnx_clip.claims.claim import Obligation
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
    return DialectTable(rows=tuple(_row(spec, d) for d in spec.whole_dialects))


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


# ------------------------------------------------------------------------------------------------------------
# The table of dialects for a terminal, and as Markdown with all that each page says and leaves unsaid


PATH = "docs/dialects.md"
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
    console.print(f"What each page says, and leaves unsaid: {PATH}", highlight=False)


def render_dialects(spec: Spec, obligations: Iterable[Obligation]) -> dict[str, str]:
    """The text of each file of the target, by its path in the repository."""
    return {PATH: markdown(spec, obligations)}


def markdown(spec: Spec, obligations: Iterable[Obligation]) -> str:
    """The dialects as a Markdown document.

    Args:
        spec: the specification.
        obligations: all there are; each dialect lists those that show something of it.
    """
    of = [o for o in obligations if o.kind != "smoke"]
    parts = [f"<!--\n{chr(10).join(header_lines(spec))}\n-->\n\n# Dialects of {spec.operator}\n"]
    parts.append(
        "A dialect is a versioned definition of Clip. Each has an oracle, `sonnx_clip.oracle.dialect`, on the"
        " command line `sonnx-clip dialect`; it refuses what the dialect refuses, and what its source leaves"
        " undefined. The theorems are in `generated/why3/dialects_<type>.mlw`; `sonnx-clip prove` says"
        " whether they are proved.\n"
    )
    parts.append(
        "DirectML cannot be run here: its oracle is compared with the text of its page, by examples"
        " and theorems only. ONNX's versions are run: `sonnx-clip compare-dialects` compares runtimes with"
        " them.\n"
    )
    found = dialect_table(spec)
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(cells(row, spec) for row in found.rows)]
    parts.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
    parts += [_section(row, of, spec) for row in found.rows]
    return "\n".join(parts)


def _section(row: DialectTableRow, obligations: list[Obligation], spec: Spec) -> str:
    return "".join(
        (
            f"## {row.id}: {without_tags(row.title)}\n\n",
            *_words(row),
            *_theorems(row, obligations, [etype.id for etype in spec.element_types]),
        )
    )


def _words(row: DialectTableRow) -> Iterator[str]:
    for aspect, source in row.says.items():
        words = without_tags(f"“{source.quote}” ({source.section})")
        yield f"- **{aspect.replace('_', ' ')}**: {words}\n"
    for aspect, what in row.unsaid.items():
        yield f"- **{aspect.replace('_', ' ')}**, not said: {without_tags(what)}\n"
    if row.changes:
        listed = ", ".join(f"X = {x} in {type_id}" for type_id, x in row.changes.items())
        yield f"- without bounds, another result than {row.after}: {listed}\n"


def _theorems(row: DialectTableRow, obligations: list[Obligation], types: list[str]) -> Iterator[str]:
    """One line for each goal, with the types in which it is stated."""
    where: dict[tuple[str, str], list[str]] = {}
    for o in obligations:
        if row.id in o.shows:
            where.setdefault((o.goal, o.title), []).append(o.subject)
    if where:
        yield "\n| theorem | element types |\n| --- | --- |\n"
    for (goal, title), subjects in where.items():
        every = [type_id for type_id in types if type_id in subjects] or ["all"]
        yield f"| {without_tags(title)} (`{goal}`) | {', '.join(every)} |\n"
