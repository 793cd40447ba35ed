"""Random triples for `sonnx-clip check`: the same on every machine, and with no package but NumPy.

Of NumPy's random streams, the raw numbers of PCG64 are promised never to change; all that is drawn here is
made from them by arithmetic of our own.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.language.special import special_patterns

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType

    Patterns = tuple[tuple[int, ...], ...]

_SEED = 20
_PAIRS = 100  # of bounds
_ENTRIES = 150  # values of X that are drawn, beside the bounds themselves
_NEAR = 3  # how far from a special value `near` may lie
_LONGEST = 64  # bits


@cache
def random_patterns(
    etype: ElementType, tensors: int = 1, scalars: int = 2, number: int = 0
) -> tuple[Patterns, Patterns]:
    """Values of each tensor, entry by entry, and of each scalar, call by call; each choice once.

    A third of the values are special ones, a third their neighbours, a third any pattern. Where there is one
    tensor, it is each scalar of every fourth call besides, since ties are where implementations differ. Each
    number has other values.
    """
    draw = _Draw(etype, number)
    calls = list(dict.fromkeys(draw.patterns(scalars) for _ in range(_PAIRS)))
    ties = [(scalar,) * tensors for call in calls[::4] for scalar in call]
    pool = dict.fromkeys([*ties, *(draw.patterns(tensors) for _ in range(_ENTRIES))])
    return tuple(zip(*pool, strict=True)), tuple(zip(*calls, strict=True))


class _Draw:
    """Draws patterns of an element type, in an order that depends on the type and the number alone."""

    def __init__(self, etype: ElementType, number: int) -> None:
        assert etype.width is not None
        self._special = special_patterns(etype)
        self._width = etype.width
        self._stream = np.random.PCG64([_SEED, *etype.id.encode(), *([number] if number else [])])

    def pattern(self) -> int:
        """A special value, a neighbour of one, or any pattern: as likely as one another."""
        match self._below(3):
            case 0:
                return self._one_special()
            case 1:
                distance = self._below(2 * _NEAR + 1) - _NEAR
                return (self._one_special() + distance) % (1 << self._width)
            case _:
                return int(self._stream.random_raw()) >> (_LONGEST - self._width)

    def patterns(self, count: int) -> tuple[int, ...]:
        """So many of them."""
        return tuple(self.pattern() for _ in range(count))

    def _one_special(self) -> int:
        return int(self._special[self._below(len(self._special))])

    def _below(self, count: int) -> int:
        """A number below a small count: 64 random bits times the count, without the lower 64 bits."""
        return int(self._stream.random_raw()) * count >> _LONGEST
