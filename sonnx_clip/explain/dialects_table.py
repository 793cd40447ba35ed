"""Arguments and results of each dialect: one table, for JSON, the terminal and the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.types import Source
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect


class DialectRow(Stored):
    """A dialect of spec/clip.yaml.

    `words` are the cells of the table by column. `changes` are types for which missing bounds give another
    result than in the version before (`after`), each with an X. `says` quotes the page on each aspect,
    `unsaid` names the aspects on which it is silent, with what the oracle does.
    """

    id: str
    title: str
    element_types: tuple[str, ...]
    words: dict[str, str]
    after: str | None
    changes: dict[str, str]
    says: dict[str, Source]
    unsaid: dict[str, str]


class DialectTable(Stored):
    """All dialects, in the order of the file."""

    rows: tuple[DialectRow, ...]


def dialect_table(spec: Spec) -> DialectTable:
    """The dialects of a specification."""
    return DialectTable(rows=tuple(dialect_row(spec, dialect) for dialect in spec.dialects))


def dialect_row(spec: Spec, dialect: Dialect) -> DialectRow:
    """The row of a dialect."""
    return DialectRow(
        id=dialect.id,
        title=dialect.title,
        element_types=dialect.element_types,
        words=_words(spec, dialect),
        after=dialect.after,
        changes=dialect.changes,
        says=dialect.says,
        unsaid=dialect.unsaid,
    )


def _words(spec: Spec, dialect: Dialect) -> dict[str, str]:
    """The cells of the table by column."""
    bounds = "members of the structure" if dialect.bounds == "members" else dialect.bounds
    bound_type = "of X's type" if dialect.bound_type == "tensor" else "FLOAT"
    # Where the words allow several answers, another reading may decide which one the oracle gives.
    decided = ""
    if dialect.answers != dialect.reading:
        decided = f", decided by {dialect.answers}"
    return {
        "element types": ", ".join(_type_names(spec, dialect)),
        "ranks": str(dialect.ranks),
        "bounds": f"{bounds}, {bound_type}",
        "a missing bound is": _missing_bound(dialect),
        "bounds are converted": _conversions(spec, dialect),
        "reading": f"{dialect.reading}{decided}",
        "ScaleBias": "yes" if dialect.scale_bias else "no",
        "in place": "yes" if dialect.in_place else "no",
    }


def _type_names(spec: Spec, dialect: Dialect) -> list[str]:
    """The element types of a dialect; a whole family is one name."""
    names = []
    for family in spec.families:
        members = [etype.id for etype in spec.types_of(family.id)]
        supported = [type_id for type_id in members if type_id in dialect.element_types]
        is_whole = len(supported) == len(members)
        if is_whole and len(members) > 1:  # a family of one type, such as real, has its name
            names.append(f"all of {family.id}")
        else:
            names += supported
    return names


def _missing_bound(dialect: Dialect) -> str:
    """The numbers that a missing bound stands for."""
    missing = dialect.missing
    if missing is None:
        return "refused"
    # A default of the bound's own type is one of X's type where bounds have that.
    is_of_element = missing.of == "element" or dialect.bound_type == "tensor"
    type_name = "X's type" if is_of_element else "FLOAT"
    return f"{missing.min} and {missing.max} of {type_name}"


def _conversions(spec: Spec, dialect: Dialect) -> str:
    """How bounds become numbers of the type of X, by its family."""
    # Bounds of the type of X need no conversion.
    converted = filter(dialect.converts_to, dialect.element_types)
    families = {spec.element_type(type_id).family for type_id in converted}
    conversions = []
    if "float" in families:
        conversions.append("to float to nearest, ties to even")
    if "int" in families:
        conversions.append("to int toward zero")
    return "; ".join(conversions) or "no"


def table_text(table: DialectTable, width: int | None = None) -> str:
    """The table as lines of text, wrapped at `width` columns or whole."""
    lines = []  # two for each dialect: a table of eight columns fits no terminal
    for row in table.rows:
        cells = [f"{column}: {cell}" for column, cell in row.words.items()]
        lines.append(f"{row.id}: {row.title}")
        lines.append(f"  {'; '.join(cells)}")
    lines.append("The words of each page: sonnx-clip dialects --json")
    return "\n".join(hanging(line, width, indent=2) for line in lines)
