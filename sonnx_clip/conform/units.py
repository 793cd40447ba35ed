"""What a unit of a campaign is, and what comes of it.

A unit is a part of the calls in one element type, made of a process of its own: what a runtime keeps between
calls, it keeps within a unit. A unit says all that is needed to judge it, so that it can be judged anywhere,
and its digest names its result in a journal.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.conform.check_report import FormReport, Verdict
from sonnx_clip.conform.counts import Counts
from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.runtimes.limits import Limits
    from sonnx_clip.runtimes.model_forms import Choice

Level: TypeAlias = Literal["quick", "standard", "exhaustive"]

FIRST = "chosen"
"""The unit of each element type that comes first: whether others are judged depends on it."""

FORMS = "forms-"
"""The parts that are forms of a model begin so; a number follows."""


@dataclass(frozen=True)
class Unit:
    """A part of the calls in an element type.

    Args:
        runtime: the name of the runtime.
        identity: a digest of what the runtime, the checker and the machine are; empty where no journal is.
        etype: the id of the element type.
        part: which calls, a name that `levels` knows.
        policy: which latitudes count.
        limits: how long the runtime may take.
        forms: in which forms of a model it is judged, if it opens models.
        few_calls: whether few calls are made, as of a runtime that starts a program for each.
    """

    runtime: str
    identity: str
    etype: str
    part: str
    policy: Policy
    limits: Limits
    forms: Choice
    few_calls: bool = False

    @property
    def first(self) -> bool:
        """Whether it is the one that comes first in its element type."""
        return self.part == FIRST

    @property
    def chunk(self) -> int | None:
        """The number of some forms of a model, if these are what is asked."""
        return int(self.part.removeprefix(FORMS)) if self.part.startswith(FORMS) else None

    @property
    def name(self) -> str:
        """What people are told of it: ``float32``, ``float32 random-3``."""
        return self.etype if self.first else f"{self.etype} {self.part}"

    @property
    def digest(self) -> str:
        """It names the result of the unit in a journal: another one for anything else that is asked."""
        return digest_of_parts(
            part for one in fields(self) for part in (one.name, repr(getattr(self, one.name)))
        )


class UnitResult(Stored):
    """What comes of a unit: all that the report on the element type is made of.

    Args:
        version: what the runtime says that it is.
        unopened: ``unsupported`` or ``crashed``, and why, if it could not be opened for the element type.
        stopped: ``crashed`` or ``environment``, and why, if the unit ended early.
        tally: what was counted; None if no call was made.
        unasked: what the runtime cannot be asked.
        longest: the most entries that it takes.
        few: whether few calls were made.
        models: whether it opens models.
        forms: what came of the forms of a model that were asked.
        forms_stopped: whether that ended early.
        remarks: what was noticed beside the results.
        left: how many processes it left behind.
    """

    version: str
    unopened: tuple[Verdict, str] | None = None
    stopped: tuple[Verdict, str] | None = None
    tally: Counts | None = None
    unasked: tuple[str, ...] = ()
    longest: int | None = None
    few: bool = False
    models: bool = False
    forms: tuple[FormReport, ...] | None = None
    forms_stopped: bool = False
    remarks: tuple[str, ...] = ()
    left: int = 0

    @property
    def ends(self) -> bool:
        """Whether nothing that follows in the element type is judged."""
        unopened = self.unopened is not None and not self.models
        return self.stopped is not None or unopened or self.forms_stopped

    def is_kept(self, *, cache: bool) -> bool:
        """Whether it is stored: not what the machine lacked; in a cache, nor what may be its fault."""
        verdicts = {found[0] for found in (self.stopped, self.unopened) if found}
        verdicts |= {form.verdict for form in self.forms or ()}
        died = self.tally is not None and any(count.died for count in self.tally.of.values())
        return "environment" not in verdicts and not (cache and (died or "crashed" in verdicts))
