"""Derives the verdict of a class from its counts: for the tally, and for the evidence, which counts again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.conform.report import Deviation, Verdict

_WORST_FIRST: tuple[Verdict, ...] = (
    "crashed",
    "unreached",
    "violates",
    "unsupported",
    "acceptable",
    "conforms",
)


@dataclass
class Count:
    """What is known of a class (its unit is an entry), or of C1 or C3 (its unit is a call).

    Args:
        compared: results that were judged.
        violating: those that no latitude accepts.
        raised: those that a raising call did not give.
        latitude: how many each latitude accepts.
        words: the first words of the runtime, where it gave no result.
        deviations: the first deviation of each kind: ``violates``, or the id of a latitude.
    """

    compared: int = 0
    violating: int = 0
    raised: int = 0
    latitude: Counter[str] = field(default_factory=Counter)
    words: str | None = None
    deviations: dict[str, Deviation] = field(default_factory=dict)


def verdict_of(count: Count, *, crashed: bool, served: bool) -> Verdict:
    """The verdict of one class, or of C1 or C3.

    Args:
        count: what is known of it.
        crashed: whether the runtime died: it has no other verdict then in any class of the type.
        served: whether anything was compared in the element type. Only a whole type can be unsupported: to
            raise for some values of one that is served is a result that is not expected.
    """
    if crashed:
        return "crashed"
    if count.compared == 0 and not (served and count.raised):
        return "unsupported" if count.raised else "unreached"
    if count.violating or count.raised:
        return "violates"
    return "acceptable" if count.latitude else "conforms"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a type: the worst of its classes."""
    return min(verdicts, key=_WORST_FIRST.index)
