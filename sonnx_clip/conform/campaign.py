"""A run of the checker: one runtime against the oracle, unit by unit.

The report names what no verdict of the run covers: a runtime that is wrong at a single unusual X of 32 bits,
at a single long length, or only after very many calls can conform.
"""

from __future__ import annotations

import platform
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

import sonnx_clip
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.identity import cache_identity
from sonnx_clip.conform.local_judge import LocalJudge
from sonnx_clip.conform.plan import FIRST
from sonnx_clip.conform.rerun import confirm
from sonnx_clip.conform.session import Session
from sonnx_clip.conform.verdicts import follows, merged, needed
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.conform.check_report import TypeReport
    from sonnx_clip.conform.options import CheckOptions, Unit
    from sonnx_clip.conform.results import Known, UnitResult
    from sonnx_clip.conform.store import Store
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.terminal import Show


class Judge(Protocol):
    """Judges units: in processes of this machine, or of others."""

    @property
    def places(self) -> int:
        """How many units it takes at once."""

    def judge(self, unit: Unit, known: Known) -> tuple[UnitResult, float]:
        """The result of a unit, and the seconds that it took; threads call it side by side.

        `known` are the kinds of deviations that need no description.
        """

    def stop(self) -> None:
        """End all work: callers that wait get any exception, or a result without worth."""


class InterruptedCampaignError(KeyboardInterrupt):
    """A run was interrupted; `report` covers the calls made until then."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__("interrupted")


def run_campaign(
    options: CheckOptions, *, jobs: int = 1, again: bool = False, store: Store | None = None,
    judge: Judge | None = None, on_progress: Show = lambda _, __: None,
    on_pace: Callable[[str], None] = lambda _: None,
) -> Report:  # fmt: skip
    """Judge a runtime.

    Args:
        options: the runtime, and how it is judged.
        jobs: how many units are judged at once in this process.
        again: whether what a cache holds is replaced.
        store: a journal or a cache of the results of units.
        judge: judges the units elsewhere; it is stopped in the end.
        on_progress: called with the number of units that are judged or not needed, and the last of them.
        on_pace: called with the progress of each slow unit, at most once a minute.

    Raises:
        UserError: the runtime or an element type is not known, a package is missing, or the operator has no
            such level.
        InterruptedCampaignError: the run was interrupted.
    """
    module_of(options.runtime)
    of = options.of
    if not of.is_clip and (options.level != "quick" or store is not None):
        raise UserError(
            f"a campaign is of Clip, and not of {of.spec.operator}", todo="check it at the level quick"
        )
    if store is not None:
        options = replace(options, identity=store.identity)
    judge = judge or LocalJudge(options, jobs, on_pace)
    return _Campaign(options, judge, store, on_progress, again=again).run()


def version_of(options: CheckOptions) -> str:
    """The version that a runtime reports in the first element type that it serves.

    Raises:
        UserError: the machine lacks what it needs.
    """
    version = options.runtime
    for etype in options.element_types:
        try:
            session = Session(options.runtime, etype.id, options.limits)
        except UnsupportedError as error:
            version = error.version
        except RuntimeDiedError:
            continue
        else:
            session.worker.close()
            return session.worker.version
    return version


def _scope(types: Sequence[TypeReport], options: CheckOptions) -> tuple[str, str]:
    if options.of.dialect:
        from sonnx_clip.conform.dialects import dialect_scope  # needs onnx

        return dialect_scope(options.of)
    return scope(types, options.of, options.level, few_calls=options.few_calls)


class _Campaign:
    """Judges units side by side, those of an element type after its first one."""

    def __init__(
        self, options: CheckOptions, judge: Judge, store: Store | None, on_progress: Show, *, again: bool
    ) -> None:
        self._options, self._judge, self._store, self._on_progress = options, judge, store, on_progress
        self._replace = store is not None and store.is_cache and again
        self._began, self._code = time.monotonic(), code_digest(options.runtime)
        types = options.units
        self._results: dict[str, dict[str, UnitResult]] = {etype: {} for etype in types}
        self._begun: dict[str, dict[str, UnitResult]] = {etype: {} for etype in types}
        self._made: dict[str, dict[str, str]] = {etype: {} for etype in types}  # when units were cached
        self._kept: dict[str, str] = {}  # element types of which all was cached
        self._lock, self._stopped, self._done = threading.Lock(), False, 0
        self._pool = ThreadPoolExecutor(judge.places)

    def run(self) -> Report:
        """Judge all units; the report."""
        types = self._options.element_types
        pool = ThreadPoolExecutor(len(types))
        try:
            return self._report(list(pool.map(self._judge_type, types)))
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            self._stop()  # before the report: units at work are left out of it
            if isinstance(error, KeyboardInterrupt):
                raise InterruptedCampaignError(self._report([self._so_far(e) for e in types])) from None
            raise
        finally:
            self._stop()
            pool.shutdown()

    def _report(self, found: Sequence[tuple[str, TypeReport]]) -> Report:
        options, types = self._options, tuple(report for _, report in found)
        whole = [report for report in types if report.unfinished is None]
        return Report(
            tool=f"sonnx-clip {sonnx_clip.__version__}",
            spec_sha256=options.of.oracle.SPEC_DIGEST,
            runtime=options.runtime,
            runtime_version=found[-1][0],
            code_sha256=self._code if options.of.is_clip else None,
            python=platform.python_version(),
            numpy=np.__version__,
            machine=platform.machine(),
            policy=options.policy,
            level=options.level,
            seconds=round(time.monotonic() - self._began, 1) if len(self._kept) < len(found) else 0.0,
            types=types,
            kept={etype: self._kept[etype] for etype in options.units if etype in self._kept},
            required=tuple(dict.fromkeys(options.require)),
            scope=_scope(whole, options) if whole else (),
            dialect=options.of.dialect,
        )

    def _judge_type(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The runtime's version, and its verdicts in an element type."""
        units, results = self._options.units[etype.id], self._results[etype.id]
        self._pool.submit(self._one, units[0]).result()
        first = results[FIRST]
        left = [self._pool.submit(self._one, unit) for unit in units[1:] if follows(first, unit)]
        try:
            for future in left:
                future.result()
        except BaseException:
            for future in left:
                future.cancel()
            raise
        self._progress(len(units) - 1 - len(left), etype.id)
        made = self._made[etype.id]
        if made.keys() >= {unit.part for unit in needed(units, results)}:
            self._kept[etype.id] = min(made.values())
        return first.version, merged(etype, units, results, self._options.of)

    def _so_far(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The same, from the units judged until now."""
        with self._lock:
            results, begun = dict(self._results[etype.id]), dict(self._begun[etype.id])
        known = (*results.values(), *begun.values())
        version = next((found.version for found in known), self._options.runtime)
        return version, merged(etype, self._options.units[etype.id], results, self._options.of, begun)

    def _stop(self) -> None:
        self._stopped = True
        self._judge.stop()
        self._pool.shutdown(cancel_futures=True)

    def _one(self, unit: Unit) -> None:
        """Judge a unit, unless its result is stored or no longer needed."""
        if self._stopped:
            raise CancelledError
        results = self._results[unit.etype]
        with self._lock:
            needed_now = unit in needed(self._options.units[unit.etype], results)
        if needed_now:
            found = self._stored(unit) or self._judged(unit, results.get(FIRST))
            with self._lock:
                results[unit.part] = found
        self._progress(1, unit.name)

    def _stored(self, unit: Unit) -> UnitResult | None:
        if self._store is None or self._replace:
            return None
        found = self._store.take(unit.digest, unit.name)
        if found is not None and self._store.is_cache:
            self._made[unit.etype][unit.part] = found[1]
        return found and found[0]

    def _judged(self, unit: Unit, first: UnitResult | None) -> UnitResult:
        # No report shows a second deviation of a kind that the first unit describes.
        known = frozenset() if first is None or first.tally is None else first.tally.known
        found, seconds = self._judge.judge(unit, known)
        if self._stopped:
            if found.tally is not None:  # the counts are true; how it ended is the interrupt's doing
                update = {"stopped": None, "forms": None, "forms_stopped": False}
                with self._lock:
                    self._begun[unit.etype][unit.part] = found.model_copy(update=update)
            raise CancelledError
        store = self._store
        confirm(found, unit, self._options)
        if store is None or not found.is_kept(cache=store.is_cache):
            return found
        if store.is_cache and cache_identity(unit.runtime) != store.identity:
            return found  # something has changed since the run began
        return store.keep(unit.digest, unit.name, found, seconds, replace=self._replace)

    def _progress(self, number: int, name: str) -> None:
        if number:
            with self._lock:
                self._done += number
                done = self._done
            self._on_progress(done, name)
