"""Sweeps all slices that are not finished, on many processes."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.sweep.slices import slices, swept_types
from sonnx_clip.sweep.subjects import find_subject
from sonnx_clip.sweep.sweep_record import record_of
from sonnx_clip.sweep.work import Swept, run_slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.sweep.slices import Slice
    from sonnx_clip.sweep.subjects import SweepSubject


@dataclass(frozen=True)
class Done:
    """One sweep of one implementation in one element type."""

    subject: str
    etype: str
    sweep: str
    swept: Swept


def chosen_types(names: Sequence[str]) -> tuple[ElementType, ...]:
    """The element types of these ids, by default all that are swept; UserError for any other."""
    types = {etype.id: etype for etype in swept_types()}
    if unknown := [name for name in names if name not in types]:
        raise UserError(f"{unknown[0]} is not swept", todo=f"swept are: {', '.join(types)}")
    return tuple(types[name] for name in dict.fromkeys(names)) or tuple(types.values())


def sweep(
    subjects: Sequence[str],
    types: Sequence[ElementType],
    folder: Path,
    jobs: int,
    tell: Callable[[int, int], None],
) -> tuple[Done, ...]:
    """Sweep implementations in element types.

    Args:
        subjects: names that `find_subject` knows.
        types: element types of 8 or 16 bits.
        folder: holds the records of finished slices.
        jobs: processes at once; with one, everything happens in this process.
        tell: called with the number of finished slices and that of all.

    Raises:
        UserError: a name is not known, there is no compiler, or a record cannot be written.
    """
    found = [find_subject(name) for name in subjects]
    work = [(subject, part) for subject in found for part in _parts(subject, types)]
    records = {subject.name: record_of(subject, folder) for subject in found}
    results = {
        (name, slice_id): swept
        for name, record in records.items()
        for slice_id, swept in record.finished().items()
    }
    left = [(subject, part) for subject, part in work if (subject.name, part.id) not in results]
    before = len(work) - len(left)
    tell(before, len(work))
    for count, (subject, part, swept) in enumerate(_run(left, jobs), before + 1):
        records[subject.name].add(part, swept)
        results[subject.name, part.id] = swept
        tell(count, len(work))
    return tuple(_together(work, results))


def _parts(subject: SweepSubject, types: Sequence[ElementType]) -> Iterable[Slice]:
    return (part for etype in types for part in slices(etype, in_c=subject.pointer is not None))


def _run(
    left: Sequence[tuple[SweepSubject, Slice]], jobs: int
) -> Iterator[tuple[SweepSubject, Slice, Swept]]:
    todo = list(left)
    if jobs == 1 or len(todo) <= 1:
        yield from ((subject, part, run_slice(subject, part)) for subject, part in todo)
        return
    pool = ProcessPoolExecutor(jobs, mp.get_context("spawn"), _end_with_parent)
    try:
        asked = {pool.submit(_in_worker, s.name, s.digest, part): (s, part) for s, part in todo}
        for future in as_completed(asked):
            yield (*asked[future], future.result())
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """No worker outlives the command, however that ends; an interrupt is the command's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = mp.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_worker(name: str, digest: str, part: Slice) -> Swept:
    subject = find_subject(name)
    if subject.digest != digest:
        raise UserError(f"the code of {name} has changed during the sweep", todo="sweep again")
    return run_slice(subject, part)


def _together(
    work: Iterable[tuple[SweepSubject, Slice]], results: dict[tuple[str, str], Swept]
) -> Iterator[Done]:
    total: dict[tuple[str, str, str], Swept] = {}
    for subject, part in work:
        key = (subject.name, part.etype, part.sweep)
        swept = results[subject.name, part.id]
        total[key] = total[key] + swept if key in total else swept
    return (Done(*key, swept) for key, swept in total.items())
