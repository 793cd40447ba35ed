"""Clip drawn by evaluating the specification: y over x for six kinds of bounds, and special values.

Nothing here knows what Clip is: each point is asked of the cases in spec/clip.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.language import decode, encode, show
from sonnx_clip.language.special import special_patterns
from sonnx_clip.spec import evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.spec import Spec

Point: TypeAlias = tuple[float, float]

TYPE = "float32"
WIDTH, HEIGHT = 300, 236
LEFT, RIGHT, TOP, BOTTOM = 66.0, 226.0, 58.0, 182.0  # of the ordinary numbers
COLUMNS = {"-inf": 48.0, "inf": 244.0, "nan": 276.0}  # of X beyond them
ROWS = {"-inf": 200.0, "inf": 40.0, "nan": 16.0}  # of Y beyond them
_STEPS = 16  # samples for each unit of X
SPECIAL_X = ("-inf", "-2", "-0", "0", "2", "inf", "nan")
SPECIAL_BOUNDS = (
    ("-1", "1"), ("-1", "-0"), ("0", "1"), ("-0", "0"), ("0", "-0"), ("-inf", "inf"),
    ("1", "-1"), ("inf", "-inf"), ("nan", "1"), ("-1", "nan"), ("nan", "nan"),
)  # fmt: skip


@dataclass(frozen=True)
class Polyline:
    """Neighbouring samples of one case, joined."""

    case: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Mark:
    """A special X: where it is drawn, its case, and what is said of it."""

    case: str
    at: Point
    said: str


@dataclass(frozen=True)
class Panel:
    """One kind of bounds. Ticks are positions and labels; `identity` is the line Y = X."""

    title: str
    low: str
    high: str
    lines: tuple[Polyline, ...]
    marks: tuple[Mark, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    identity: tuple[Point, Point]


@dataclass(frozen=True)
class SpecialCell:
    """Clip of one special X between two bounds; `latitude` names the other answers that are acceptable."""

    shown: str
    case: str
    klass: str
    latitude: tuple[str, ...]


@dataclass(frozen=True)
class SpecialRow:
    """One special X, between each pair of `SPECIAL_BOUNDS`."""

    x: str
    cells: tuple[SpecialCell, ...]


def panels(spec: Spec) -> tuple[Panel, ...]:
    """Ordered, equal, inverted and NaN bounds, all made of one pair: that of the first case that gives L."""
    witness = next(case.inhabited_by for case in spec.cases if case.result == "L")
    low, high = witness.L, witness.M
    kinds = [
        ("bounds in order", low, high),
        ("equal bounds", high, high),
        ("inverted bounds", high, low),
        ("the lower bound is NaN", "nan", high),
        ("the upper bound is NaN", low, "nan"),
        ("both bounds are NaN", "nan", "nan"),
    ]
    plot = _Plot(spec, Fraction(low), Fraction(high))
    return tuple(plot.panel(*kind) for kind in kinds)


class _Plot:
    """The scale that all panels share."""

    def __init__(self, spec: Spec, low: Fraction, high: Fraction) -> None:
        self.spec, self.etype = spec, spec.element_type(TYPE)
        margin = (high - low) / 2
        self.least, self.greatest = min(low - margin, Fraction(-1)), high + margin

    def x(self, number: Fraction | str) -> float:
        return COLUMNS[number] if isinstance(number, str) else LEFT + self._part(number) * (RIGHT - LEFT)

    def y(self, number: Fraction | str) -> float:
        return ROWS[number] if isinstance(number, str) else BOTTOM - self._part(number) * (BOTTOM - TOP)

    def _part(self, number: Fraction) -> float:
        return float((number - self.least) / (self.greatest - self.least))

    def panel(self, title: str, low: str, high: str) -> Panel:
        l, m = encode(low, self.etype), encode(high, self.etype)
        ticks = {"0": Fraction(0)} | {t: Fraction(t) for t in (low, high) if t != "nan"}
        return Panel(
            title, low, high,
            lines=tuple(self._lines(l, m)),
            marks=tuple(self._marks(l, m)),
            x_ticks=tuple((self.x(v), t) for t, v in ticks.items()),
            y_ticks=tuple((self.y(v), t) for t, v in ticks.items()),
            identity=((LEFT, BOTTOM), (RIGHT, TOP)),
        )  # fmt: skip

    def _lines(self, l: Value, m: Value) -> Iterator[Polyline]:
        count = int((self.greatest - self.least) * _STEPS) + 1
        samples = [self.least + Fraction(k, _STEPS) for k in range(count)]
        drawn = [(x, encode(_decimal(x), self.etype)) for x in samples]
        placed = [
            (evaluator(self.spec, self.etype).case(v, l, m).id, (self.x(x), self.y(self._result(v, l, m))))
            for x, v in drawn
        ]
        for case, run in groupby(placed, key=lambda item: item[0]):
            yield Polyline(case, _corners([point for _, point in run]))

    def _marks(self, l: Value, m: Value) -> Iterator[Mark]:
        for text, shift in (("-inf", 0.0), ("-0", -4.5), ("0", 4.5), ("inf", 0.0), ("nan", 0.0)):
            x = encode(text, self.etype)
            case = evaluator(self.spec, self.etype).case(x, l, m).id
            at = (self.x(decode(x, self.etype)) + shift, self.y(self._result(x, l, m)))
            shown = show(evaluator(self.spec, self.etype).result(x, l, m), self.etype)
            yield Mark(case, at, f"X = {text}: Y = {shown} ({case})")

    def _result(self, x: Value, l: Value, m: Value) -> Fraction | str:
        return decode(evaluator(self.spec, self.etype).result(x, l, m), self.etype)


def _decimal(number: Fraction) -> str:
    """A multiple of 1/16 as a decimal, which is exact in a double."""
    return repr(float(number))


def _corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """The first and last point, and those between at which the slope changes."""
    kept = list(points[:1])
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        bend = (here[1] - before[1]) * (after[0] - here[0]) - (after[1] - here[1]) * (here[0] - before[0])
        if abs(bend) > 1e-6:
            kept.append(here)
    return (*kept, *points[1:][-1:])


def special_table(spec: Spec) -> tuple[SpecialRow, ...]:
    """Clip of each special X between each pair of special bounds."""
    etype = spec.element_type(TYPE)
    return tuple(
        SpecialRow(x, tuple(_special(spec, etype, x, low, high) for low, high in SPECIAL_BOUNDS))
        for x in SPECIAL_X
    )


def _special(spec: Spec, etype: ElementType, *texts: str) -> SpecialCell:
    x, l, m = (encode(text, etype) for text in texts)
    due = evaluator(spec, etype).result(x, l, m)
    others = (answer for answer in special_patterns(etype) if answer != due)
    allowed = (entry for answer in others for entry in evaluator(spec, etype).latitudes((x, l, m), answer))
    latitude = tuple(dict.fromkeys(entry.id for entry in allowed if not entry.always))
    case, klass = evaluator(spec, etype).case(x, l, m).id, evaluator(spec, etype).class_of(x, l, m).id
    return SpecialCell(show(due, etype), case, klass, latitude)
