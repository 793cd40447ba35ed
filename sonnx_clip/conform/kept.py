"""Verdicts that are kept, so that what was judged under the same conditions is not judged again.

A verdict is a text in a file of its own, behind a line that holds the digest of its conditions, the time when
it was made, and a digest of all three. A file that does not fit in every point is not believed: the verdict
is made again. Against somebody who writes a file with right digests on purpose nothing here helps.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sonnx_clip.conform.conditions import key_of
from sonnx_clip.digest import digest_of_parts
from sonnx_clip.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "kept"
"""Where in the build folder verdicts are kept."""


@dataclass(frozen=True)
class KeptText:
    """A verdict that was kept.

    Args:
        made: when, for example ``2026-01-31 12:00 UTC``.
        text: what was kept.
    """

    made: str
    text: str


def now() -> str:
    """The time, as it is written of a verdict."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def take(file: Path, found: Mapping[str, str]) -> KeptText | None:
    """The verdict in a file, if it was made under these conditions and nobody has changed it; else None."""
    try:
        head, _, text = file.read_text(encoding="utf-8").partition("\n")
        said = json.loads(head)
        made = said["made"]
        whole = said["digest"] == _digest(said["conditions"], made, text)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return KeptText(made, text) if whole and said["conditions"] == key_of(found) else None


def keep(file: Path, found: Mapping[str, str], text: str, made: str) -> None:
    """Keep a verdict; UserError if the file cannot be written."""
    key = key_of(found)
    head = json.dumps({"conditions": key, "made": made, "digest": _digest(key, made, text)})
    write_whole(file, f"{head}\n{text}")


def _digest(key: str, made: str, text: str) -> str:
    return digest_of_parts([key, made, text])


def file_name(*parts: str) -> str:
    """A name for the file of a verdict."""
    return "-".join(re.sub(r"[^A-Za-z0-9_.]", "_", part) for part in parts) + ".txt"
