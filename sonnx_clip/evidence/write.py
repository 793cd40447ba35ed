"""Writes build/evidence/: index.html for people, evidence.json and its schema for machines, times.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.conform.runtimes import OURS
from sonnx_clip.evidence.collect import gather, read_inputs, times_of
from sonnx_clip.evidence.evidence_model import Evidence, Totals
from sonnx_clip.evidence.page import render_page
from sonnx_clip.prove.rendered import obligations_of
from sonnx_clip.root.counts import counted, headline
from sonnx_clip.root.files import write_together
from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec

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
