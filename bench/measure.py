"""All contestants on all cases: who took how long, who was not there, and whose answer was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sonnx_clip
from bench.contestants import CONTESTANTS, COPIES, EXACT, OURS, Contestant
from bench.inputs import TYPES, Case, kinds_of, make_case
from bench.peers import NotThereError
from bench.timing import Figure, interleave
from sonnx_clip.conform.dtypes import Array, bits_type
from sonnx_clip.errors import UserError
from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

# Seconds that the contestants share on one case; a size that needs more for the fewest rounds takes more.
BUDGETS = {1_000: 0.15, 100_000: 0.6, 10_000_000: 0.6}


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
    types: Iterable[str] = TYPES,
    budgets: Mapping[int, float] = BUDGETS,
    contestants: Mapping[str, Contestant] = CONTESTANTS,
    on_cell: Callable[[str, str, int], None] = lambda *_: None,
) -> Iterator[Cell]:
    """Measure every kind of input of each type and size.

    Raises:
        UserError: an implementation of ours gave a wrong answer; there is no point in its speed.
    """
    for etype in types:
        for size, budget in budgets.items():
            for kind in kinds_of(etype):
                on_cell(etype, kind, size)
                yield measure_case(make_case(etype, kind, size), budget, contestants)


def measure_case(case: Case, budget: float, contestants: Mapping[str, Contestant] = CONTESTANTS) -> Cell:
    """Let all who can take this case answer it, judge the answers, and then time them."""
    y, due = case.output(), load_oracle().clip(case.x, case.lower, case.upper)
    calls, absent, wrong = {}, {}, {}
    with np.errstate(invalid="ignore"):  # NumPy warns of a NaN in a 16-bit float, and that takes time
        for name, make in contestants.items():
            try:
                call = make(case, y)
            except NotThereError as error:
                absent[name] = str(error)
                continue
            y.view(np.uint8).fill(0xA5)
            call()
            if (
                name == OURS
                and (found := sonnx_clip.clip(case.x, case.lower, case.upper).dtype) != case.x.dtype
            ):
                raise UserError(f"{name} returned {found} for {case.etype}", todo="run `make test`")
            if number := _deviations(name, case, y, due):
                wrong[name] = number
            calls[name] = call
        figures = interleave(calls, budget)
    return Cell(case.etype, case.kind, case.size, figures, absent, wrong)


def _deviations(name: str, case: Case, y: Array, due: Array) -> int:
    """How many answers are wrong: as numbers for a peer, in any bit for ours and for a copy."""
    bits = bits_type(case.etype)
    if name in EXACT or name in COPIES:
        wanted = case.x if name in COPIES else due
        number = int(np.count_nonzero(y.view(bits) != wanted.view(bits)))
        if number:
            where = f"{case.etype}, {case.kind}, {case.size} elements"
            raise UserError(f"{name} gave {number} wrong answers", where, "run `make test`")
        return 0
    same = (y == due) | (np.isnan(y) & np.isnan(due))
    return case.size - int(np.count_nonzero(same))
