"""The evidence as one HTML page that needs nothing else: no network, no fonts, no scripts from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from sonnx_clip.conform.dialects.record import STATES
from sonnx_clip.conform.dialects.table import where
from sonnx_clip.dialects import text as dialects_text
from sonnx_clip.dialects.table import dialect_table
from sonnx_clip.evidence import picture, reading_picture
from sonnx_clip.evidence.view import SECTION_WORDS, VERDICT_GLYPHS, View

if TYPE_CHECKING:
    from sonnx_clip.evidence.model import Evidence
    from sonnx_clip.spec import Spec

# Outcomes of the dialects in the colours of verdicts.
_DIALECT_COLOURS = {
    "agrees": "conforms", "payload": "conforms", "allowed": "acceptable", "differs": "acceptable",
    "unexplained": "violates", "refused": "unsupported", "crashed": "crashed",
}  # fmt: skip
_SIGNS = {"-inf": "−∞", "inf": "+∞", "nan": "NaN"}


def render_page(evidence: Evidence, spec: Spec) -> str:
    """The page as text.

    Args:
        evidence: what it says.
        spec: the specification, of which the picture of Clip is drawn.
    """
    environment = Environment(
        loader=PackageLoader("sonnx_clip.evidence"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    view = View(evidence)
    return environment.get_template("index.html.j2").render(
        evidence=evidence,
        view=view,
        verdict_glyphs=VERDICT_GLYPHS,
        section_words=SECTION_WORDS,
        picture_type=picture.TYPE,
        panels=picture.panels(spec),
        special=picture.special_table(spec),
        special_bounds=picture.SPECIAL_BOUNDS,
        size=(picture.WIDTH, picture.HEIGHT),
        left=picture.LEFT,
        right=picture.RIGHT,
        top=picture.TOP,
        bottom=picture.BOTTOM,
        columns=picture.COLUMNS,
        rows=picture.ROWS,
        signs=_SIGNS,
        dialect_states=STATES,
        dialect_colours=_DIALECT_COLOURS,
        dialect_where=where,
        reading_type=reading_picture.TYPE,
        readings=reading_picture.reading_picture(spec, view),
        dialect_columns=dialects_text.COLUMNS,
        dialects=dialect_lines(spec, view),
        reading_at=(reading_picture.LABEL, reading_picture.NUMBERS, reading_picture.DUE),
        reading_step=(reading_picture.STEP_X, reading_picture.STEP_Y),
    )


def dialect_lines(spec: Spec, view: View) -> list[tuple[str, tuple[str, ...], str]]:
    """The id of each dialect, the cells of its row, and how much of it is proved, in words."""
    entries = {
        entry.id: entry for _, _, found in view.sections() for entry in found if entry.section == "dialects"
    }
    return [
        (row.id, dialects_text.cells(row, spec)[1:], view.cells_in_words(entries[row.id]))
        for row in dialect_table(spec).rows
    ]
