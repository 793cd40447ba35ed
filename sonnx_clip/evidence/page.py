"""The evidence as one HTML page that needs nothing else: no network, no fonts, no scripts from elsewhere."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sonnx_clip.conform.dialects.comparison_record import STATES
from sonnx_clip.conform.dialects.comparison_table import where
from sonnx_clip.evidence import picture, reading_picture
from sonnx_clip.evidence.view import VERDICT_GLYPHS, View
from sonnx_clip.explain import dialects_text
from sonnx_clip.explain.dialects_table import dialect_table
from sonnx_clip.spec.sections import SHOWN

if TYPE_CHECKING:
    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.spec import Spec

# Outcomes of the dialects in the colours of verdicts.
_DIALECT_COLOURS = {
    "agrees": "conforms", "payload": "conforms", "allowed": "acceptable", "differs": "violates",
    "unexplained": "violates", "refused": "unsupported", "crashed": "crashed",
}  # fmt: skip
# What panel.svg.j2 draws with.
_PANEL: dict[str, Any] = {
    "size": (picture.WIDTH, picture.HEIGHT),
    "left": picture.LEFT,
    "right": picture.RIGHT,
    "top": picture.TOP,
    "bottom": picture.BOTTOM,
    "columns": picture.COLUMNS,
    "rows": picture.ROWS,
    "signs": {"-inf": "−∞", "inf": "+∞", "nan": "NaN"},
}


def render_page(evidence: Evidence, spec: Spec) -> str:
    """The page as text.

    Args:
        evidence: what it says.
        spec: the specification, of which the picture of Clip is drawn.
    """
    view = View(evidence)
    return (
        environment()
        .get_template("index.html.j2")
        .render(
            evidence=evidence,
            view=view,
            verdict_glyphs=VERDICT_GLYPHS,
            section_words={section.name: section.about for section in SHOWN},
            picture_type=picture.TYPE,
            panels=picture.panels(spec),
            special=picture.special_table(spec),
            special_bounds=picture.SPECIAL_BOUNDS,
            **_PANEL,
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
    )


def render_picture(spec: Spec) -> str:
    """The picture of Clip by itself, as SVG: docs/clip.svg, which the README shows."""
    step_x, step_y, columns = picture.WIDTH + 16, picture.HEIGHT + 40, 3
    panels = picture.panels(spec)
    placed = [(p, 8 + step_x * (k % columns), 76 + step_y * (k // columns)) for k, p in enumerate(panels)]
    rows = -(-len(panels) // columns)
    texts = [f"{case.id}: {case.title}" for case in spec.cases]
    starts = [16.0, *(16 + 6.2 * x for x in accumulate(len(text) + 5 for text in texts))]
    return (
        environment()
        .get_template("clip.svg.j2")
        .render(
            legend=[(c.id, round(x), text) for c, x, text in zip(spec.cases, starts, texts, strict=False)],
            placed=placed,
            width=16 + step_x * columns,
            height=52 + step_y * rows,
            **_PANEL,
        )
    )


@cache
def environment() -> Environment:
    """The templates of the pages."""
    return Environment(
        loader=PackageLoader("sonnx_clip.evidence"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
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
