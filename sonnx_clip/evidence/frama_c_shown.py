"""build/frama-c.json, the second argument for the C kernels: read, counted again, compared with the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import CKernelEvidence
from sonnx_clip.evidence.read import read_record
from sonnx_clip.framac.frama_c_record import PROVERS, RECORD, FramaCRecord, digests
from sonnx_clip.framac.run_frama_c import OPTIONS
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.framac.frama_c_record import OfType
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec

AGAIN = "run: make frama-c"


def read_frama_c(build: Path) -> FramaCRecord | None:
    """What `sonnx-clip frama-c` found; None if it was not run.

    Raises:
        UserError: the file is damaged, or speaks of an element type twice.
    """
    path = build / RECORD
    if not path.exists():
        return None
    record, _ = read_record(path, FramaCRecord, AGAIN)
    types = [one.type for one in record.types]
    if len(set(types)) != len(types):
        raise UserError("an element type is there twice", str(path), AGAIN)
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
    if not fresh or one.files != digests(etype):
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
