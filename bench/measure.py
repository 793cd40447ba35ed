"""All contestants on all cases: who took how long, who was not there, and whose answer was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sonnx_clip
from bench.contestants import CONTESTANTS, COPIES, EXACT, OURS, Contestant
from bench.inputs import TYPES, Case, kinds_of, make_case
from bench.peers import NotThereError
from bench.timing import Call, Figure, Race
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

# Seconds that the contestants share on one case, and in how many turns: the turns of a case lie far apart, so
# that a minute in which the machine was busy with something else spoils one of them and not the median.
# A case that needs more time for the fewest rounds takes it. Large ones take one turn, since all cases of a
# size are in memory together, and ordinary values alone.
BUDGETS = {1_000: 0.15, 100_000: 0.6, 10_000_000: 2.5}
TURNS = 3
_LARGE = 1_000_000


@dataclass(frozen=True)
class Cell:
    """One case and its figures.

    Args:
        etype, kind, size: the case.
        figures: contestant -> its time.
        absent: contestant -> why it took no part.
        wrong: contestant -> how many of its answers are no entry that is due, as numbers.
    """

    etype: str
    kind: str
    size: int
    figures: Mapping[str, Figure]
    absent: Mapping[str, str]
    wrong: Mapping[str, int]


def measure(
    types: Sequence[str] = TYPES,
    budgets: Mapping[int, float] = BUDGETS,
    contestants: Mapping[str, Contestant] = CONTESTANTS,
    on_turn: Callable[[str], None] = lambda _: None,
) -> Iterator[Cell]:
    """Measure each type and size; `on_turn` is told each turn before it is measured.

    Small sizes are measured with every kind of input, large ones with ordinary values.

    Raises:
        UserError: an implementation of ours gave a wrong answer; there is no point in its speed.
    """
    kinds = [(etype, kind) for etype in types for kind in kinds_of(etype)]
    for size, budget in budgets.items():
        if size >= _LARGE:
            for etype in types:
                on_turn(f"{etype}, ordinary, {size:,}")
                yield measure_case(make_case(etype, "ordinary", size), budget, contestants)
            continue
        heats = [Heat(make_case(etype, kind, size), contestants) for etype, kind in kinds]
        for _ in range(TURNS):
            for heat in heats:
                on_turn(f"{heat.case.etype}, {heat.case.kind}, {size:,}")
                heat.run(budget / TURNS)
        yield from (heat.cell() for heat in heats)


def turns(types: Sequence[str], budgets: Mapping[int, float]) -> int:
    """How many turns `measure` takes."""
    kinds = sum(len(kinds_of(etype)) for etype in types)
    return sum(len(types) if size >= _LARGE else TURNS * kinds for size in budgets)


def measure_case(case: Case, budget: float, contestants: Mapping[str, Contestant] = CONTESTANTS) -> Cell:
    """Measure one case in one turn."""
    heat = Heat(case, contestants)
    heat.run(budget)
    return heat.cell()


class Heat:
    """All who can take a case: their answers are judged at once, their speed is measured turn by turn.

    Raises:
        UserError: an implementation of ours gave a wrong answer.
    """

    def __init__(self, case: Case, contestants: Mapping[str, Contestant]) -> None:
        self.case = case
        self._absent: dict[str, str] = {}
        self._wrong: dict[str, int] = {}
        y, due = case.output(), load_oracle().clip(case.x, case.lower, case.upper)
        calls: dict[str, Call] = {}
        with np.errstate(invalid="ignore"):
            for name, make in contestants.items():
                try:
                    call = make(case, y)
                except NotThereError as error:
                    self._absent[name] = str(error)
                    continue
                y.view(np.uint8).fill(0xA5)
                call()
                if number := _deviations(name, case, y, due):
                    self._wrong[name] = number
                calls[name] = call
            self._race = Race(calls)

    def run(self, budget: float) -> None:
        """Measure for about `budget` seconds."""
        with np.errstate(invalid="ignore"):  # NumPy warns of a NaN in a 16-bit float, and that takes time
            self._race.run(budget)

    def cell(self) -> Cell:
        """The figures so far."""
        case = self.case
        return Cell(case.etype, case.kind, case.size, self._race.figures(), self._absent, self._wrong)


def _deviations(name: str, case: Case, y: Array, due: Array) -> int:
    """How many answers are wrong: as numbers for a peer, in any bit for ours and for a copy."""
    bits, where = bits_type(case.etype), f"{case.etype}, {case.kind}, {case.size} elements"
    if name == OURS and (found := sonnx_clip.clip(case.x, case.lower, case.upper).dtype) != case.x.dtype:
        raise UserError(f"{name} returned {found}", where, "run `make test`")
    if name in EXACT or name in COPIES:
        wanted = case.x if name in COPIES else due
        number = int(np.count_nonzero(y.view(bits) != wanted.view(bits)))
        if number:
            raise UserError(f"{name} gave {number} wrong answers", where, "run `make test`")
        return 0
    same = (y == due) | (np.isnan(y) & np.isnan(due))
    return case.size - int(np.count_nonzero(same))
