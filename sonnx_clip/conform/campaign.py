"""A run of the checker: one runtime against the oracle, in some or all element types.

What is compared: in the 8-bit types every triple; in the 16-bit types every X under bounds that together
reach every class; in all types every triple of special values, every class in every layout, random triples,
calls of every length from 2 to 130 and of some beyond, and calls of 65,537 entries. So a runtime can conform
here that is wrong at a single unusual X of 32 or 64 bits, at an unusual pair of bounds of 16 bits or more, at
a single long length, or only after very many calls: the verdict is on what was compared. A runtime that
starts a program for each call is asked few of them, see `few_calls`.
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
from sonnx_clip.conform.judge_forms import judge_forms
from sonnx_clip.conform.kept import KeptTypes
from sonnx_clip.conform.levels import WHICH_CALLS, CheckOptions, calls_of, size_of, units_of
from sonnx_clip.conform.merging import follows, merged, needed
from sonnx_clip.conform.probe import Pace
from sonnx_clip.conform.rerun import command_of, confirm
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session, sample
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.units import FIRST, UnitResult
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.find_runtime import module_of
from sonnx_clip.runtimes.limits import LIMITS, Limits
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import TypeReport, Verdict
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.journal import UnitJournal
    from sonnx_clip.conform.levels import WhichCalls
    from sonnx_clip.conform.units import Level, Unit
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.terminal import Show
    from sonnx_clip.runtimes.model_forms import Choice
    from sonnx_clip.runtimes.worker import Worker

_SAMPLE = 16  # calls of a request whose form was always refused


def run_campaign(
    runtime: str,
    types: Sequence[str] = (),
    *,
    policy: Policy = "default",
    limits: Limits = LIMITS,
    require: Sequence[str] = (),
    jobs: int = 1,
    kept: Path | None = None,
    again: bool = False,
    forms: Choice = "default",
    level: Level = "quick",
    few_calls: bool = False,
    journal: UnitJournal | None = None,
    judges: Judges | None = None,
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
        kept: the folder in which verdicts are kept; if None, or with a journal, none is taken or kept.
        again: judge also what was judged before under the same conditions.
        forms: of a runtime that opens models, in which forms of a model it is judged beside the one in which
            all other calls are made: some that cover every pair of values of two axes, or all.
        level: how much is asked.
        few_calls: make few calls at every level, as of a runtime that starts a program for each.
        journal: takes the result of each unit as soon as it is there, and gives those that it has.
        judges: judge the units instead, elsewhere; they are stopped in the end.
        of: the operator, if it is not Clip: no verdict on it is kept, no other form of a model judged, and
            nothing asked beyond the level quick.
        calls: which calls are made. With others than `WHICH_CALLS` no verdict is kept, a journal is of these
            alone, and `judges` have to know of them.
        on_progress: called with the number of units that are judged or not needed, and the last of them.
        on_pace: called with words on each unit here that takes long: soon, and then once a minute.

    Raises:
        UserError: the runtime or an element type is not known, a package is missing, or the operator has no
            such level.
        InterruptedCampaignError: there was an interrupt; it holds the report so far.
    """
    module_of(runtime)
    digest = code_digest(runtime)
    began = time.monotonic()
    of = of or clip_operator()
    if not of.is_clip and (level != "quick" or journal is not None):
        raise UserError(
            f"a campaign is of Clip, and not of {of.spec.operator}", todo="check it at the level quick"
        )
    required = [etype.id for etype in machine_types(require, of)] if require else []
    wanted = machine_types([*types, *required] if types else (), of)
    asked = CheckOptions(
        runtime, "" if journal is None else journal.identity, policy, limits, forms, level, few_calls
    )
    keeps = of.is_clip and journal is None and calls == WHICH_CALLS
    keeper = KeptTypes(kept if keeps else None, asked)
    old = {etype.id: None if again else keeper.take(etype) for etype in wanted}
    units = {etype.id: units_of(etype, asked, calls) for etype in wanted}
    judges = judges or LocalJudge(jobs, of, calls, on_pace)
    work = _Work(runtime, level, units, judges, journal, on_progress, of)

    def judged(etype: ElementType) -> tuple[str, TypeReport]:
        if (taken := old[etype.id]) is not None:
            work.skip(etype)
            return taken[0].version, taken[0].report
        version, report = work.judge(etype)
        if not work.stopped:
            keeper.keep(etype, version, report)
        return version, report

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
            seconds=round(time.monotonic() - began, 1),
            types=tuple(report for _, report in found),
            kept={id_: taken[1] for id_, taken in old.items() if taken is not None},
            required=tuple(required),
            scope=scope(whole, of, level, few_calls=few_calls) if whole else (),
        )

    with ThreadPoolExecutor(len(wanted)) as pool:
        try:
            found = list(pool.map(judged, wanted))
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            work.stop()  # what was at work is told nothing of
            if isinstance(error, KeyboardInterrupt):
                known = [
                    (one[0].version, one[0].report) if (one := old[e.id]) else work.so_far(e) for e in wanted
                ]
                raise InterruptedCampaignError(report(known)) from None
            raise
        finally:
            work.end()
    return report(found)


class InterruptedCampaignError(KeyboardInterrupt):
    """A run was interrupted; `report` says what was found until then, and what was not judged."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__("interrupted")


class Judges(Protocol):
    """What judges units: processes of this machine, or of others."""

    @property
    def places(self) -> int:
        """How many units are given to them at once."""

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """What comes of a unit, and how many seconds it took. Threads may ask side by side."""

    def stop(self) -> None:
        """End all that is at work: who waits for a result gets any exception, or a result of no worth."""


class _Work:
    """The units of a run: judged side by side, those of an element type after its first one.

    Each element type waits in a thread of its own, and each unit that is judged in another.
    """

    def __init__(
        self, runtime: str, level: Level, units: Mapping[str, Sequence[Unit]], judges: Judges,
        journal: UnitJournal | None, on_progress: Show, of: CheckedOperator,
    ) -> None:  # fmt: skip
        self._runtime, self._level = runtime, level
        self._units, self._judges, self._journal = units, judges, journal
        self.stopped = False
        self._of = of
        self._results: dict[str, dict[str, UnitResult]] = {etype: {} for etype in units}
        self._begun: dict[str, dict[str, UnitResult]] = {etype: {} for etype in units}
        self._on_progress, self._done = on_progress, 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(judges.places)

    def skip(self, etype: ElementType) -> None:
        """The verdicts in an element type are known."""
        self._tell(len(self._units[etype.id]), etype.id)

    def judge(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The runtime's version, and its verdicts in an element type."""
        units, results = self._units[etype.id], self._results[etype.id]
        first = self._pool.submit(self._one, units[0]).result()
        assert first is not None, "it is always needed"
        left = [self._pool.submit(self._one, unit) for unit in units[1:] if follows(first, unit)]
        try:
            for future in left:
                future.result()
        except BaseException:
            for future in left:
                future.cancel()
            raise
        self._tell(len(units) - 1 - len(left), etype.id)
        return first.version, merged(etype, units, results, self._of)

    def so_far(self, etype: ElementType) -> tuple[str, TypeReport]:
        """The same of what is judged until now."""
        with self._lock:
            results, begun = dict(self._results[etype.id]), dict(self._begun[etype.id])
        units = self._units[etype.id]
        known = (*results.values(), *begun.values())
        version = next((found.version for found in known), self._runtime)
        return version, merged(etype, units, results, self._of, begun)

    def stop(self) -> None:
        """Begin nothing more, and end what is at work."""
        self.stopped = True
        self._judges.stop()
        self._pool.shutdown(cancel_futures=True)

    def end(self) -> None:
        """All is judged: leave nothing behind."""
        self._pool.shutdown(cancel_futures=True)
        self._judges.stop()

    def _one(self, unit: Unit) -> UnitResult | None:
        """Judge a unit, unless its result is known or no longer needed."""
        if self.stopped:
            raise CancelledError
        results = self._results[unit.etype]
        with self._lock:
            needed_now = unit in needed(self._units[unit.etype], results)
        found = None
        if needed_now:
            found = None if self._journal is None else self._journal.take(unit)
            if found is None:
                found, seconds = self._judges.judge(unit)
                if self.stopped:
                    if found.tally is not None:
                        with self._lock:
                            self._begun[unit.etype][unit.part] = _begun(found)
                    raise CancelledError
                level = "quick" if unit.first else self._level
                spec = None if self._of.is_clip else self._of.spec.path
                command = command_of(self._runtime, unit.etype, level, spec)
                first = results.get(FIRST)
                if first is not None and first.tally is not None and found.tally is not None:
                    tally = found.tally.without_deviations_of(first.tally)
                    found = found.model_copy(update={"tally": tally})
                found = confirm(found, unit.etype, command, unit.limits)
                if self._journal is not None and found.kept:
                    found = self._journal.keep(unit, found, seconds)
            with self._lock:
                results[unit.part] = found
        self._tell(1, unit.name)
        return found

    def _tell(self, number: int, name: str) -> None:
        if number:
            with self._lock:
                self._done += number
                done = self._done
            self._on_progress(done, name)


def _begun(found: UnitResult) -> UnitResult:
    """What an interrupted unit had counted; how it ended, and its forms, are the interrupt's doing."""
    return found.model_copy(update={"stopped": None, "forms": None, "forms_stopped": False})


class LocalJudge:
    """Judge of units in threads of this process, each with the runtime in a process of its own.

    Args:
        jobs: how many at once.
        of: the operator.
        calls: which calls are made.
        on_pace: called with words on each unit that takes long.
    """

    def __init__(
        self,
        jobs: int,
        of: CheckedOperator,
        calls: WhichCalls = WHICH_CALLS,
        on_pace: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.places, self._of, self._calls, self._on_pace = jobs, of, calls, on_pace
        self._running = _Running()

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """What comes of a unit, and how many seconds it took."""
        began = time.monotonic()
        found = _judge(unit, self._running, self._of, self._calls, self._on_pace)
        return found, time.monotonic() - began

    def stop(self) -> None:
        """End all that is at work."""
        self._running.stop()


def judge_unit(unit: Unit) -> UnitResult:
    """What comes of a unit of a campaign of Clip, wherever this is called.

    Raises:
        UserError: the runtime is not known, or a package that it needs is missing.
    """
    return _judge(unit, _Running(), clip_operator(), WHICH_CALLS)


class _Running:
    """The workers that are at work, so that an interrupted run ends them."""

    def __init__(self) -> None:
        self._workers: set[Worker] = set()
        self._lock = threading.Lock()
        self.stopped = False

    def add(self, worker: Worker) -> None:
        """A worker has started; it ends at once if the run has stopped meanwhile."""
        with self._lock:
            self._workers.add(worker)
            if self.stopped:
                worker.kill()

    def remove(self, worker: Worker) -> None:
        """A worker has ended."""
        with self._lock:
            self._workers.discard(worker)

    def stop(self) -> None:
        """End every worker."""
        with self._lock:
            self.stopped = True
            for worker in self._workers:
                worker.kill()


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


def _judge(
    unit: Unit,
    running: _Running,
    of: CheckedOperator,
    which: WhichCalls,
    on_pace: Callable[[str], None] = lambda _: None,
) -> UnitResult:
    """What comes of a unit, in a process of its own."""
    etype = of.spec.element_type(unit.etype)
    refused: UnsupportedError | None = None
    try:
        try:
            session = Session(
                unit.runtime, etype.id, unit.limits, models_only=unit.chunk is not None, node=of.node
            )
        except UnsupportedError as error:
            refused = error
            unopened: tuple[Verdict, str] = ("unsupported", str(error))
            if not error.opens_models or not unit.first:
                return UnitResult(version=error.version, unopened=unopened)
            session = Session(
                unit.runtime, etype.id, unit.limits, models_only=True
            )  # other forms may be served
    except RuntimeDiedError as error:
        unopened = ("crashed", f"{error} while it was opened")
        return UnitResult(version=unit.runtime, unopened=unopened)
    worker = session.worker
    worker.few = worker.few or unit.few_calls
    running.add(worker)
    try:
        found: dict[str, Any] = {"models": bool(worker.models)}
        stopped = None
        if refused is not None:
            found["unopened"] = unopened
        elif unit.chunk is None:
            tally = Tally(etype, unit.policy, Describer(etype, session, of), of)
            stopped = _count_all(session, tally, etype, unit, of, which, on_pace)
            found["tally"] = tally.state()
            found["unasked"] = () if worker.strides else (STRIDED,)
            found |= {"stopped": stopped, "longest": worker.entries, "few": worker.few}
        if worker.models and stopped is None and (unit.first or unit.chunk is not None):
            forms, over = judge_forms(session, etype, unit.policy, unit.forms, unit.chunk)
            found |= {"forms": forms, "forms_stopped": over}
        left = 0
        with suppress(RuntimeDiedError):
            left = worker.end()
        return UnitResult(version=worker.version, remarks=tuple(session.remarks), left=left, **found)
    finally:
        running.remove(worker)
        worker.close()


def _count_all(
    session: Session, tally: Tally, etype: ElementType, unit: Unit, of: CheckedOperator, which: WhichCalls,
    on_pace: Callable[[str], None],
) -> tuple[Verdict, str] | None:  # fmt: skip
    """Make all calls, and count what they give; why it ended early, if it did."""
    worker = session.worker
    number = FEW_CALLS if worker.few else size_of(etype, unit.part)[0]
    pace = Pace(unit.name, number, "the forms of a model" if worker.models else None, on_pace)
    worker.on_call = pace.at
    try:
        if unit.first:
            calls = calls_if_few(etype) if worker.few else (which.first or plan)(etype, of)
        else:
            calls = calls_of(etype, unit.part, which.lengths)
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
