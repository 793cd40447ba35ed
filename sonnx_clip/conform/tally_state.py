"""What a tally has counted, in the form in which it is stored, and sums of it: for `tally` and `merging`.

Of several units of an element type the counts are added, and of each kind of deviation the first one in the
order of the plan stays. So it does not matter when a unit was judged, or beside which others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from sonnx_clip.conform.check_report import Deviation
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_T = TypeVar("_T")


class CountState(Stored):
    """The parts of a `verdicts.Count` that are known while calls are made, under the same names."""

    compared: int
    violating: int
    latitude: dict[str, int] = Field(default_factory=dict)
    died: int
    words: str | None
    deviations: dict[str, Deviation] = Field(default_factory=dict)

    def __add__(self, other: CountState) -> CountState:
        """Both together; what is told first was told by this one."""
        return CountState(
            compared=self.compared + other.compared,
            violating=self.violating + other.violating,
            latitude=_sums(self.latitude, other.latitude),
            died=self.died + other.died,
            words=self.words or other.words,
            deviations={**self.deviations, **_new(other.deviations, self.deviations)},
        )


class RaisedState(Stored):
    """Calls of one form that raised; `of` has by class (its index) or tag how many, the first, its words."""

    calls: int
    raised: int
    refusal: bool
    words: str
    of: dict[str, tuple[int, Deviation | None, str | None]]

    @property
    def all(self) -> bool:
        """Whether every call refused."""
        return self.refusal and 0 < self.raised == self.calls

    def __add__(self, other: RaisedState) -> RaisedState:
        """Both together."""
        of = dict(self.of)
        for key, (number, first, words) in other.of.items():
            before, earlier, told = of.get(key, (0, None, None))
            of[key] = before + number, earlier or first, told or words
        return RaisedState(
            calls=self.calls + other.calls,
            raised=self.raised + other.raised,
            refusal=self.refusal and other.refusal,
            words=self.words or other.words,
            of=of,
        )


class TallyState(Stored):
    """All that was counted: by class in the order of the YAML, for C1 and C3, and by form what raised.

    `answers` are those that are compared with the readings, packed by `matching.Observed`.
    """

    classes: tuple[CountState, ...]
    forms: dict[str, CountState]
    raised: dict[str, RaisedState]
    answers: str

    def plus(self, other: TallyState) -> TallyState:
        """The counts of both; the answers are those of this one."""
        raised = dict(self.raised)
        for form, found in other.raised.items():
            raised[form] = raised[form] + found if form in raised else found
        return TallyState(
            classes=tuple(a + b for a, b in zip(self.classes, other.classes, strict=True)),
            forms={tag: count + other.forms[tag] for tag, count in self.forms.items()},
            raised=raised,
            answers=self.answers,
        )


def _sums(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {key: a.get(key, 0) + b.get(key, 0) for key in (*a, *_new(b, a))}


def _new(some: Mapping[str, _T], known: Iterable[str]) -> dict[str, _T]:
    return {key: value for key, value in some.items() if key not in known}
