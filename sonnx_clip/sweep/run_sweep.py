"""Sweeps all slices that are not finished, in many processes, of this machine or of others, and says before
about how long that takes.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

from sonnx_clip.machines.dask_workers import require_same_workers
from sonnx_clip.root.errors import UserError
from sonnx_clip.sweep.slices import find_subject, slices, swept_types
from sonnx_clip.sweep.sweep_record import judge_digest, record_of
from sonnx_clip.sweep.work import Swept, run_slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.machines.dask_workers import DaskWorkers
    from sonnx_clip.sweep.slices import Slice, SweepSubject
    from sonnx_clip.sweep.sweep_record import SweepRecord


_PART = 64  # of a slice one such part is swept, to know how long it takes


def seconds_of(left: Iterable[tuple[SweepSubject, Slice]]) -> float:
    """Seconds of one processor, by a small part of the first slice of each kind.

    The slices without a range are not counted: one or two of an element type.
    """
    known: dict[tuple[str, str, int], float] = {}
    total = 0.0
    for subject, part in left:
        if (size := part.stop - part.start) <= 0:
            continue
        kind = subject.name, part.side, size
        if kind not in known:
            some = max(1, size // _PART)
            small = replace(part, stop=part.start + some)
            run_slice(subject, replace(part, stop=part.start + 1))  # it makes the tables
            began = time.monotonic()
            run_slice(subject, small)
            known[kind] = (time.monotonic() - began) * size / some
        total += known[kind]
    return total


# --- Sweeps all slices that are not finished, in many processes, of this machine or of others ---------------


class Cut(Protocol):
    """Cuts the sweeps of an element type into slices."""

    def __call__(self, etype: ElementType, *, in_c: bool) -> Iterable[Slice]:
        """The slices; `in_c`: of an implementation that is called in C."""


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
    workers: DaskWorkers | None = None,
    cut: Cut | None = None,
) -> tuple[Done, ...]:
    """Sweep implementations in element types.

    Args:
        subjects: names that `find_subject` knows.
        types: element types of 8 or 16 bits.
        folder: holds the records of finished slices.
        jobs: processes at once; with one, everything happens in this process.
        tell: called with the number of finished slices and that of all.
        workers: sweep instead of processes of this machine.
        cut: cuts the sweeps of an element type into slices; `slices`, if None.

    Raises:
        UserError: a name is not known, there is no compiler, a record cannot be written, a worker is not of
            the same code as this machine, or all workers are gone.
    """
    found = [find_subject(name) for name in subjects]
    if workers is not None:
        require_same_workers(workers, sweep_parts, tuple(subject.name for subject in found))
    records = {subject.name: record_of(subject, folder) for subject in found}
    work, results = _work(found, types, cut), _finished(records)
    left = [(subject, part) for subject, part in work if (subject.name, part.id) not in results]
    before = len(work) - len(left)
    tell(before, len(work))
    for count, (subject, part, swept) in enumerate(_run(left, jobs, workers), before + 1):
        records[subject.name].add(part, swept)
        results[subject.name, part.id] = swept
        tell(count, len(work))
    return tuple(_together(work, results))


def unfinished(
    subjects: Sequence[str], types: Sequence[ElementType], folder: Path, cut: Cut | None = None
) -> tuple[list[tuple[SweepSubject, Slice]], int]:
    """The slices that a sweep would sweep now, and how many it has in all; the arguments are its own."""
    found = [find_subject(name) for name in subjects]
    results = _finished({subject.name: record_of(subject, folder) for subject in found})
    work = _work(found, types, cut)
    return [one for one in work if (one[0].name, one[1].id) not in results], len(work)


def _work(
    found: Sequence[SweepSubject], types: Sequence[ElementType], cut: Cut | None
) -> list[tuple[SweepSubject, Slice]]:
    return [(subject, part) for subject in found for part in _parts(subject, types, cut or slices)]


def _finished(records: Mapping[str, SweepRecord]) -> dict[tuple[str, str], Swept]:
    return {
        (name, slice_id): swept
        for name, record in records.items()
        for slice_id, swept in record.finished().items()
    }


def _parts(subject: SweepSubject, types: Sequence[ElementType], cut: Cut) -> Iterable[Slice]:
    return (part for etype in types for part in cut(etype, in_c=subject.pointer is not None))


def _run(
    left: Sequence[tuple[SweepSubject, Slice]], jobs: int, workers: DaskWorkers | None
) -> Iterator[tuple[SweepSubject, Slice, Swept]]:
    pool: Executor
    if workers is not None:
        pool = workers
    elif jobs == 1 or len(left) <= 1:
        yield from ((subject, part, run_slice(subject, part)) for subject, part in left)
        return
    else:
        pool = ProcessPoolExecutor(jobs, mp.get_context("spawn"), _end_with_parent)
    judge = judge_digest()
    try:
        asked = {pool.submit(_in_worker, s.name, s.digest, judge, part): (s, part) for s, part in left}
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


def _in_worker(name: str, digest: str, judge: str, part: Slice) -> Swept:
    subject = find_subject(name)
    if subject.digest != digest:
        raise UserError(f"the code of {name} is other than where the sweep began", todo="sweep again")
    if _own_judge() != judge:
        raise UserError("the code that compares is other than where the sweep began", todo="sweep again")
    return run_slice(subject, part)


@cache
def _own_judge() -> str:
    """As it was when this process began."""
    return judge_digest()


def sweep_parts(names: Sequence[str]) -> dict[str, str]:
    """What sweeps here, for a comparison of machines: implementations by name, and what compares."""
    found = {name: find_subject(name) for name in names}
    versions = {name: f"{subject.version} {subject.digest}" for name, subject in found.items()}
    return {**versions, "what compares": judge_digest()}


def _together(
    work: Iterable[tuple[SweepSubject, Slice]], results: dict[tuple[str, str], Swept]
) -> Iterator[Done]:
    total: dict[tuple[str, str, str], Swept] = {}
    for subject, part in work:
        key = (subject.name, part.etype, part.sweep)
        swept = results[subject.name, part.id]
        total[key] = total[key] + swept if key in total else swept
    return (Done(*key, swept) for key, swept in total.items())
