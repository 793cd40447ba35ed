"""Verdicts in element types that an earlier run has kept: for `campaign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.campaigns.identity import CHECKER
from sonnx_clip.conform.check_report import TypeReport
from sonnx_clip.conform.conditions import conditions
from sonnx_clip.conform.kept import Keeper
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.conform.campaigns.levels import Asked
    from sonnx_clip.language.types import ElementType


class KnownType(Stored):
    """The verdicts in one element type, as they are kept."""

    version: str
    report: TypeReport


class KeptTypes:
    """The verdicts on one runtime that were made before, by element type."""

    def __init__(self, folder: Path | None, asked: Asked) -> None:
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

    def take(self, etype: ElementType) -> tuple[KnownType, str] | None:
        """The verdicts in an element type, and when they were made."""
        found = self._keeper.take(*self._name(etype), type=etype.id)
        if found is None:
            return None
        try:
            known = KnownType.model_validate_json(found.text)
        except ValueError:
            return None
        return (known, found.made) if known.report.type == etype.id else None

    def keep(self, etype: ElementType, version: str, report: TypeReport) -> None:
        """Keep verdicts, unless the run was not whole.

        That a runtime died may be the machine's fault; a class that was not reached is the checker's.
        """
        verdicts = {report.verdict, *(form.verdict for form in report.forms or ())}
        if not verdicts & {"crashed", "unreached", "environment", "unfinished"}:
            text = KnownType(version=version, report=report).model_dump_json()
            self._keeper.keep(text, *self._name(etype), type=etype.id)
