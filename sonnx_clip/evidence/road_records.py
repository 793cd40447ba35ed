"""The records of the other roads, Coq, Frama-C and the replays: read, counted again, and compared with the
files.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from pydantic import ValidationError

from sonnx_clip.evidence.evidence_model import CKernelEvidence, CoqEvidence, CoqTheorem, ReplayEvidence
from sonnx_clip.evidence.read import read_record
from sonnx_clip.prove.coq_sources import RECORD, coq_sources, digests
from sonnx_clip.prove.frama_c_record import PROVERS, FramaCRecord
from sonnx_clip.prove.frama_c_record import RECORD as FRAMA_C_RECORD
from sonnx_clip.prove.frama_c_record import digests as frama_c_digests
from sonnx_clip.prove.run_coq import surprises
from sonnx_clip.prove.run_frama_c import OPTIONS
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.stored import Excerpt

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.evidence.evidence_model import Entry
    from sonnx_clip.language import ElementType
    from sonnx_clip.prove.frama_c_record import OfType
    from sonnx_clip.spec import Spec


COQ_AGAIN = "run: make coq"
COQ_SECTIONS = ("constraints", "cases", "properties", "readings")


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
    """What `sonnx-clip prove --road coq` found; None if it was not run, UserError if the file is damaged."""
    path = build / RECORD
    return read_record(path, CoqRecord, COQ_AGAIN)[0] if path.exists() else None


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
    if entry.section not in COQ_SECTIONS:
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


# ------------------------------------------------------------------------------------------------------------
# build/frama-c.json, the second argument for the C kernels: read, counted again, compared with the files


FRAMA_C_AGAIN = "run: make frama-c"


def read_frama_c(build: Path) -> FramaCRecord | None:
    """What `sonnx-clip prove --road frama-c` found; None if it was not run.

    Raises:
        UserError: the file is damaged, or speaks of an element type twice.
    """
    path = build / FRAMA_C_RECORD
    if not path.exists():
        return None
    record, _ = read_record(path, FramaCRecord, FRAMA_C_AGAIN)
    types = [one.type for one in record.types]
    if len(set(types)) != len(types):
        raise UserError("an element type is there twice", str(path), FRAMA_C_AGAIN)
    return record


def c_kernels_of(spec: Spec, record: FramaCRecord | None) -> tuple[CKernelEvidence, ...]:
    """What is shown of the C of each element type; what was not run, or of other files, is shown as such."""
    found = {one.type: one for one in record.types} if record else {}
    fresh = record is not None and record.spec_digest == spec.digest and record.options == OPTIONS
    return tuple(
        _kernel(etype, found.get(etype.id), fresh=fresh)
        for etype in spec.element_types
        if etype.c is not None
    )


def _kernel(etype: ElementType, one: OfType | None, *, fresh: bool) -> CKernelEvidence:
    if one is None:
        return CKernelEvidence(type=etype.id, status="not run")
    if not fresh or one.files != frama_c_digests(etype):
        return CKernelEvidence(type=etype.id, status="stale", files=one.files)
    return CKernelEvidence(
        type=etype.id,
        status=one.status(etype),
        goals=one.total,
        shown=one.shown,
        simplified=one.simplified,
        by={name: one.shown_by(name) for name in PROVERS},
        by_one=tuple(goal.name for goal in one.goals if goal.status == "proved by one"),
        open=one.open(etype),
        taken=one.taken,
        files=one.files,
    )


# --- build/replays, what generated/replay.sh counted with versions of the tools: for the evidence page ------
#
# A record counts where it is of the theories, drivers and script that are there now; any other is left out.


REPLAYS = "replays"
REPLAY_AGAIN = "remove it, or run: sh generated/replay.sh"
_SOURCES = (
    "why3/*.mlw",
    "why3/drivers/*",
    "generated/why3/*.mlw",
    "generated/replay.sh",
)


def replayed_digest() -> str:
    """SHA-256 of what a replay depends on, as the script computes it: the files one after another."""
    whole = sha256()
    for pattern in _SOURCES:
        for path in sorted(repo_file("").glob(pattern), key=lambda p: p.name.encode()):
            if not path.name.startswith("."):
                whole.update(path.read_bytes())
    return whole.hexdigest()


def read_replays(build: Path) -> tuple[ReplayEvidence, ...]:
    """The records of the same obligations, by the versions of the tools.

    Raises:
        UserError: a record is damaged.
    """
    digest = replayed_digest()
    found = [_read(path) for path in sorted((build / REPLAYS).glob("*.txt"))]
    return tuple(record for record in found if record.digest == digest)


def _read(path: Path) -> ReplayEvidence:
    lines = [line.partition(": ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    fields = {name: value for name, _, value in lines}
    try:
        return ReplayEvidence.model_validate_strings(fields)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UserError(f"the record of a replay is damaged at {place}", str(path), REPLAY_AGAIN) from error
