"""Judges units on this machine: makes the calls of each in a process of its own, and counts the results."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.judge_forms import judge_forms
from sonnx_clip.conform.plan import calls_of, chosen, few_calls, size_of
from sonnx_clip.conform.results import UnitResult
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session, cut, sample
from sonnx_clip.conform.tally import Tally
from sonnx_clip.root.terminal import duration
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.check_report import Stop
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.options import Unit
    from sonnx_clip.conform.plan import Calls
    from sonnx_clip.runtimes.calls import Request
    from sonnx_clip.runtimes.worker import Worker

STRIDED = "how X lies in memory: its entries were given one behind the other"
"""What is not seen of a runtime to which strides do not matter."""

_BY_MEMORY = frozenset(layout.id for layout in LAYOUTS if layout.by_memory)
_SAMPLE = 16  # calls of a request whose form was always refused
_FIRST, _THEN = 5.0, 60.0  # seconds before the first report of progress, and between two
_SLOW = 60.0  # seconds left, below which progress is not reported


class LocalJudge:
    """Judges units in threads of this process, each with the runtime in a process of its own.

    Args:
        jobs: how many units are judged at once.
        on_pace: called with the progress of each slow unit.
    """

    def __init__(self, jobs: int = 1, on_pace: Callable[[str], None] = lambda _: None) -> None:
        self.places, self._on_pace = jobs, on_pace
        self._workers: set[Worker] = set()
        self._lock, self._stopped = threading.Lock(), False

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """The result of a unit, and the seconds that it took."""
        began = time.monotonic()
        return self._judge(unit), time.monotonic() - began

    def stop(self) -> None:
        """End every process."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.kill()

    def _judge(self, unit: Unit) -> UnitResult:
        options = unit.options
        unopened: Stop | None = None
        forms_only = bool(options.of.dialect)
        opened = options.runtime, unit.etype, options.limits
        try:
            try:
                session = Session(*opened, models_only=forms_only, node=options.of.node)
            except UnsupportedError as error:
                unopened = ("unsupported", str(error))
                if not error.opens_models or not unit.first:
                    return UnitResult(version=error.version, unopened=unopened)
                session = Session(*opened, models_only=True)
        except RuntimeDiedError as error:
            died = f"{error} while it was opened"
            return UnitResult(version=options.runtime, unopened=("crashed", died))
        worker = session.worker
        worker.few = worker.few or options.few_calls
        with self._lock:
            self._workers.add(worker)
            if self._stopped:
                worker.kill()
        try:
            found: dict[str, Any] = {"unopened": unopened}
            if unopened is None and not forms_only:
                found |= self._count(session, unit)
            if found.get("stopped") is None and (forms_only or (unit.first and worker.models)):
                found |= judge_forms(session, unit)
            return UnitResult(version=worker.version, remarks=tuple(session.remarks), **found)
        finally:
            with self._lock:
                self._workers.discard(worker)
            worker.close()

    def _count(self, session: Session, unit: Unit) -> dict[str, Any]:
        """Make all calls, and count their results: fields of the result of a unit."""
        worker, of, stopped, made = session.worker, unit.options.of, None, 0
        etype = of.spec.element_type(unit.etype)
        tally = Tally(etype, unit.options.policy, of, keep=unit.first)
        at = self._pace(unit.name, size_of(etype, unit.part, few=worker.few))
        worker.on_call = lambda call: at(made + call)
        if not unit.first:
            calls = calls_of(etype, unit.part)
        else:
            calls = few_calls(etype) if worker.few else chosen(etype, of)
        try:
            for request, table in reaching(calls, strides=worker.strides, entries=worker.entries):
                if tally.refuses(request):
                    tally.add_all(session.ask(*sample(request, table, _SAMPLE)))
                if not tally.refuses(request):
                    tally.add_all(session.ask(request, table))
                    made += request.count
                    at(made)
        except (GaveUpError, EnvironmentFaultError) as error:
            stopped = error.verdict, str(error)
        return {
            "tally": tally.counts, "readings": tally.readings, "stopped": stopped, "longest": worker.entries,
            "unasked": () if worker.strides else (STRIDED,), "few": worker.few,
        }  # fmt: skip

    def _pace(self, name: str, calls: int) -> Callable[[int], None]:
        """Reports the progress of a unit that is slow, given the calls made: soon, and then once a minute."""
        began = time.monotonic()
        next_ = began + _FIRST

        def at(done: int) -> None:
            nonlocal next_
            now = time.monotonic()
            left = max(0, calls - done) * (now - began) / max(1, done)
            if now >= next_ and done and left >= _SLOW:
                next_ = now + _THEN
                self._on_pace(f"{name}: {done:,} of about {calls:,} calls, about {duration(left)} left")

        return at


def reaching(calls: Calls, *, strides: bool, entries: int | None) -> Calls:
    """The requests of a plan as a runtime can take them.

    Args:
        calls: requests, each with what is expected.
        strides: whether layouts that differ in memory alone are asked.
        entries: the most entries of a call; longer calls are made in pieces that cover all of X.
    """
    for request, table in calls:
        if not strides and request.layout in _BY_MEMORY:
            continue
        if entries is None or request.length <= entries:
            yield request, table
            continue
        lengths = np.full(request.count, request.length) if request.lengths is None else request.lengths
        for length in np.unique(lengths).tolist():
            yield _in_pieces(*cut(request, table, np.flatnonzero(lengths == length)), entries)


def _in_pieces(request: Request, table: Table, entries: int) -> tuple[Request, Table]:
    firsts = np.arange(0, request.length, entries)
    rows = np.repeat(np.arange(request.count), len(firsts))
    starts = (request.starts[:, None] + firsts).reshape(-1) % len(request.pool)
    scalars = tuple(scalar[rows] for scalar in request.scalars)
    length = min(entries, request.length)
    pieces = replace(request, length=length, starts=starts, scalars=scalars, at_start=None)
    return pieces, table.rows(rows)
