"""build/replays, what generated/replay.sh counted with versions of the tools: for the evidence page.

A record counts where it is of the theories, drivers and script that are there now; any other is left out.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from pydantic import ValidationError

from sonnx_clip.evidence.evidence_model import ReplayEvidence
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "replays"
AGAIN = "remove it, or run: sh generated/replay.sh"
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
    found = [_read(path) for path in sorted((build / FOLDER).glob("*.txt"))]
    return tuple(record for record in found if record.digest == digest)


def _read(path: Path) -> ReplayEvidence:
    lines = [line.partition(": ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    fields = {name: value for name, _, value in lines}
    try:
        return ReplayEvidence.model_validate_strings(fields)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UserError(f"the record of a replay is damaged at {place}", str(path), AGAIN) from error
