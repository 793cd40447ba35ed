"""build/foundation.json: what Coq's kernel has checked, and of which files."""

from __future__ import annotations

from sonnx_clip.prove.coq_sources import RECORD
from sonnx_clip.root.stored import Stored

__all__ = ["RECORD", "CoqRecord", "CoqTheorem"]


class CoqTheorem(Stored):
    """A theorem: the ids of spec/clip.yaml that it shows, the axioms on which it rests."""

    id: str
    module: str
    name: str
    file: str
    line: int
    shows: tuple[str, ...]
    assumptions: tuple[str, ...]


class CoqRecord(Stored):
    """A run. `sources` holds the SHA-256 of each file; without `problems`, every theorem is checked."""

    tool: str
    spec_sha256: str
    coq: str
    sources: dict[str, str]
    theorems: tuple[CoqTheorem, ...]
    problems: tuple[str, ...]
    seconds: dict[str, float]
