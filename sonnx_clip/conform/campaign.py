"""A run of the checker: one runtime against the oracle in some or all element types, unit by unit.

What a level compares is in `levels`. The report names what no verdict of the run covers: a runtime that is
wrong at a single unusual X of 32 bits, at a single long length, or only after very many calls can conform.
"""

from __future__ import annotations

import platform
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import sonnx_clip
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.chosen_triples import plan
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.few_calls import FEW_CALLS, STRIDED, reaching
from sonnx_clip.conform.few_calls import few_calls as calls_if_few
from sonnx_clip.conform.identity import cache_identity
from sonnx_clip.conform.judge_forms import judge_forms
from sonnx_clip.conform.levels import WHICH_CALLS, CheckOptions, calls_of, size_of, units_of
from sonnx_clip.conform.merging import follows, merged, needed
from sonnx_clip.conform.rerun import command_of, confirm
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session, sample
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.units import FIRST, UnitResult
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import duration
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.conform.check_report import TypeReport, Verdict
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.counts import Known
    from sonnx_clip.conform.levels import WhichCalls
    from sonnx_clip.conform.store import Store
    from sonnx_clip.conform.units import Level, Unit
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.terminal import Show
    from sonnx_clip.runtimes.model_forms import Choice
    from sonnx_clip.runtimes.worker import Worker

_SAMPLE = 16  # calls of a request whose form was always refused
_NOTHING: Known = frozenset()


def run_campaign(
    runtime: str,
    types: Sequence[str] = (),
    *,
    policy: Policy = "default",
    limits: Limits = LIMITS,
    require: Sequence[str] = (),
    jobs: int = 1,
    again: bool = False,
    forms: Choice = "default",
    level: Level = "quick",
    few_calls: bool = False,
    store: Store | None = None,
    judge: Judge | None = None,
    of: CheckedOperator | None = None,
    calls: WhichCalls = WHICH_CALLS,
    on_progress: Show = lambda _, __: None,
    on_pace: Callable[[str], None] = lambda _: None,
) -> Report:
    """Judge a runtime.

    Args:
        runtime: a name of `RUNTIMES`, or ``module:function``.
        types: ids of element types; all that NumPy has, if empty.
        policy: ``strict`` turns off the latitude that is not granted always.
        limits: how long the runtime may take, for a call and to be imported.
        require: ids of element types that the runtime must support; they are judged in any case.
        jobs: how many units are judged at once in this process.
        again: replace what a cache holds.
        forms: of a runtime that opens models, in which forms of a model it is judged beside the one in which
            all other calls are made: some that cover every pair of values of two axes, or all.
        level: how much is compared.
        few_calls: make few calls at every level, as of a runtime that starts a program for each.
        store: a journal or a cache: holds the result of each unit as soon as it is judged.
        judge: judges the units elsewhere; it is stopped in the end.
        of: the operator, if it is not Clip: without store, forms of a model, and levels beyond quick.
        calls: which calls are made; a store and a judge have to be of these alone.
        on_progress: called with the number of units that are judged or not needed, and the last of them.
        on_pace: called with the progress of each unit here that takes long: soon, and then once a minute.

    Raises:
        UserError: the runtime or an element type is not known, a package is missing, or the operator has no
            such level.
        InterruptedCampaignError: there was an interrupt; it holds the report so far.
    """
    module_of(runtime)
    began, digest = time.monotonic(), code_digest(runtime)
    of = of or clip_operator()
    if not of.is_clip and (level != "quick" or store is not None):
        raise UserError(
            f"a campaign is of Clip, and not of {of.spec.operator}", todo="check it at the level quick"
        )
    required = [etype.id for etype in machine_types(require, of)] if require else []
    wanted = machine_types([*types, *required] if types else (), of)
    options = CheckOptions(
        runtime, "" if store is None else store.identity, policy, limits, forms, level, few_calls
    )
    units = {etype.id: units_of(etype, options, calls) for etype in wanted}
    work = _Work(options, units, judge or LocalJudge(jobs, of, calls, on_pace), store, again, on_progress, of)

    def report(found: Sequence[tuple[str, TypeReport]]) -> Report:
        whole = [report for _, report in found if report.unfinished is None]
        return Report(
            tool=f"sonnx-clip {sonnx_clip.__version__}",
            spec_sha256=of.oracle.SPEC_DIGEST,
            runtime=runtime,
            runtime_version=found[-1][0],
            code_sha256=digest if of.is_clip else None,
            python=platform.python_version(),
            numpy=np.__version__,
            machine=platform.machine(),
            policy=policy,
            level=level,
            seconds=round(time.monotonic() - began, 1) if len(work.cached) < len(found) else 0.0,
            types=tuple(report for _, report in found),
            kept={etype.id: work.cached[etype.id] for etype in wanted if etype.id in work.cached},
            required=tuple(required),
            scope=scope(whole, of, level, few_calls=few_calls) if whole else (),
        )

    with ThreadPoolExecutor(len(wanted)) as pool:
        try:
            found = list(pool.map(work.judge_type, wanted))
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            work.stop()  # what is at work is not reported
            if isinstance(error, KeyboardInterrupt):
                raise InterruptedCampaignError(report([work.so_far(etype) for etype in wanted])) from None
            raise
        finally:
            work.stop()
    return report(found)


class InterruptedCampaignError(KeyboardInterrupt):
    """A run was interrupted; `report` holds what was found until then, and what was not judged."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__("interrupted")


def machine_types(ids: Sequence[str] = (), of: CheckedOperator | None = None) -> list[ElementType]:
    """The element types with these ids; all that NumPy has, if empty. UserError if one is not known."""
    of = of or clip_operator()
    spec = of.spec
    if spec.digest != of.oracle.SPEC_DIGEST:
        raise UserError(f"generated/ is not that of {spec.file}", todo="run `sonnx-clip generate`")
    known = [etype for etype in spec.element_types if etype.numpy is not None]
    wanted = [spec.element_type(id_) for id_ in dict.fromkeys(ids)] or known
    for etype in wanted:
        if etype not in known:
            raise UserError(f"no runtime could be given values of {etype.id}", todo="choose another type")
    return wanted


def version_of(runtime: str, types: Sequence[ElementType], limits: Limits) -> str:
    """The version that a runtime reports in the first element type that it serves.

    Raises:
        UserError: the machine lacks what it needs.
    """
    version = runtime
    for etype in types:
        try:
            session = Session(runtime, etype.id, limits)
        except UnsupportedError as error:
            version = error.version
        except RuntimeDiedError:
            continue
        else:
            session.worker.close()
            return session.worker.version
    return version


# --- The units of a run -------------------------------------------------------------------------------------


class _Work:
    """Judges units side by side, those of an element type after its first one."""

    def __init__(
        self, options: CheckOptions, units: Mapping[str, Sequence[Unit]], judge: Judge, store: Store | None,
        again: bool, on_progress: Show, of: CheckedOperator,
    ) -> None:  # fmt: skip
        self._options, self._units, self._judge, self._store = options, units, judge, store
        self._again, self._on_progress, self._of = again, on_progress, of
        self.cached: dict[str, str] = {}
        self._made: dict[str, dict[str, str]] = {etype: {} for etype in units}  # of units from a cache
        self._results: dict[str, dict[str, UnitResult]] = {etype: {} for etype in units}
        self._begun: dict[str, dict[str, UnitResult]] = {etype: {} for etype in units}
        self._lock, self._stopped, self._done = threading.Lock(), False, 0
        self._pool = ThreadPoolExecutor(judge.places)

    def judge_type(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The runtime's version, and its verdicts in an element type."""
        units, results = self._units[etype.id], self._results[etype.id]
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
        if self._made[etype.id].keys() >= {unit.part for unit in needed(units, results)}:
            self.cached[etype.id] = min(self._made[etype.id].values())
        return first.version, merged(etype, units, results, self._of)

    def so_far(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The same of what is judged until now."""
        with self._lock:
            results, begun = dict(self._results[etype.id]), dict(self._begun[etype.id])
        known = (*results.values(), *begun.values())
        version = next((found.version for found in known), self._options.runtime)
        return version, merged(etype, self._units[etype.id], results, self._of, begun)

    def stop(self) -> None:
        """Begin nothing more, and end what is at work."""
        self._stopped = True
        self._judge.stop()
        self._pool.shutdown(cancel_futures=True)

    def _one(self, unit: Unit) -> None:
        """Judge a unit, unless its result is stored or no longer needed."""
        if self._stopped:
            raise CancelledError
        results = self._results[unit.etype]
        with self._lock:
            needed_now = unit in needed(self._units[unit.etype], results)
        if needed_now:
            found = self._stored(unit) or self._judged(unit, results.get(FIRST))
            with self._lock:
                results[unit.part] = found
        self._progress(1, unit.name)

    def _stored(self, unit: Unit) -> UnitResult | None:
        store = self._store
        if store is None or (store.is_cache and self._again):
            return None
        found = store.take(unit.digest, unit.name, UnitResult)
        if found is None:
            return None
        if store.is_cache:
            self._made[unit.etype][unit.part] = found[1]
        return found[0]

    def _judged(self, unit: Unit, first: UnitResult | None) -> UnitResult:
        # Of a kind of deviation that the first unit describes, no report shows another.
        known = _NOTHING if first is None or first.tally is None else first.tally.known
        found, seconds = self._judge.judge(unit, known)
        if self._stopped:
            if found.tally is not None:  # what was counted stays; how it ended is the interrupt's doing
                update = {"stopped": None, "forms": None, "forms_stopped": False}
                with self._lock:
                    self._begun[unit.etype][unit.part] = found.model_copy(update=update)
            raise CancelledError
        options, store = self._options, self._store
        command = command_of(
            options.runtime, unit.etype, "quick" if unit.first else options.level,
            None if self._of.is_clip else self._of.spec.path,
        )  # fmt: skip
        found = confirm(found, unit.etype, command, unit.limits)
        if store is not None and found.is_kept(cache=store.is_cache):
            unchanged = not store.is_cache or cache_identity(options.runtime) == store.identity
            if unchanged:
                replace = store.is_cache and self._again
                return store.keep(unit.digest, unit.name, found, seconds, replace=replace)
        return found

    def _progress(self, number: int, name: str) -> None:
        if number:
            with self._lock:
                self._done += number
                done = self._done
            self._on_progress(done, name)


class Judge(Protocol):
    """Judges units: in processes of this machine, or of others."""

    @property
    def places(self) -> int:
        """How many units are given to it at once."""

    def judge(self, unit: Unit, known: Known) -> tuple[UnitResult, float]:
        """The result of a unit, and how many seconds it took. Threads may call it side by side.

        `known` are the kinds of deviations that need no description.
        """

    def stop(self) -> None:
        """End all that is at work: whoever waits for a result gets any exception, or a worthless result."""


class LocalJudge:
    """Judges units in threads of this process, each with the runtime in a process of its own.

    Args:
        jobs: how many at once.
        of: the operator.
        calls: which calls are made.
        on_pace: called with the progress of each unit that takes long.
    """

    def __init__(
        self, jobs: int, of: CheckedOperator, calls: WhichCalls = WHICH_CALLS,
        on_pace: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self.places, self._of, self._calls, self._on_pace = jobs, of, calls, on_pace
        self._workers: set[Worker] = set()
        self._lock, self._stopped = threading.Lock(), False

    def judge(self, unit: Unit, known: Known = _NOTHING) -> tuple[UnitResult, float]:
        """The result of a unit, and how many seconds it took."""
        began = time.monotonic()
        return self._judge(unit, known), time.monotonic() - began

    def stop(self) -> None:
        """End every process."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.kill()

    def _add(self, worker: Worker) -> None:
        with self._lock:
            self._workers.add(worker)
            if self._stopped:
                worker.kill()

    def _judge(self, unit: Unit, known: Known) -> UnitResult:
        of, etype = self._of, self._of.spec.element_type(unit.etype)
        unopened: tuple[Verdict, str] | None = None
        forms_only = unit.chunk is not None
        try:
            try:
                session = Session(unit.runtime, etype.id, unit.limits, models_only=forms_only, node=of.node)
            except UnsupportedError as error:
                unopened = "unsupported", str(error)
                if not error.opens_models or not unit.first:
                    return UnitResult(version=error.version, unopened=unopened)
                session = Session(unit.runtime, etype.id, unit.limits, models_only=True)
        except RuntimeDiedError as error:
            return UnitResult(version=unit.runtime, unopened=("crashed", f"{error} while it was opened"))
        worker = session.worker
        worker.few = worker.few or unit.few_calls
        self._add(worker)
        try:
            found: dict[str, Any] = {"models": bool(worker.models), "unopened": unopened}
            stopped = None
            if unopened is None and not forms_only:
                tally = Tally(etype, unit.policy, Describer(etype, session, of), of, known)
                stopped = self._count(session, tally, etype, unit)
                found["tally"] = tally.state()
                found["unasked"] = () if worker.strides else (STRIDED,)
                found |= {"stopped": stopped, "longest": worker.entries, "few": worker.few}
            if worker.models and stopped is None and (unit.first or forms_only):
                forms, over = judge_forms(session, etype, unit.policy, unit.forms, unit.chunk)
                found |= {"forms": forms, "forms_stopped": over}
            left = 0
            with suppress(RuntimeDiedError):
                left = worker.end()
            return UnitResult(version=worker.version, remarks=tuple(session.remarks), left=left, **found)
        finally:
            with self._lock:
                self._workers.discard(worker)
            worker.close()

    def _count(
        self, session: Session, tally: Tally, etype: ElementType, unit: Unit
    ) -> tuple[Verdict, str] | None:
        """Make all calls, and count their results; why it ended early, if it did."""
        worker = session.worker
        number = FEW_CALLS if worker.few else size_of(etype, unit.part)
        pace = Pace(unit.name, number, "the forms of a model" if worker.models else None, self._on_pace)
        worker.on_call = pace.at
        try:
            if unit.first:
                calls = calls_if_few(etype) if worker.few else (self._calls.first or plan)(etype, self._of)
            else:
                calls = calls_of(etype, unit.part, self._calls.lengths)
            for request, table in reaching(calls, strides=worker.strides, entries=worker.entries):
                if tally.refuses(request):
                    for piece in session.ask(*sample(request, table, _SAMPLE)):
                        tally.add(*piece)
                    if tally.refuses(request):
                        continue
                for piece in session.ask(request, table):
                    tally.add(*piece)
                pace.answered(request.count)
        except GaveUpError as error:
            return "crashed", str(error)
        except EnvironmentFaultError as error:
            return "environment", str(error)
        return None


_FIRST, _THEN = 5.0, 60.0  # seconds before the first report of progress, and between two
_SLOW = 60.0  # seconds: a unit that ends before that reports none


class Pace:
    """Reports the progress of a unit that takes long, from the number of calls that have returned.

    Args:
        name: of the unit: ``float32``.
        calls: about how many calls it will be.
        more: what comes after them; None if nothing does.
        report: called with a sentence: once soon, if it will take long, and then once a minute.
        clock: seconds by the clock.
    """

    def __init__(
        self, name: str, calls: int, more: str | None, report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._name, self._calls, self._report, self._clock = name, calls, report, clock
        self._more = f", and then {more}" if more else ""
        self._began = self._reported = clock()
        self._wait, self._before = _FIRST, 0

    def at(self, call: int) -> None:
        """So many calls of the current request have returned."""
        now, done = self._clock(), self._before + call
        if done <= 0 or now - self._reported < self._wait:
            return
        left = max(0, self._calls - done) * (now - self._began) / done
        if left < _SLOW:
            return
        self._reported, self._wait = now, _THEN
        calls = f"{done:,} of about {self._calls:,} calls"
        self._report(f"{self._name}: {calls}, about {duration(left)} left{self._more}")

    def answered(self, calls: int) -> None:
        """All calls of a request have returned."""
        self._before += calls
        self.at(0)
