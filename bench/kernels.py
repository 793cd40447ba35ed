"""How fast Clip is: ours against NumPy, PyTorch and ONNX Runtime, as ratios of one run on one thread.

    python -m bench.kernels [--quick] [--processor avx2] [--output build/bench]

Writes kernels.json, kernels.md, kernels.png and kernels.svg. A peer that is not installed is left out, and
named. A ratio that misses its target is measured a second time. Exit status: 0 measured; 1 a ratio missed its
target twice; 2 an answer of ours was wrong, or a file cannot be written.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import checker, plot, report
from bench.contestants import CONTESTANTS, Contestant
from bench.inputs import TYPES, make_case
from bench.measure import BUDGETS, Cell, measure, measure_case, turns
from bench.peers import NotThereError
from bench.processor import PROCESSORS, limit
from bench.targets import TARGETS, Row, Target, judge, second_chance
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import make_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Extent:
    """What one run measures.

    Args:
        types: the element types.
        budgets: size -> seconds for each case.
        checker: seconds for each type of a row of the checker.
        contestants: who takes part.
        targets: what is wanted of their ratios.
    """

    types: Sequence[str] = TYPES
    budgets: Mapping[int, float] = field(default_factory=lambda: BUDGETS)
    checker: float = 0.3
    contestants: Mapping[str, Contestant] = field(default_factory=lambda: CONTESTANTS)
    targets: Sequence[Target] = TARGETS


WHOLE = Extent()
QUICK = Extent(("int8", "float16", "bfloat16", "float32"), {1_000: 0.01, 100_000: 0.02}, 0.02)


def main(arguments: Sequence[str] | None = None, *, quick: Extent = QUICK) -> int:
    """Measure, judge, print and write; the exit status. ``--quick`` measures what `quick` says."""
    title = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.kernels", description=title)
    parser.add_argument(
        "--quick", action="store_true", help="few types and small sizes: rough figures, for tests"
    )
    parser.add_argument("--output", type=Path, default=Path("build/bench"), help="folder to write to")
    parser.add_argument(
        "--processor", choices=PROCESSORS, default="this", help="as it is, or without what is beyond AVX2"
    )
    asked = parser.parse_args(arguments)
    try:
        limited = limit(asked.processor, sys.argv[1:] if arguments is None else arguments)
        rows = _run(asked.output, limited, quick if asked.quick else WHOLE)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return status(rows)


def status(rows: Iterable[Row]) -> int:
    """The exit status: 1 where a ratio missed its target twice, else 0."""
    return 1 if any(row.fails for row in rows) else 0


def _run(folder: Path, limited: Mapping[str, str], extent: Extent) -> list[Row]:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    make_folder(folder)
    before, began = report.load(), time.monotonic()
    cells = _cells(console, extent)

    def again(cell: Cell) -> Cell:
        case = make_case(cell.etype, cell.kind, cell.size)
        return measure_case(case, extent.budgets[cell.size], extent.contestants)

    rows = [*judged(cells, again, extent.targets), *checker.rows(extent.types, extent.checker)]
    machine = report.describe_machine(before, limited)
    seconds = time.monotonic() - began
    write_whole(
        folder / "kernels.json", json.dumps(report.document(rows, cells, machine, seconds), indent=1) + "\n"
    )
    write_whole(folder / "kernels.md", report.markdown(rows, cells, machine))
    notes = remarks(cells)
    try:
        plot.draw(cells, machine.sentence(), folder)
    except NotThereError as error:
        notes.append(f"no picture: {error}")
    for size in dict.fromkeys(cell.size for cell in cells):
        console.print(report.times_table(cells, size))
    console.print(report.targets_table(rows))
    for line in notes:
        console.print(line, markup=False)
    console.print(machine.sentence(), markup=False, style="dim")
    console.print(f"measured in {seconds:.0f} s; written to {folder}/kernels.*", markup=False)
    return rows


def judged(
    cells: Sequence[Cell], again: Callable[[Cell], Cell], targets: Sequence[Target] = TARGETS
) -> Iterator[Row]:
    """The row of each target; the cases that miss it are measured a second time, and that counts.

    Args:
        cells: what was measured.
        again: measures a case a second time.
        targets: what is wanted.
    """
    for target, first in zip(targets, judge(cells, targets), strict=True):

        def measure_again(target: Target = target) -> Row:
            missed = (judge([cell], [target])[0].met is False for cell in cells)
            seen = [again(cell) if miss else cell for cell, miss in zip(cells, missed, strict=True)]
            return judge(seen, [target])[0]

        yield second_chance(first, measure_again)


def _cells(console: Console, extent: Extent) -> list[Cell]:
    what = (extent.types, extent.budgets, extent.contestants)
    total = turns(extent.types, extent.budgets)
    if not console.is_terminal:
        console.print(f"measuring, {total} turns")
        return list(measure(*what))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # No refreshing thread: it would take time from what is measured.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=total)

        def show(turn: str) -> None:
            progress.update(task, description=turn, advance=1)
            progress.refresh()

        return list(measure(*what, on_turn=show))


def remarks(cells: Sequence[Cell]) -> list[str]:
    """One line for each contestant that was not there, and for each whose answers were wrong."""
    absent: dict[tuple[str, str], dict[str, None]] = {}
    wrong: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, why in cell.absent.items():
            absent.setdefault((name, why), {})[cell.etype] = None
        for name in cell.wrong:
            wrong.setdefault(name, {})[f"{cell.etype} {cell.kind}"] = None
    every = {cell.etype for cell in cells}
    lines = []
    for (name, why), types in absent.items():
        where = "" if types.keys() == every else f" for {', '.join(types)}"
        lines.append(f"{name} is not there{where}: {why}")
    return lines + [f"{name} gave wrong answers (!): {', '.join(cases)}" for name, cases in wrong.items()]


if __name__ == "__main__":
    sys.exit(main())
