"""The result of a unit: what was counted, by class and by form, and how the unit ended.

Counts of units are added; of each kind of deviation the first in the order of the plan is kept. So neither
the order in which units are judged matters, nor how many are judged at once.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field

from sonnx_clip.conform.check_report import Count, FormReport, ReadingMatch, Stop, added
from sonnx_clip.root.stored import Stored


class Raised(Stored):
    """Calls of one form (a layout) that raised; `of` counts them by class or tag."""

    model_config = ConfigDict(frozen=False)

    calls: int = 0
    raised: int = 0
    refusal: bool = True
    words: str = ""
    of: dict[str, Count] = Field(default_factory=dict)

    @property
    def all(self) -> bool:
        """Whether every call refused."""
        return self.refusal and 0 < self.raised == self.calls

    def __add__(self, other: Raised) -> Raised:
        """The sum."""
        return Raised(
            calls=self.calls + other.calls,
            raised=self.raised + other.raised,
            refusal=self.refusal and other.refusal,
            words=self.words or other.words,
            of=added(self.of, other.of),
        )


class Counts(Stored):
    """Counts by class and tag (C1, C3), and by form of the calls that raised."""

    of: dict[str, Count] = Field(default_factory=dict)
    raised: dict[str, Raised] = Field(default_factory=dict)

    def __add__(self, other: Counts) -> Counts:
        """The sum."""
        return Counts(of=added(self.of, other.of), raised=added(self.raised, other.raised))


class UnitResult(Stored):
    """What a unit found.

    Args:
        version: of the runtime, in its own words.
        unopened: ``unsupported`` or ``crashed``, and why, if it could not be opened for the element type.
        stopped: ``crashed`` or ``environment``, and why, if the unit ended early.
        tally: the counts; None if no call was made.
        readings: those that allow the answers of the first unit of an element type.
        unasked: what the runtime cannot be asked.
        longest: the most entries that it takes.
        few: whether few calls were made.
        forms: the reports on forms of a model.
        forms_stopped: whether these ended early.
        remarks: what was noticed beside the results.
        partial: whether it was interrupted before all calls were made.
        made: when it was stored, if it was taken from a cache.
    """

    version: str
    unopened: Stop | None = None
    stopped: Stop | None = None
    tally: Counts | None = None
    readings: ReadingMatch | None = None
    unasked: tuple[str, ...] = ()
    longest: int | None = None
    few: bool = False
    forms: tuple[FormReport, ...] | None = None
    forms_stopped: bool = False
    remarks: tuple[str, ...] = ()
    partial: bool = False
    made: str = ""

    @property
    def ends(self) -> bool:
        """Whether no later unit of the element type is judged."""
        return self.stopped is not None or self.unopened is not None or self.forms_stopped

    def is_kept(self, *, cache: bool) -> bool:
        """Whether it is stored: no environment failure; in a cache, no crash either."""
        verdicts = {found[0] for found in (self.stopped, self.unopened) if found}
        verdicts |= {form.verdict for form in self.forms or ()}
        died = self.tally is not None and any(count.died for count in self.tally.of.values())
        return "environment" not in verdicts and not (cache and (died or "crashed" in verdicts))
