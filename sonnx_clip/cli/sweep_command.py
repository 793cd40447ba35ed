"""`sonnx-clip sweep`: runs the exhaustive comparison, prints its result and writes the record."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sonnx_clip import __version__
from sonnx_clip.cli.scheduler import here_and_there, workers_of
from sonnx_clip.language import show, show_bits
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.terminal import counted
from sonnx_clip.spec import load_spec
from sonnx_clip.sweep.run_sweep import Done, chosen_types, seconds_of, sweep, unfinished
from sonnx_clip.sweep.slices import NAMES, TABLE, find_subject
from sonnx_clip.sweep.sweep_record import judge_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.machines.dask_workers import DaskWorkers
    from sonnx_clip.sweep.run_sweep import Cut

_PLAIN_WIDTH = 110


def run(
    *,
    names: Sequence[str],
    types: Sequence[str],
    jobs: int | None,
    as_json: bool,
    build: Path,
    scheduler: str | None = None,
    cut: Cut | None = None,
) -> int:
    """Sweep, print what was found, and write sweep.json if everything was swept.

    Args:
        names: implementations; by default both.
        types: ids of element types; by default all of 8 and 16 bits.
        jobs: processes at once; by default as many as there are processors.
        as_json: print JSON instead of a table.
        build: holds the records of finished slices, and the result.
        scheduler: the address of a Dask scheduler, whose workers sweep instead.
        cut: as for `sweep`.

    Returns:
        0 if every result is the one that is expected, 1 if not or if nothing was compared.

    Raises:
        UserError: a name is not known, there is no compiler, a file cannot be written, or the scheduler
            and its workers are not there or not as this machine is.
    """
    subjects, chosen = tuple(dict.fromkeys(names)) or NAMES, chosen_types(types)
    console = Console(stderr=as_json)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    start = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    folder, at_once = build / "sweep", jobs or os.cpu_count() or 1
    with ExitStack() as left_open:
        workers = None
        if scheduler is not None:
            workers = left_open.enter_context(workers_of(scheduler))
            print(_plan_words(subjects, chosen, folder, at_once, workers, cut), file=sys.stderr)
        bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        left_open.enter_context(bar)
        done = sweep(subjects, chosen, folder, at_once, _teller(bar, console), workers, cut)
    seconds = time.monotonic() - start
    complete = set(NAMES) <= set(subjects) and chosen == chosen_types(())
    data = document(done, subjects, complete=complete)
    if complete:
        write_whole(build / "sweep.json", json.dumps(data, indent=1) + "\n")
    if as_json:
        print(json.dumps(data, indent=1))
    else:
        _print(console, done)
        if not complete:
            console.print(f"a part of the sweeps: {build}/sweep.json stays as it is", highlight=False)
    console.print(closing(done, seconds), highlight=False, soft_wrap=True)
    return 0 if data["agree"] else 1


def _plan_words(
    subjects: Sequence[str], types: Sequence[ElementType], folder: Path, jobs: int, workers: DaskWorkers,
    cut: Cut | None,
) -> str:  # fmt: skip
    left, every = unfinished(subjects, types, folder, cut)
    time_ = here_and_there(seconds_of(left) if left else None, jobs, workers)
    return f"plan: {counted(every, 'slice')}, {every - len(left)} of them swept before{time_}"


def document(done: Sequence[Done], subjects: Sequence[str], *, complete: bool) -> dict[str, Any]:
    """What sweep.json holds."""
    found = [find_subject(name) for name in subjects]
    return {
        "tool": f"sonnx-clip {__version__}",
        "machine": platform.machine(),
        "complete": complete,
        "agree": bool(done) and all(d.swept.compared and not d.swept.wrong for d in done),
        "spec_sha256": load_spec().digest,
        "judged_by": judge_digest(),
        "implementations": {s.name: {"version": s.version, "digest": s.digest} for s in found},
        "sweeps": [
            {
                "implementation": d.subject,
                "type": d.etype,
                "sweep": d.sweep,
                "compared": d.swept.compared,
                "wrong": d.swept.wrong,
                "first_wrong": wrong_text(d),
            }
            for d in done
        ],
    }


def wrong_text(done: Done) -> str | None:
    """The first wrong result of a sweep, in numbers and in bits."""
    if not done.swept.first:
        return None
    etype = load_spec().element_type(done.etype)
    x, lower, upper, got = (f"{show(v, etype)} ({show_bits(v, etype)})" for v in done.swept.first)
    return f"clip({x}, {lower}, {upper}) gave {got}"


def closing(done: Sequence[Done], seconds: float) -> str:
    """The last line: what agrees, of how many."""
    results = [d.swept for d in done if d.sweep != TABLE]
    tables = {d.etype: d.swept for d in done if d.sweep == TABLE}.values()  # of one type the same for all
    compared = sum(swept.compared for swept in results)
    agree = compared - sum(swept.wrong for swept in results)
    checked = sum(swept.compared for swept in tables)
    right = checked - sum(swept.wrong for swept in tables)
    types, subjects = {d.etype for d in done}, dict.fromkeys(d.subject for d in done)
    kinds = f"{counted(len(types), 'type')}, {', '.join(subjects)}"
    nothing = "; a sweep that compared nothing proves nothing" if not compared else ""
    judge = f"; the table agrees with the oracle on {right:,} of {checked:,}" if checked else ""
    return f"{agree:,} of {compared:,} results agree ({kinds}; {seconds:.0f} s){judge}{nothing}"


def _print(console: Console, done: Sequence[Done]) -> None:
    table = Table("implementation", "type", "sweep", box=None)
    table.add_column("compared", justify="right")
    table.add_column("wrong", justify="right")
    for d in done:
        table.add_row(d.subject, d.etype, d.sweep, f"{d.swept.compared:,}", f"{d.swept.wrong:,}")
    console.print(table)
    for d in done:
        if text := wrong_text(d):
            console.print(f"[red]wrong[/]: {d.subject}, {d.etype}: ", end="")
            console.print(text, markup=False, highlight=False, soft_wrap=True)


def _teller(bar: Progress, console: Console) -> Callable[[int, int], None]:
    """A bar on a terminal; elsewhere a line at each tenth of the work, on standard error."""
    task = bar.add_task("sweeping", total=None)
    beside, said = Console(stderr=True, width=_PLAIN_WIDTH), [0]

    def tell(count: int, total: int) -> None:
        bar.update(task, completed=count, total=total)
        if not console.is_terminal and count * 10 >= said[0] * total:
            beside.print(f"sweeping: {count} of {total} slices", highlight=False)
            said[0] = count * 10 // max(total, 1) + 1

    return tell
