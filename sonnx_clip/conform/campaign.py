"""A run of the checker: one runtime compared with the oracle, unit by unit."""

from __future__ import annotations

import platform
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import sonnx_clip
from sonnx_clip.conform.call_plan import FIRST
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.describe import describe
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.identity import cache_identity
from sonnx_clip.conform.judge import LocalJudge
from sonnx_clip.conform.verdicts import follows, merged, needed
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sonnx_clip.conform.judge import RemoteJudge
    from sonnx_clip.conform.unit_store import UnitStore
    from sonnx_clip.conform.units import CheckOptions, Unit, UnitResult
    from sonnx_clip.root.terminal import Show

    Judge: TypeAlias = LocalJudge | RemoteJudge


class InterruptedCampaignError(KeyboardInterrupt):
    """A run was interrupted; `report` covers the calls made until then."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__("interrupted")


def run_campaign(
    options: CheckOptions, *, jobs: int = 1, again: bool = False, store: UnitStore | None = None,
    judge: Judge | None = None, on_progress: Show = lambda _, __: None,
    on_pace: Callable[[str], None] = lambda _: None,
) -> Report:  # fmt: skip
    """Judge a runtime.

    Args:
        options: the runtime, and how it is checked.
        jobs: how many units are judged at once in this process.
        again: whether results in a cache are replaced.
        store: a journal or a cache of the results of units.
        judge: judges the units; a `LocalJudge` by default. It is stopped at the end.
        on_progress: called with the number of units that are judged or not needed, and the last of them.
        on_pace: called with the progress of each slow unit, at most once a minute.

    Raises:
        UserError: the runtime or an element type is not known, or a package is missing.
        InterruptedCampaignError: the run was interrupted.
    """
    # A name that is not known is refused at once, and not by each unit.
    module_of(options.runtime)
    if store is not None:
        options = replace(options, identity=store.identity)
    judge = judge or LocalJudge(jobs, on_pace)
    campaign = _Campaign(options, judge, store, on_progress, again=again)
    return campaign.run()


def runtime_version(options: CheckOptions) -> str:
    """The version that a runtime reports in the first element type that it serves.

    Raises:
        UserError: the machine lacks what it needs.
    """
    version = options.runtime
    for etype in options.element_types:
        try:
            worker = Worker(
                options.runtime, etype.id, options.limits, signature=options.of.signature
            )
        except UnsupportedError as error:
            version = error.version  # of a runtime that serves no type, better than its name
        except RuntimeDiedError:
            continue
        else:
            worker.close()
            return worker.version
    return version


class _Campaign:
    """Judges units in parallel; the first one of an element type decides which others follow."""

    def __init__(
        self,
        options: CheckOptions,
        judge: Judge,
        store: UnitStore | None,
        on_progress: Show,
        *,
        again: bool,
    ) -> None:
        self._options = options
        self._judge = judge
        self._store = store
        self._on_progress = on_progress
        self._replace = store is not None and store.is_cache and again
        self._began = time.monotonic()
        self._code = code_digest(options.runtime)
        self._units = options.units
        self._done = 0
        self._stopped = False
        # By element type and part.
        self._results: dict[str, dict[str, UnitResult]] = {etype: {} for etype in self._units}

    def run(self) -> Report:
        """Judge all units; the report."""
        pool = ThreadPoolExecutor(self._judge.places)
        running: dict[Future[UnitResult | None], Unit] = {}

        def start(units: Iterable[Unit]) -> None:
            running.update((pool.submit(self._result_of, unit), unit) for unit in units)

        try:
            # The first unit of every type decides whether the others are judged.
            start(units[0] for units in self._units.values())
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    unit = running.pop(future)
                    start(self._units_after(unit, future.result()))
                    self._on_progress(self._done, unit.name)
            return self._report()
        except KeyboardInterrupt:
            self._stop(pool)
            # What was counted until the interrupt is valid, and part of the report. The pool has shut
            # down, so every future is done or cancelled.
            for future, unit in running.items():
                if future.cancelled() or future.exception():
                    continue
                result = future.result()
                if result is not None and result.tally is not None:
                    self._results[unit.etype][unit.part] = result
            raise InterruptedCampaignError(self._report()) from None
        finally:
            self._stop(pool)

    def _units_after(self, unit: Unit, result: UnitResult | None) -> list[Unit]:
        """Note the result of a unit, and return the units that are judged because of it."""
        if result is not None:
            self._results[unit.etype][unit.part] = result
        self._done += 1
        if not unit.first:
            return []
        others = self._units[unit.etype][1:]
        following = []
        if result is not None:
            following = [other for other in others if follows(result, other)]
        self._done += len(others) - len(following)  # what is not judged counts as done
        return following

    def _stop(self, pool: ThreadPoolExecutor) -> None:
        self._stopped = True
        self._judge.stop()
        pool.shutdown(cancel_futures=True)

    def _result_of(self, unit: Unit) -> UnitResult | None:
        """The stored result of a unit, or else its judgement; None if it is no longer needed."""
        results = self._results[unit.etype]
        store = self._store
        # Asked here, and not when the unit was put into the queue: another one may have ended its type.
        if self._stopped or unit not in needed(self._units[unit.etype], results):
            return None
        if store is not None and not self._replace:
            stored = store.take(unit)
            if stored is not None:
                return stored

        result = self._judge.judge(unit)
        # After an interrupt its counts are valid, but not why it ended.
        if self._stopped:
            update = {"stopped": None, "forms": None, "forms_stopped": False, "partial": True}
            return result.model_copy(update=update)
        result = describe(result, unit, results.get(FIRST), lambda: self._stopped)
        if self._stopped or store is None or not result.is_kept(cache=store.is_cache):
            return result

        # A cache holds no result of code, packages or an environment that changed since the run began.
        is_valid = True
        if store.is_cache:
            identity = cache_identity(self._options.runtime, self._options.of)
            is_valid = identity == store.identity
        if is_valid:
            store.keep(unit, result)
        return result

    def _report(self) -> Report:
        """The report on all results, partial ones included."""
        options = self._options
        operator = options.of
        types = []
        kept = {}
        versions = []
        for etype in options.element_types:
            units = self._units[etype.id]
            results = self._results[etype.id]
            types.append(merged(etype, units, results, operator))

            # A type counts as stored only if no unit of it was judged now; its date is that of the oldest.
            parts = [unit.part for unit in needed(units, results)]
            made = [results[part].made for part in parts if part in results]
            if len(made) == len(parts) and all(made):
                kept[etype.id] = min(made)
            versions += [result.version for result in results.values()]

        # A runtime that died at its import has told no version: its name stands for it there.
        told = (version for version in versions if version != options.runtime)
        whole = [report for report in types if report.unfinished is None]
        if operator.against is None:
            compared = scope(whole, operator, options.level, few_calls=options.few_calls)
        else:
            compared = operator.against.scope(whole)
        is_all_kept = len(kept) == len(types)
        seconds = 0.0 if is_all_kept else round(time.monotonic() - self._began, 1)
        return Report(
            tool=f"sonnx-clip {sonnx_clip.__version__}",
            spec_sha256=operator.oracle.SPEC_DIGEST,
            runtime=options.runtime,
            runtime_version=next(told, options.runtime),
            code_sha256=self._code,
            python=platform.python_version(),
            numpy=np.__version__,
            machine=platform.machine(),
            policy=options.policy,
            level=options.level,
            seconds=seconds,
            types=tuple(types),
            kept=kept,
            required=tuple(dict.fromkeys(options.require)),
            scope=compared if whole else (),
            dialect=operator.dialect,
        )
