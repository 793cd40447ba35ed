"""Where in calls deviations are: from an entry on, in the tail of a vector loop, at lengths, in a layout.

A place is named only if every deviation is there, of all answers and not of a sample, and if operands that
deviate there are right elsewhere. So a mistake that depends on the operands alone has no place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.runtimes.layouts import LAYOUTS, NUMBER_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.conform.answers import Answers
    from sonnx_clip.root.dtypes import Array

_STEPS = (2, 4, 8, 16, 32, 64, 128)
"""Entries of a vector or of an unrolled loop."""
_ALONE = "the triple alone is right: the result depends on its neighbours"
_ELSEWHERE = "the same triple is right elsewhere: the result depends on more than its operands"
_FEW_LAYOUTS = 3


@dataclass
class Extremes:
    """The places of all deviations so far.

    Args:
        first_entry: the least place of an entry in its call.
        shortest: the least number of entries of a call.
        in_tail: the steps of which every deviation is in the incomplete last step of its call.
        in_blocks: the steps of which every deviation is in a complete step of its call.
        layouts: the numbers of their layouts.
    """

    first_entry: int = 1 << 62
    shortest: int = 1 << 62
    in_tail: set[int] = field(default_factory=lambda: set(_STEPS))
    in_blocks: set[int] = field(default_factory=lambda: set(_STEPS))
    layouts: set[int] = field(default_factory=set)

    def add(self, layout: str, lengths: Array, entries: Array) -> None:
        """Add deviations in a layout, each with the length of its call and its entry, of shape (d,)."""
        self.first_entry = min(self.first_entry, int(entries.min()))
        self.shortest = min(self.shortest, int(lengths.min()))
        for step in self.in_tail | self.in_blocks:
            is_in_tail = in_tail(step, lengths, entries)
            if not is_in_tail.all():
                self.in_tail.discard(step)
            if is_in_tail.any():
                self.in_blocks.discard(step)
        self.layouts.add(NUMBER_OF[layout])

    def joined(self, other: Extremes) -> Extremes:
        """The places of the deviations of both."""
        return Extremes(
            first_entry=min(self.first_entry, other.first_entry),
            shortest=min(self.shortest, other.shortest),
            in_tail=self.in_tail & other.in_tail,
            in_blocks=self.in_blocks & other.in_blocks,
            layouts=self.layouts | other.layouts,
        )


def in_tail(step: int, lengths: Array, entries: Array) -> Array:
    """Whether each entry is in the incomplete last step of its call."""
    begins = lengths // step * step
    return np.asarray(entries >= begins)


@dataclass(frozen=True)
class CallPlace:
    """A part of the calls, in words; `holds` tells for each of some answers whether it is there.

    It is exact if operands that deviate there are right everywhere else and nowhere there.
    """

    words: str
    holds: Callable[[Answers], Array]
    is_exact: bool = True


def call_place(answers: Answers, extremes: Extremes) -> CallPlace | None:
    """The place of all deviations; None if it depends on the operands alone, as far as the answers show.

    Args:
        answers: those in the classes that deviate.
        extremes: of every deviation in these classes.
    """
    right = _right_elsewhere(answers)
    if not len(right):
        return None
    for place in _places(extremes):
        if not place.holds(right).any():
            return place
    is_right_alone = (right.lengths == 1).any() and extremes.shortest > 1
    words = _ALONE if is_right_alone else _ELSEWHERE
    return CallPlace(words, lambda answers: answers.violating, is_exact=False)


def _right_elsewhere(answers: Answers) -> Answers:
    """The right answers to operands for which another answer is wrong."""
    wrong_triples = set(_triples(answers, answers.violating))
    is_right = ~answers.violating
    is_wrong_elsewhere = [triple in wrong_triples for triple in _triples(answers, is_right)]
    right = answers.where(is_right)
    return right.where(np.array(is_wrong_elsewhere, bool))


def _places(extremes: Extremes) -> Iterator[CallPlace]:
    """The places that contain every deviation, the most particular first."""
    # X of another rank or with strides has another code path (OpenCV issue 22100: rank 3).
    if extremes.layouts and len(extremes.layouts) <= _FEW_LAYOUTS:
        numbers = sorted(extremes.layouts)
        names = ", ".join(LAYOUTS[number].id for number in numbers)
        layouts = "layouts" if len(numbers) > 1 else "layout"
        yield CallPlace(
            words=f"only in {layouts} {names}",
            holds=lambda answers: np.isin(answers.layouts, numbers),
        )
    # A loop that ends at the last multiple of its step (IRON issue 198).
    if extremes.in_tail:
        tail = min(extremes.in_tail)
        yield CallPlace(
            words=f"only in the last N mod {tail} entries of a call of N",
            holds=lambda answers: in_tail(tail, answers.lengths, answers.entries),
        )
    # A kernel for long calls that is not that of short ones (IRON issue 198: vectors of 32).
    if extremes.shortest > 1:
        shortest = extremes.shortest
        yield CallPlace(
            words=f"only at lengths from {shortest:,} on",
            holds=lambda answers: answers.lengths >= shortest,
        )
    # A buffer of so many entries (LLVM issue 219295).
    if extremes.first_entry > 0:
        first = extremes.first_entry
        yield CallPlace(
            words=f"only from entry {first:,} on (the first is entry 0)",
            holds=lambda answers: answers.entries >= first,
        )
    # A vector loop that is wrong, before a tail of single entries that is right.
    if extremes.in_blocks:
        block = max(extremes.in_blocks)
        yield CallPlace(
            words=f"only in complete blocks of {block} entries, not in the rest of a call",
            holds=lambda answers: ~in_tail(block, answers.lengths, answers.entries),
        )


def _triples(answers: Answers, mask: Array) -> list[bytes]:
    """The operands of each answer of a mask as a key."""
    operands = [operand[mask] for operand in answers.operands]
    rows = np.stack(operands, axis=1)
    return [row.tobytes() for row in np.ascontiguousarray(rows)]
