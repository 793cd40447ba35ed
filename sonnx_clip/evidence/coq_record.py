"""build/foundation.json, what Coq's kernel checked: read, compared with the files, sorted by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import CoqEvidence, CoqTheorem
from sonnx_clip.evidence.read import read_record
from sonnx_clip.foundation.assumptions import surprises
from sonnx_clip.foundation.sources import RECORD, coq_sources, digests
from sonnx_clip.root.paths import repo_root
from sonnx_clip.root.stored import Excerpt

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.evidence.evidence_model import Entry
    from sonnx_clip.spec import Spec

AGAIN = "run: make foundation"
SECTIONS = ("constraints", "cases", "properties", "readings")


class _Theorem(Excerpt):
    id: str
    shows: tuple[str, ...]
    assumptions: tuple[str, ...]


class CoqRecord(Excerpt):
    """The file, as far as the evidence uses it."""

    spec_sha256: str
    coq: str
    sources: dict[str, str]
    theorems: tuple[_Theorem, ...]
    problems: tuple[str, ...]


def read_foundation(build: Path) -> CoqRecord | None:
    """What `sonnx-clip foundation` found; None if it was not run, UserError if the file is damaged."""
    path = build / RECORD
    return read_record(path, CoqRecord, AGAIN)[0] if path.exists() else None


def coq_evidence(spec: Spec, record: CoqRecord | None) -> CoqEvidence:
    """What Coq's kernel has checked; what was not run, or of other files, is shown as such."""
    if record is None:
        return CoqEvidence(status="not run")
    if record.spec_sha256 != spec.digest or record.sources != digests(coq_sources(repo_root())):
        return CoqEvidence(status="stale", coq=record.coq)
    problems = [*record.problems, *surprises(repo_root(), {t.id: t.assumptions for t in record.theorems})]
    if problems:
        return CoqEvidence(status="not proved", coq=record.coq, problems=tuple(problems))
    theorems = tuple(CoqTheorem(id=t.id, shows=t.shows, axioms=t.assumptions) for t in record.theorems)
    return CoqEvidence(status="checked", coq=record.coq, theorems=theorems)


def with_coq(entry: Entry, coq: CoqEvidence) -> Entry:
    """The entry with a line that says by what it is shown, and what it lacks."""
    if entry.section not in SECTIONS:
        return entry
    found = {cell.status for cell in entry.cells} - {"does not apply"}
    provers = "Z3, cvc5"
    if not found or found & {"not proved", "gap"}:
        provers = "not by Z3 and cvc5"
    elif "proved by one" in found:
        provers = "Z3 or cvc5, in some types not both"
    shown = any(entry.id in theorem.shows for theorem in coq.theorems)
    if coq.status != "checked":
        kernel = f"Coq kernel: {coq.status}"
    else:
        kernel = "Coq kernel" if shown else "Coq kernel: no theorem"
    return _shown_by(entry, f"{provers}, {kernel}")


def _shown_by(entry: Entry, by: str) -> Entry:
    return entry.model_copy(update={"facts": (*entry.facts, ("shown by", by))})
