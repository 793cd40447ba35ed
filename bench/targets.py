"""The targets, and whether they are met. A ratio that is missed is measured again before it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bench.contestants import COPIES, NUMPY, ONNXRUNTIME, OURS, OURS_C, OURS_NUMPY, TORCH
from bench.inputs import FLOATS, INTEGERS, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bench.measure import Cell

SMALL, MIDDLE = 1_000, 100_000
_WIDE_FLOATS = ("float32", "float64")
_NOT_16_BIT = INTEGERS + _WIDE_FLOATS
_NUMBERS = ("ordinary", "inverted", "zero")
_NO_ZERO_BOUND = ("ordinary", "inverted", "nan")


@dataclass(frozen=True)
class Target:
    """What is wanted of one ratio, over some types and kinds of input.

    Args:
        what: the row's name.
        ours: the contestant that is judged.
        theirs: those that it is compared with; the fastest of them counts.
        sense: ``at most`` for our time over theirs, ``at least`` for theirs over ours.
        limit: the target.
        types, kinds, size: the cases; the worst of them counts.
        goal: False for what is reported and no goal.
    """

    what: str
    ours: str
    theirs: tuple[str, ...]
    sense: Literal["at most", "at least"]
    limit: float
    types: tuple[str, ...]
    kinds: tuple[str, ...] = KINDS
    size: int = MIDDLE
    goal: bool = True


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Args:
        what, sense, limit: as in `Target`.
        unit: of figure and limit, ``×`` or ``ms``.
        figure: what was measured, the worst of all cases; None if nothing was.
        worst: the case of `figure`.
        cases: how many cases were compared.
        note: what was left out and why.
        without: the types that were not compared, or not in all cases.
        goal: as in `Target`.
        before: what a measurement before this one gave, which missed the target; None if there was none.
    """

    what: str
    sense: str
    limit: float
    unit: str
    figure: float | None
    worst: str
    cases: int
    note: str = ""
    without: tuple[str, ...] = ()
    goal: bool = True
    before: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if nothing was measured."""
        if self.figure is None:
            return None
        return self.figure <= self.limit if self.sense == "at most" else self.figure >= self.limit

    @property
    def fails(self) -> bool:
        """Whether a ratio that is a goal was missed twice in one run: a time depends on what else runs."""
        return self.goal and self.unit == "×" and self.met is False and self.before is not None

    @property
    def verdict(self) -> str:
        """``met``, ``missed by 12 %`` or ``not measured``, and which types were not compared."""
        if self.figure is None:
            return "not measured"
        said = "met" if self.met else self._missed(self.figure)
        if self.before is not None:
            said += " twice" if not self.met else f" at the second measurement, after {self.before:.2f}"
        if not self.goal:
            said = f"no goal; {said}"
        return f"{said}; not compared: {', '.join(self.without)}" if self.without else said

    def _missed(self, figure: float) -> str:
        over = figure / self.limit if self.sense == "at most" else self.limit / figure
        if over >= 2:
            return f"missed by a factor of {over:.1f}"
        percent = 100 * (over - 1)
        return f"missed by {percent:.0f} %" if percent >= 1 else f"missed by {percent:.1g} %"


def _of_clip(ours: str, name: str, *, goal: bool) -> tuple[Target, ...]:
    return (
        Target(f"{name}, float16, against np.clip",
            ours, (NUMPY,), "at least", 40, ("float16",), _NUMBERS, goal=goal),
        Target(f"{name}, float16, NaNs, against np.clip",
            ours, (NUMPY,), "at least", 20, ("float16",), ("nan",), goal=goal),
        Target(f"{name}, float16, against torch",
            ours, (TORCH,), "at most", 1.1, ("float16",), _NUMBERS, goal=goal),
        Target(f"{name}, bfloat16, against np.clip with out=",
            ours, (NUMPY,), "at least", 3, ("bfloat16",), goal=goal),
        Target(f"{name}, other types, against np.clip",
            ours, (NUMPY,), "at most", 1.05, _NOT_16_BIT, _NO_ZERO_BOUND, goal=goal),
        Target(f"{name}, other types, a zero bound",
            ours, (NUMPY,), "at most", 1.5, _NOT_16_BIT, ("zero",), goal=goal),
        Target(f"{name}, overhead of a call at 1,000 elements, against np.clip",
            ours, (NUMPY,), "at most", 1.5, INTEGERS + FLOATS, ("ordinary",), SMALL, goal=goal),
    )  # fmt: skip


TARGETS = (
    *_of_clip(OURS, "clip", goal=True),
    Target("C, all but 16-bit floats, against a copy", OURS_C, COPIES, "at most", 1.2, _NOT_16_BIT),
    Target(
        "C, all but 16-bit floats, against the faster of torch and onnxruntime",
        OURS_C, (TORCH, ONNXRUNTIME), "at most", 1.05, _NOT_16_BIT,
    ),
    Target("C float16, against np.clip", OURS_C, (NUMPY,), "at least", 100, ("float16",)),
    Target("C bfloat16, against np.clip", OURS_C, (NUMPY,), "at least", 6, ("bfloat16",)),
    Target("C 16-bit floats, against torch", OURS_C, (TORCH,), "at least", 1.8, ("float16", "bfloat16")),
    *_of_clip(OURS_NUMPY, "clip without C", goal=False),
)  # fmt: skip
"""The targets that are ratios of the contestants in `bench.measure`."""


def judge(cells: Iterable[Cell], targets: Sequence[Target] = TARGETS) -> list[Row]:
    """The rows of all targets."""
    known = list(cells)
    return [_row(target, known) for target in targets]


def second_chance(row: Row, measure: Callable[[], Row]) -> Row:
    """`row`, or what a second measurement gives where it is a goal, a ratio and missed: noise misses once."""
    if not row.goal or row.unit != "×" or row.met is not False:
        return row
    return replace(measure(), before=row.figure)


def _row(target: Target, cells: Sequence[Cell]) -> Row:
    found: list[tuple[float, str]] = []
    compared: set[str] = set()
    left_out: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.etype not in target.types or cell.kind not in target.kinds or cell.size != target.size:
            continue
        ratio = ratio_of(cell, target.ours, target.theirs)
        if ratio is None:
            why = cell.absent.get(target.ours, "nobody to compare with")
            left_out.setdefault(why, {})[cell.etype] = None
        else:
            where = cell.etype if len(target.kinds) == 1 else f"{cell.etype}, {cell.kind}"
            compared.add(cell.etype)
            found.append((ratio if target.sense == "at most" else 1 / ratio, where))
    pick: Callable[..., tuple[float, str]] = max if target.sense == "at most" else min
    figure, worst = pick(found) if found else (None, "")
    note = "; ".join(f"without {', '.join(types)}: {why}" for why, types in left_out.items())
    partly = {etype for types in left_out.values() for etype in types}
    without = tuple(etype for etype in target.types if etype in partly or etype not in compared)
    return Row(
        target.what, target.sense, target.limit, "×", figure, worst, len(found), note, without, target.goal
    )


def ratio_of(cell: Cell, ours: str, theirs: Iterable[str]) -> float | None:
    """Our median over the least of theirs; None if we, or all of them, took no part."""
    others = [cell.figures[name].median for name in theirs if name in cell.figures]
    if ours not in cell.figures or not others:
        return None
    return cell.figures[ours].median / min(others)


def relative(cell: Cell) -> Mapping[str, float]:
    """The median of each contestant over that of the faster copy; empty if no copy took part."""
    copies = [cell.figures[name].median for name in COPIES if name in cell.figures]
    return {name: figure.median / min(copies) for name, figure in cell.figures.items() if copies}
