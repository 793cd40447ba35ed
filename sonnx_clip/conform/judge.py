"""Judges units: makes the calls of each in a process of its own, and counts the results.

`LocalJudge` does so on this machine, `RemoteJudge` at the workers of a Dask scheduler. A runtime that opens
models is judged in several forms of a model too, each with the same calls.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.form_plan import form_plan
from sonnx_clip.conform.identity import comparable_parts
from sonnx_clip.conform.plan import as_taken, calls_of, chosen, few_calls, sample, size_of
from sonnx_clip.conform.session import Session, StoppedError, open_worker
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.units import Counts, UnitResult
from sonnx_clip.conform.verdicts import class_reports, compared, crash_words, worst
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import duration
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, base, covering, every_form
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sonnx_clip.conform.check_report import Stop
    from sonnx_clip.conform.units import Unit
    from sonnx_clip.machines.dask_workers import DaskWorkers
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.worker import Worker

STRIDED = "layouts of X in memory: X was contiguous"
"""Blind spot of a runtime that takes contiguous tensors only."""

_SAMPLE = 16  # calls of a request whose layout was always rejected
_FIRST, _THEN = 5.0, 60.0  # seconds before the first report of progress, and between two
_SLOW = 60.0  # seconds left, below which progress is not reported
_AHEAD = 2  # units for each thread of a Dask worker, so that workers that join find some


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
        """Kill every process."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.kill()

    def _judge(self, unit: Unit) -> UnitResult:
        options, forms_only = unit.options, bool(unit.options.of.dialect)
        try:
            worker, unsupported = open_worker(options, unit.etype)
        except UnsupportedError as error:
            return UnitResult(version=error.version, stopped=("unsupported", str(error)))
        except RuntimeDiedError as error:
            died = f"{error} while it was opened"
            return UnitResult(version=options.runtime, stopped=("crashed", died))
        session = Session(worker, options.limits)
        worker.few = worker.few or options.few_calls
        with self._lock:
            self._workers.add(worker)
            if self._stopped:
                worker.kill()
        try:
            found: dict[str, Any] = {"stopped": unsupported}
            if unsupported is None and not forms_only:
                found |= self._count(session, unit)
            if found["stopped"] == unsupported and (forms_only or (unit.first and worker.models)):
                found |= judge_forms(session, unit)
            return UnitResult(version=worker.version, remarks=tuple(session.remarks), **found)
        finally:
            with self._lock:
                self._workers.discard(worker)
            worker.close()

    def _count(self, session: Session, unit: Unit) -> dict[str, Any]:
        """Make all calls that are not of a form, and count their results: fields of the result of a unit."""
        worker, of, stopped, made = session.worker, unit.options.of, None, 0
        etype = of.spec.element_type(unit.etype)
        tally = Tally(etype, unit.options.policy, of)
        report_pace = self._pace(unit.name, size_of(etype, unit.part, few=worker.few))
        worker.on_call = lambda call: report_pace(made + call)
        if not unit.first:
            calls = calls_of(etype, unit.part)
        else:
            calls = few_calls(etype) if worker.few else chosen(etype, of)
        try:
            for request, table in as_taken(calls, strides=worker.strides, entries=worker.entries):
                tally.plan(request)
                if tally.refuses(request):
                    tally.add_all(session.ask(*sample(request, table, _SAMPLE)))
                if not tally.refuses(request):
                    tally.add_all(session.ask(request, table))
                    made += request.count
                    report_pace(made)
        except StoppedError as error:
            stopped = error.stop
        return {
            "tally": tally.counts, "readings": tally.readings if unit.first else None,
            "refusal": tally.refusal, "stopped": stopped, "longest": worker.entries,
            "unasked": () if worker.strides else (STRIDED,), "few": worker.few,
        }  # fmt: skip

    def _pace(self, name: str, calls: int) -> Callable[[int], None]:
        """Reports the progress of a slow unit, given the number of calls made: soon, then once a minute."""
        began = time.monotonic()
        next_ = began + _FIRST

        def report_pace(done: int) -> None:
            nonlocal next_
            now = time.monotonic()
            left = max(0, calls - done) * (now - began) / max(1, done)
            if now >= next_ and done and left >= _SLOW:
                next_ = now + _THEN
                self._on_pace(
                    f"{name}: {done:,} of about {calls:,} calls, about {duration(left)} left"
                )

        return report_pace


# --- Workers of a Dask scheduler: `check --scheduler` -------------------------------------------------------


class RemoteJudge:
    """Judges units at workers, whose code, packages, Python and processor have to be those of this machine.

    Args:
        workers: of a scheduler.
        runtime: the name of the runtime.
        version: the version that it reports here.
    """

    def __init__(self, workers: DaskWorkers, runtime: str, version: str) -> None:
        self._workers, self._version = workers, version
        self._here = comparable_parts(runtime)
        self.places, self.name, self.stop = _AHEAD * workers.threads, workers.name, workers.stop

    def judge(self, unit: Unit) -> tuple[UnitResult, float]:
        """The result of a unit, and the seconds that it took there.

        Where worker after worker ends during the unit, the machines are at fault: ``environment``.

        Raises:
            UserError: the scheduler or all workers are gone, a worker differs from this machine, or lacks
                what the runtime needs.
            CancelledError: the campaign is stopped.
        """
        from sonnx_clip.machines.dask_workers import WorkLostError  # imports asyncio

        try:
            return self._workers.call(judge_there, unit, self._here, self._version)
        except WorkLostError as error:
            return UnitResult(
                version=unit.options.runtime, stopped=("environment", error.what)
            ), 0.0


def judge_there(unit: Unit, here: Mapping[str, str], version: str) -> tuple[UnitResult, float]:
    """Judge a unit at a worker: its result, and the seconds that it took.

    Raises:
        UserError: this machine differs from that of the campaign, or the runtime has another version here.
    """
    from sonnx_clip.machines.dask_workers import require_same

    runtime = unit.options.runtime
    require_same(here, comparable_parts(runtime))
    found, seconds = LocalJudge().judge(unit)
    if found.version not in (version, runtime):  # its name, where it died before it was opened
        require_same({**here, "version": version}, {**here, "version": found.version})
    return found, seconds


# --- Forms of a model ---------------------------------------------------------------------------------------


def judge_forms(session: Session, unit: Unit) -> dict[str, Any]:
    """Judge a runtime that opens models in several forms: fields of the result of a unit.

    The counts are those of a dialect, which is compared in forms alone. A form that is refused in one
    operator set and served in the other is not counted there: it is the operator set that is refused.

    Raises:
        UserError: onnx is not installed, or the runtime cannot run ONNX models.
    """
    of, stopped = unit.options.of, False
    if not session.worker.models:
        todo = "choose onnxruntime or onnx-reference, or use --onnx or --onnx-cmd"
        raise UserError(f"the runtime {session.worker.name} cannot run ONNX models", todo=todo)
    reports: dict[ModelForm, FormReport] = {}
    counts: dict[ModelForm, Counts] = {}
    for form in of.forms if of.dialect else _forms(session, unit, reports):
        if form not in reports:
            reports[form], counts[form], stopped = _judge_form(session, unit, form)
        if stopped:
            break
    found = {"forms": tuple(reports.values()), "forms_stopped": stopped}
    if not of.dialect:
        return found
    served = {form.given for form, report in reports.items() if report.verdict != "refused"}
    counted = (
        counts[f] for f, one in reports.items() if one.verdict != "refused" or f.given not in served
    )
    return {**found, "tally": sum(counted, start=Counts())}


def _judge_form(session: Session, unit: Unit, form: ModelForm) -> tuple[FormReport, Counts, bool]:
    """The report on a form, its counts, and whether judging ended early: no other form follows then.

    Where bounds are missing, some classes cannot be reached.
    """
    of, few = unit.options.of, session.worker.few
    stop: Stop | None = None
    etype = of.spec.element_type(unit.etype)
    tally = Tally(etype, unit.options.policy, of)
    session.forget()
    try:
        bounds = of.bounds_of_form(etype, form, few=few)
        for request, table in form_plan(etype, form, few=few, bounds=bounds):
            tally.plan(request)
            tally.add_all(session.ask(request, table))
            if tally.refuses(request):
                break
    except StoppedError as error:
        stop = error.stop
    counts = tally.counts
    classes = class_reports(counts, of, stop)
    refused = worst(c.verdict for c in classes) == "unsupported"
    failing = [c for c in classes if c.verdict != "conforms" and not refused]
    reached = [c.verdict for c in classes if form.given == "both" or c.verdict != "unreached"]
    words = [
        stop[1] if stop else crash_words(classes),
        *(c.words for c in (classes if refused else failing)),
    ]
    found = FormReport(
        form=form,
        verdict="refused" if refused else worst(reached),
        compared=compared(counts, of, etype),
        calls=sum(one.calls for one in counts.raised.values()),
        words=next(filter(None, words), None),
        classes={c.id: c.verdict for c in failing},
        deviations={c.id: c.deviations[0] for c in failing if c.deviations},
        tried=counts.tried,
    )
    # The forms of a dialect are counted together, each as a layout of its own that may be refused.
    raised = {str(form): one for one in counts.raised.values()}
    return found, counts.model_copy(update={"raised": raised}), stop is not None


def _forms(
    session: Session, unit: Unit, reports: Mapping[ModelForm, FormReport]
) -> Iterator[ModelForm]:
    """The forms to judge, given the reports on those before; some are repeated.

    The operator sets are 13 and the newest that is served, or all between them.
    """
    known, newest = opsets_of_this_clip(), FIRST_OPSET
    yield base()
    # A newer operator set is refused for its number, unless 13 is refused too.
    for opset in reversed(known) if reports[base()].verdict != "refused" else ():
        yield base(opset)
        if reports[base(opset)].verdict != "refused":
            newest = opset
            break
    every = every_form(range(FIRST_OPSET, newest + 1), session.worker.models)
    if unit.options.forms == "default":
        yield from covering([form for form in every if form.opset in (FIRST_OPSET, newest)])
    else:
        yield from every


def opsets_of_this_clip() -> tuple[int, ...]:
    """The operator sets from 13 on that mean the same Clip, as far as the installed onnx knows them.

    Raises:
        UserError: onnx is not installed.
    """
    try:
        from sonnx_clip.runtimes.opsets import clip_version, newest_opset
    except ImportError as error:
        what = f"environment: ONNX models cannot be built: {error}"
        raise UserError(what, todo="install onnx: pip install 'sonnx-clip[onnx]'") from None
    return tuple(
        n for n in range(FIRST_OPSET, newest_opset() + 1) if clip_version(n) == FIRST_OPSET
    )
