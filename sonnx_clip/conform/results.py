"""The result of a unit: what was counted, by class and by form, and how the unit ended.

Counts of units are added; of each kind of deviation the first in the order of the plan is kept. So neither
the order in which units are judged matters, nor how many are judged at once.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from sonnx_clip.conform.check_report import Deviation, FormReport, Verdict
from sonnx_clip.root.stored import Stored

_T = TypeVar("_T", int, "Count")
_V = TypeVar("_V")

Known: TypeAlias = "frozenset[tuple[str, str]]"
"""Pairs of a class and a kind of deviation that has a description."""


class _Counted(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Count(_Counted):
    """Counts of a class, in entries, or of C1 or C3, in calls.

    Args:
        compared: results that were judged.
        violating: results that no latitude accepts.
        raised: results missing because a call raised, unless its form is refused as a whole.
        refused: calls in forms that are refused as a whole; of a class, only if nothing was compared.
        died: calls of which the runtime died.
        latitude: results that each latitude accepts.
        words: the first words of the runtime, where it gave no result.
        deviations: the first of each kind: ``violates``, ``raises``, ``crashed``, or the id of a latitude.
    """

    compared: int = 0
    violating: int = 0
    raised: int = 0
    refused: int = 0
    died: int = 0
    latitude: dict[str, int] = {}
    words: str | None = None
    deviations: dict[str, Deviation] = {}

    def __add__(self, other: Count) -> Count:
        """The sum; the deviations of this one come first."""
        return Count(
            compared=self.compared + other.compared,
            violating=self.violating + other.violating,
            raised=self.raised + other.raised,
            refused=self.refused + other.refused,
            died=self.died + other.died,
            latitude=added(self.latitude, other.latitude),
            words=self.words or other.words,
            deviations={**self.deviations, **_missing(other.deviations, self.deviations)},
        )


class Raised(_Counted):
    """Calls of one form (a layout) that raised; `of` counts them by class or tag."""

    calls: int = 0
    raised: int = 0
    refusal: bool = True
    words: str = ""
    of: dict[str, Count] = {}

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


class Counts(_Counted):
    """Counts by class and tag (C1, C3), and by form of the calls that raised.

    `answers` are those that are compared with the readings, packed by `matching.Observed`.
    """

    of: dict[str, Count]
    raised: dict[str, Raised]
    answers: str

    def __add__(self, other: Counts) -> Counts:
        """The sum; the answers are those of this one."""
        forms = {form: self.raised.get(form, Raised()) for form in (*self.raised, *other.raised)}
        raised = {form: one + other.raised.get(form, Raised()) for form, one in forms.items()}
        return Counts(of=added(self.of, other.of), raised=raised, answers=self.answers)

    @property
    def known(self) -> Known:
        """The kinds of deviations that have a description."""
        return frozenset((key, kind) for key, count in self.of.items() for kind in count.deviations)


def added(first: dict[str, _T], second: dict[str, _T]) -> dict[str, _T]:
    """Sums by key."""
    both = {key: one + second[key] if key in second else one for key, one in first.items()}
    return {**both, **_missing(second, first)}


def _missing(some: dict[str, _V], known: dict[str, _V]) -> dict[str, _V]:
    return {key: value for key, value in some.items() if key not in known}


class UnitResult(Stored):
    """What a unit found.

    Args:
        version: of the runtime, in its own words.
        unopened: ``unsupported`` or ``crashed``, and why, if it could not be opened for the element type.
        stopped: ``crashed`` or ``environment``, and why, if the unit ended early.
        tally: the counts; None if no call was made.
        unasked: what the runtime cannot be asked.
        longest: the most entries that it takes.
        few: whether few calls were made.
        models: whether it opens models.
        forms: the reports on forms of a model.
        forms_stopped: whether these ended early.
        remarks: what was noticed beside the results.
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

    @property
    def ends(self) -> bool:
        """Whether no later unit of the element type is judged."""
        unopened = self.unopened is not None and not self.models
        return self.stopped is not None or unopened or self.forms_stopped

    def is_kept(self, *, cache: bool) -> bool:
        """Whether it is stored: no environment failure; in a cache, no crash either."""
        verdicts = {found[0] for found in (self.stopped, self.unopened) if found}
        verdicts |= {form.verdict for form in self.forms or ()}
        died = self.tally is not None and any(count.died for count in self.tally.of.values())
        return "environment" not in verdicts and not (cache and (died or "crashed" in verdicts))
