"""Clip drawn by evaluating the specification: y over x for six kinds of bounds, and special values.

Each point is evaluated from the cases in spec/clip.yaml.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sonnx_clip.language import decode, encode, show
from sonnx_clip.language.special import special_patterns
from sonnx_clip.spec import evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.spec import Spec

Point: TypeAlias = tuple[float, float]

TYPE = "float32"
WIDTH, HEIGHT = 300, 236  # of a panel, in the unit of SVG, as are all positions
LEFT, RIGHT, TOP, BOTTOM = 66.0, 226.0, 58.0, 182.0  # of the ordinary numbers
COLUMNS = {"-inf": 48.0, "inf": 244.0, "nan": 276.0}  # of X beyond them
ROWS = {"-inf": 200.0, "inf": 40.0, "nan": 16.0}  # of Y beyond them
SIGNS = {"-inf": "−∞", "inf": "+∞", "nan": "NaN"}
_STEPS = 16  # samples for each unit of X
SPECIAL_X = ("-inf", "-2", "-0", "0", "2", "inf", "nan")
SPECIAL_BOUNDS = (
    ("-1", "1"), ("-1", "-0"), ("0", "1"), ("-0", "0"), ("0", "-0"), ("-inf", "inf"),
    ("1", "-1"), ("inf", "-inf"), ("nan", "1"), ("-1", "nan"), ("nan", "nan"),
)  # fmt: skip


class Line(NamedTuple):
    """Neighbouring samples of one case, of which each gives an operand: the first and the last are joined."""

    case: str
    points: tuple[Point, Point]


class Mark(NamedTuple):
    """A special X: its position, its case, and its label."""

    case: str
    at: Point
    said: str


class Panel(NamedTuple):
    """One kind of bounds. Ticks are positions on both axes, and labels."""

    title: str
    low: str
    high: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, float, str], ...]


class SpecialCell(NamedTuple):
    """Clip of one special X between two bounds; `latitude` names the other answers that are acceptable."""

    shown: str
    case: str
    klass: str
    latitude: tuple[str, ...]


def panels(spec: Spec) -> tuple[Panel, ...]:
    """Ordered, equal, inverted and NaN bounds, all made of one pair: that of the first case that gives L."""
    # Of spec/clip.yaml, so that the picture has no numbers of its own.
    witness = next(case.inhabited_by for case in spec.cases if case.result_text == "L")
    low = witness.L
    high = witness.M
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
        self.etype = spec.element_type(TYPE)
        self.ask = evaluator(spec, self.etype)
        margin = (high - low) / 2  # so that Y is seen to leave X on both sides
        self.least = min(low - margin, Fraction(-1))  # 0 has a tick on every panel
        self.greatest = high + margin

    def x(self, number: Fraction | str) -> float:
        if isinstance(number, str):
            return COLUMNS[number]
        return LEFT + self._part(number) * (RIGHT - LEFT)

    def y(self, number: Fraction | str) -> float:
        if isinstance(number, str):
            return ROWS[number]
        return BOTTOM - self._part(number) * (BOTTOM - TOP)  # SVG counts from the top

    def _part(self, number: Fraction) -> float:
        return float((number - self.least) / (self.greatest - self.least))

    def panel(self, title: str, low: str, high: str) -> Panel:
        ticks = []
        for text in dict.fromkeys(("0", low, high)):
            if text == "nan":  # it is on no axis
                continue
            number = Fraction(text)
            ticks.append((self.x(number), self.y(number), text))
        l = encode(low, self.etype)
        m = encode(high, self.etype)
        # Lines are of ordinary numbers; infinities, zeros and NaN are marks beside them.
        return Panel(
            title=title,
            low=low,
            high=high,
            lines=tuple(self._lines(l, m)),
            marks=tuple(self._marks(l, m)),
            ticks=tuple(ticks),
        )

    def _lines(self, l: Value, m: Value) -> Iterator[Line]:
        """A line for each run of samples with one case: within it Y is X or a bound, thus straight."""
        count = int((self.greatest - self.least) * _STEPS) + 1
        placed = []
        for step in range(count):
            sample = float(self.least + Fraction(step, _STEPS))  # exact in a double
            # As text: special values come by their names, and one function places both.
            placed.append(self._placed(repr(sample), l, m))
        for case, run in groupby(placed, key=itemgetter(0)):
            points = [point for _, point in run]
            yield Line(case, (points[0], points[-1]))

    def _marks(self, l: Value, m: Value) -> Iterator[Mark]:
        # The zeros have one place: their marks are beside each other.
        shifts = {"-inf": 0.0, "-0": -4.5, "0": 4.5, "inf": 0.0, "nan": 0.0}
        for text, shift in shifts.items():
            case, (x, y) = self._placed(text, l, m)
            result = self.ask.result(encode(text, self.etype), l, m)
            label = f"X = {text}: Y = {show(result, self.etype)} ({case})"
            yield Mark(case, (x + shift, y), label)

    def _placed(self, text: str, l: Value, m: Value) -> tuple[str, Point]:
        """The case of an X, and where it is drawn."""
        x = encode(text, self.etype)
        y = self.ask.result(x, l, m)
        across = self.x(decode(x, self.etype))
        down = self.y(decode(y, self.etype))
        return self.ask.case(x, l, m).id, (across, down)


def special_values_table(spec: Spec) -> dict[str, list[SpecialCell]]:
    """Clip of each special X between each pair of special bounds."""
    etype = spec.element_type(TYPE)
    table = {}
    for x in SPECIAL_X:
        table[x] = [_special(spec, etype, x, *bounds) for bounds in SPECIAL_BOUNDS]
    return table


def _special(spec: Spec, etype: ElementType, *texts: str) -> SpecialCell:
    ask = evaluator(spec, etype)
    triple = tuple(encode(text, etype) for text in texts)
    expected = ask.result(*triple)
    # The special values have zeros and NaNs of both signs: each latitude accepts some of them.
    latitude: dict[str, None] = {}
    for answer in special_patterns(etype):
        if answer == expected:
            continue
        for entry in ask.latitudes(triple, answer):
            # What is accepted everywhere distinguishes no cell.
            if not entry.always:
                latitude[entry.id] = None
    return SpecialCell(
        shown=show(expected, etype),
        case=ask.case(*triple).id,
        klass=ask.class_of(*triple).id,
        latitude=tuple(latitude),
    )
