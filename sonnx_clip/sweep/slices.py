"""The sweeps, cut into slices that take about a second each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import constant_pattern, encode, infinity, sign_bit
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType

TRIPLES = "all triples"
MIN_SWEEP = "all X and min, max = {}"
MAX_SWEEP = "all X and max, min = {}"
SPECIAL = "all X, special bounds"
BOUNDS = "all min and max, 3 X"
SPECIAL_BOUND = "min or max special, the other all, 3 X"
TABLE = "the table against the oracle"

_MORE = {"int": ("0", "1", "2"), "float": ("-0", "0", "1", "-1", "smallest_subnormal")}

_PLANE = 4096  # bounds in a slice; each is a call with every X
_MINS = 1024  # lower bounds in a slice; each with every upper bound


@dataclass(frozen=True)
class Slice:
    """A part of a sweep.

    Args:
        etype: the id of an element type.
        sweep: what is swept, in words.
        side: which bound is held fixed: ``min``, ``max``, or none.
        fixed: the bits of the bound that is held fixed.
        start: the first value of the bound that varies.
        stop: one past its last value.
    """

    etype: str
    sweep: str
    side: str = ""
    fixed: int = 0
    start: int = 0
    stop: int = 0

    @property
    def id(self) -> str:
        """Its name in the record of finished slices."""
        return f"{self.etype}: {self.sweep}: {self.fixed:#x}: {self.start:#x}-{self.stop:#x}"


def swept_types() -> tuple[ElementType, ...]:
    """The element types of 8 and 16 bits."""
    return tuple(etype for etype in load_spec().element_types if etype.width in (8, 16))


def slices(etype: ElementType, *, in_c: bool) -> Iterator[Slice]:
    """The sweeps of an element type, in a fixed order; every pair of bounds is for C alone."""
    if etype.width == 8:
        yield from (Slice(etype.id, TRIPLES, start=n, stop=n + 32) for n in range(0, 256, 32))
        yield Slice(etype.id, TABLE)
        return
    for name, pattern in ends(etype).items():
        for side, sweep in (("max", MIN_SWEEP), ("min", MAX_SWEEP)):
            for start in range(0, 1 << 16, _PLANE):
                yield Slice(etype.id, sweep.format(name), side, pattern, start, start + _PLANE)
    yield Slice(etype.id, SPECIAL)
    yield Slice(etype.id, TABLE)
    if in_c:
        yield from (
            Slice(etype.id, BOUNDS, start=start, stop=start + _MINS) for start in range(0, 1 << 16, _MINS)
        )
    else:
        more = (int(encode(text, etype)) for text in _MORE[etype.family])
        for pattern in dict.fromkeys((*ends(etype).values(), *more)):
            yield from (Slice(etype.id, SPECIAL_BOUND, side, pattern, 0, 1 << 16) for side in ("min", "max"))


def ends(etype: ElementType) -> dict[str, int]:
    """The bounds that bound nothing, by name: the extremes, or both infinities and NaN."""
    if isinstance(etype.bits, FloatBits):
        top = infinity(etype.bits)
        return {"-inf": top | sign_bit(etype.bits), "inf": top, "nan": constant_pattern("nan", etype.bits)}
    return {name: int(encode(name, etype)) for name in ("lowest", "highest")}


def three(etype: ElementType) -> tuple[int, int]:
    """Two X for every pair of bounds: the least number, and a NaN if there is one; the third is min."""
    first, *_, last = ends(etype).values()
    return first, last if isinstance(etype.bits, FloatBits) else int(encode("0", etype))
