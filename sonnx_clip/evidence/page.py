"""Writes build/evidence/: index.html, one page that needs nothing else, evidence.json and its schema for
machines, times.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sonnx_clip.conform.comparison_record import STATES
from sonnx_clip.conform.comparison_text import where
from sonnx_clip.evidence import picture, reading_picture
from sonnx_clip.evidence.collect import gather, read_inputs, times_of
from sonnx_clip.evidence.evidence_model import Evidence, Totals
from sonnx_clip.evidence.view import VERDICT_GLYPHS, View
from sonnx_clip.explain import dialects_text
from sonnx_clip.explain.dialects_text import dialect_table
from sonnx_clip.prove.rendered import obligations_of
from sonnx_clip.root.files import write_together
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.terminal import counted, headline
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.sections import SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
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


# ------------------------------------------------------------------------------------------------------------
# Writes build/evidence/: index.html for people, evidence.json and its schema for machines, times.json


PAGE, RECORD, SCHEMA, TIMES = "index.html", "evidence.json", "evidence.schema.json", "times.json"


@dataclass(frozen=True)
class EvidenceSummary:
    """What was written.

    Args:
        page: the path of index.html.
        totals: the counts on top of it.
        not_run: the runtimes that were not checked.
    """

    page: Path
    totals: Totals
    not_run: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 if everything is shown, and our own Clip was judged and violates nothing; else 1."""
        return 0 if self.totals.fine else 1

    @property
    def line(self) -> str:
        """Where it is, and the counts."""
        t = self.totals
        shown = f"{t.by_two} proved by two provers, {t.by_one} by one"
        counts = (
            f"{headline(t.obligations - t.smoke, t.by_definition, t.repeats)}: {shown}, "
            f"{t.not_proved} not proved; "
            f"{t.smoke_held} of {counted(t.smoke, 'smoke test')} held"
        )
        parts = [counts, counted(t.findings, "finding"), counted(t.refuted, "refuted conclusion")]
        if t.requirements_with_gap:
            parts.append(f"{t.requirements_with_gap} without obligation")
        if t.violated_by_sonnx:
            parts.append(f"{t.violated_by_sonnx} violated by sonnx")
        parts.extend(t.sonnx_open)
        if t.c_not_proved:
            parts.append(f"{t.c_not_proved} C kernels not proved by Frama-C")
        if t.unjustified + t.strays:
            parts.append(f"{t.unjustified + t.strays} unaccounted for")
        if others := [name for name in self.not_run if name not in OURS]:
            parts.append(f"not run: {', '.join(others)}")
        return f"{self.page}: {'; '.join(parts)}"


def write_evidence(
    build: Path,
    output: Path,
    *,
    spec: Spec | None = None,
    wanted: Sequence[Obligation] | None = None,
    generated: Path | None = None,
) -> EvidenceSummary:
    """Write the evidence; nothing is written if anything is wrong with what it is made of.

    Args:
        build: holds proofs.json (`sonnx-clip prove`) and verdicts/ (`sonnx-clip check -o`).
        output: the folder to write to; it is made if need be.
        spec: the specification; by default spec/clip.yaml.
        wanted: what is to be shown; by default every obligation of the theories.
        generated: the folder of what is generated; by default that of the repository.

    Raises:
        UserError: something is missing, damaged, stale, or states what it does not bear out, or the output
            cannot be written.
    """
    spec = spec or load_spec()
    every = tuple(obligations_of(spec) if wanted is None else wanted)
    found = read_inputs(build, spec, every, generated or repo_file("generated"))
    evidence = gather(found)
    files = {
        RECORD: evidence.model_dump_json(indent=1) + "\n",
        TIMES: times_of(found).model_dump_json(indent=1) + "\n",
        SCHEMA: json.dumps(Evidence.model_json_schema(), indent=1) + "\n",
        PAGE: render_page(evidence, spec),
    }
    write_together({output / name: text for name, text in files.items()})
    not_run = tuple(runtime.name for runtime in evidence.runtimes if not runtime.run)
    return EvidenceSummary(output / PAGE, evidence.totals, not_run)
