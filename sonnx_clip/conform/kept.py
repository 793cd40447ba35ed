"""Verdicts that are kept, so that what was judged under the same conditions is not judged again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import TypeReport
from sonnx_clip.conform.conditions import conditions, key_of
from sonnx_clip.conform.identity import CHECKER
from sonnx_clip.root.files import digest_of_parts, write_whole
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.levels import CheckOptions
    from sonnx_clip.language.types import ElementType


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


# --- Verdicts in element types that an earlier run has kept -------------------------------------------------


class StoredType(Stored):
    """The verdicts in one element type, as they are kept."""

    version: str
    report: TypeReport


class KeptTypes:
    """The verdicts on one runtime that were made before, by element type."""

    def __init__(self, folder: Path | None, asked: CheckOptions) -> None:
        options: dict[str, object] = {"policy": asked.policy, "limits": asked.limits, "forms": asked.forms}
        if asked.level != "quick":
            options["level"] = asked.level
        if asked.few_calls:
            options["few calls"] = True
        self._asked = asked
        self._keeper = Keeper(folder, lambda: conditions(asked.runtime, [CHECKER], options))

    def _name(self, etype: ElementType) -> tuple[str, ...]:
        level = () if self._asked.level == "quick" else (self._asked.level,)
        few = ("few calls",) if self._asked.few_calls else ()
        return "check", self._asked.runtime, etype.id, self._asked.policy, *level, *few

    def take(self, etype: ElementType) -> tuple[StoredType, str] | None:
        """The verdicts in an element type, and when they were made."""
        found = self._keeper.take(*self._name(etype), type=etype.id)
        if found is None:
            return None
        try:
            known = StoredType.model_validate_json(found.text)
        except ValueError:
            return None
        return (known, found.made) if known.report.type == etype.id else None

    def keep(self, etype: ElementType, version: str, report: TypeReport) -> None:
        """Keep verdicts, unless the run was not whole.

        That a runtime died may be the machine's fault; a class that was not reached is the checker's.
        """
        verdicts = {report.verdict, *(form.verdict for form in report.forms or ())}
        if not verdicts & {"crashed", "unreached", "environment", "unfinished"}:
            text = StoredType(version=version, report=report).model_dump_json()
            self._keeper.keep(text, *self._name(etype), type=etype.id)
