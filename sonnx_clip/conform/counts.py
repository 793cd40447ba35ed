"""Counts of results and of calls: what a unit of a campaign stores, and sums of it.

Of several units the counts are added, and of each kind of deviation the first one in the order of the plan
stays. So it does not matter when a unit was judged, or beside which others.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from sonnx_clip.conform.check_report import Deviation

_T = TypeVar("_T")

Known: TypeAlias = "frozenset[tuple[str, str]]"
"""Classes, each with a kind of deviation of which a description is known."""


class _Counted(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Count(_Counted):
    """Counts for a class (the unit is an entry), or for C1 or C3 (the unit is a call).

    Args:
        compared: results that were judged.
        violating: those that no latitude accepts.
        raised: those that a raising call did not give, in a form that is not refused as a whole.
        refused: calls in forms that are refused as a whole; of a class, only if nothing was compared.
        died: calls of which the runtime died.
        latitude: how many each latitude accepts.
        words: the first words of the runtime, where it gave no result.
        deviations: the first deviation of each kind: ``violates``, ``raises``, ``crashed``, or the id of a
            latitude.
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
        """Both together; where both have a deviation of a kind, that of this one."""
        names = {**self.latitude, **other.latitude}
        return Count(
            compared=self.compared + other.compared,
            violating=self.violating + other.violating,
            raised=self.raised + other.raised,
            refused=self.refused + other.refused,
            died=self.died + other.died,
            latitude={name: self.latitude.get(name, 0) + other.latitude.get(name, 0) for name in names},
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
        """Both together."""
        return Raised(
            calls=self.calls + other.calls,
            raised=self.raised + other.raised,
            refusal=self.refusal and other.refusal,
            words=self.words or other.words,
            of=added(self.of, other.of),
        )


class Counts(_Counted):
    """All that was counted: by class and tag (C1, C3), and by form what raised.

    `answers` are those that are compared with the readings, packed by `matching.Observed`.
    """

    of: dict[str, Count]
    raised: dict[str, Raised]
    answers: str

    def __add__(self, other: Counts) -> Counts:
        """The counts of both; the answers are those of this one."""
        raised = added(self.raised, other.raised)
        return Counts(of=added(self.of, other.of), raised=raised, answers=self.answers)

    @property
    def known(self) -> Known:
        """The kinds of deviations that are described, each with its class."""
        return frozenset((key, kind) for key, count in self.of.items() for kind in count.deviations)


def added(first: dict[str, _T], second: dict[str, _T]) -> dict[str, _T]:
    """Sums by key; what one of both lacks is that of the other."""
    both = {key: one + second[key] if key in second else one for key, one in first.items()}  # type: ignore[operator]
    return {**both, **_missing(second, first)}


def _missing(some: dict[str, _T], known: dict[str, _T]) -> dict[str, _T]:
    return {key: value for key, value in some.items() if key not in known}
