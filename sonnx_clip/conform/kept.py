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
from sonnx_clip.root.digest import digest_of_parts
from sonnx_clip.root.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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


class Keeper:
    """Takes and keeps verdicts under the conditions that hold when it is made.

    Args:
        folder: where the verdicts are; None for nowhere.
        conditions: what holds at the time of the call; None if it cannot be known, and then nothing is kept.
    """

    def __init__(self, folder: Path | None, conditions: Callable[[], Mapping[str, str] | None]) -> None:
        self._folder, self._conditions = folder, conditions
        self._before = None if folder is None else conditions()

    def take(self, *name: str, **more: str) -> KeptText | None:
        """The verdict that was made before under the same conditions, and is as it was written; else None.

        Args:
            name: under what it was kept.
            more: further conditions, of this verdict alone.
        """
        if self._folder is None or self._before is None:
            return None
        try:
            head, _, text = _file(self._folder, name).read_text(encoding="utf-8").partition("\n")
            said = json.loads(head)
            made = said["made"]
            whole = said["digest"] == _digest(said["conditions"], made, text)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (
            KeptText(made, text) if whole and said["conditions"] == key_of({**self._before, **more}) else None
        )

    def keep(self, text: str, *name: str, **more: str) -> None:
        """Keep a verdict, unless the conditions have changed meanwhile; UserError if it cannot be written.

        Args:
            text: the verdict.
            name: as for `take`.
            more: likewise.
        """
        if self._folder is None or self._before is None or self._conditions() != self._before:
            return
        key, made = key_of({**self._before, **more}), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        head = json.dumps({"conditions": key, "made": made, "digest": _digest(key, made, text)})
        write_whole(_file(self._folder, name), f"{head}\n{text}")


def _digest(key: str, made: str, text: str) -> str:
    return digest_of_parts([key, made, text])


def _file(folder: Path, name: Sequence[str]) -> Path:
    return folder / ("-".join(re.sub(r"[^A-Za-z0-9_.]", "_", part) for part in name) + ".txt")
