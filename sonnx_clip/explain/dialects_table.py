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


def dialect_row(spec: Spec, d: Dialect) -> DialectRow:
    """The row of a dialect."""
    same = DialectRow.model_fields.keys() - {"words"}
    return DialectRow(words=_words(spec, d), **{name: getattr(d, name) for name in same})


def _words(spec: Spec, d: Dialect) -> dict[str, str]:
    given = "members of the structure" if d.bounds == "members" else d.bounds
    of_tensor, missing = d.bound_type == "tensor", "refused"
    if d.missing is not None:
        of = "X's type" if d.missing.of == "element" or of_tensor else "FLOAT"
        missing = f"{d.missing.min} and {d.missing.max} of {of}"
    families = {spec.element_type(id_).family for id_ in d.element_types if d.converts_to(id_)}
    how = (("float", "to nearest, ties to even"), ("int", "toward zero"))
    types = []
    for family in spec.families:
        of_family = [etype.id for etype in spec.types_of(family.id)]
        taken = [id_ for id_ in of_family if id_ in d.element_types]
        types += [f"all of {family.id}"] if len(taken) == len(of_family) > 1 else taken
    return {
        "element types": ", ".join(types),
        "ranks": str(d.ranks),
        "bounds": f"{given}, of X's type" if of_tensor else f"{given}, FLOAT",
        "a missing bound is": missing,
        "bounds are converted": "; ".join(f"to {of} {words}" for of, words in how if of in families)
        or "no",
        "reading": d.reading if d.reading == d.answers else f"{d.reading}, decided by {d.answers}",
        "ScaleBias": "yes" if d.scale_bias else "no",
        "in place": "yes" if d.in_place else "no",
    }


def table_text(found: DialectTable, width: int | None = None) -> str:
    """The table as lines of text, wrapped at `width` columns or whole."""
    lines = []
    for row in found.rows:
        lines.append(f"{row.id}: {row.title}")
        lines.append("  " + "; ".join(f"{column}: {words}" for column, words in row.words.items()))
    lines.append("The words of each page: sonnx-clip dialects --json")
    return "\n".join(hanging(line, width, indent=2) for line in lines)
