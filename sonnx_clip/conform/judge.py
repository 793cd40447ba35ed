"""Judges units: makes the calls of each in a process of its own, and counts the results.

`LocalJudge` does so on this machine, `RemoteJudge` at the workers of a Dask scheduler. A runtime that opens
models is judged in several forms of a model too, each with the same calls.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from sonnx_clip.conform.call_plan import (
    as_taken,
    chosen,
    evenly_spread,
    few_calls,
    planned_calls,
    size_of,
)
from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.form_plan import form_plan
from sonnx_clip.conform.identity import comparable_parts
from sonnx_clip.conform.session import Session, StoppedError, open_worker
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.units import Counts, UnitResult
from sonnx_clip.conform.verdict_table import worst_verdict
from sonnx_clip.conform.verdicts import class_reports, compared, crash_words
from sonnx_clip.contexts.context_judge import ContextJudge
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import how_to_install
from sonnx_clip.root.terminal import duration
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, base, covering, every_form
from sonnx_clip.runtimes.model_runs import ModelWorker
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sonnx_clip.conform.check_report import Stop
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.conform.units import CheckOptions, Unit
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.machines.dask_workers import DaskWorkers
    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.worker import Child

STRIDED = "layouts of X in memory: X was contiguous"
"""Blind spot of a runtime that takes contiguous tensors only."""

_SAMPLE = 16  # calls of a request whose layout was always rejected
_FIRST = 5.0  # seconds before the first report of progress: until then the pace is not known
_THEN = 60.0  # seconds between two reports
_SLOW = 60.0  # seconds left, below which progress is not reported
_AHEAD = 2  # units for each thread of a Dask worker, so that workers that join find some


class LocalJudge:
    """Judges units in threads of this process, each with the runtime in a process of its own.

    Args:
        jobs: how many units are judged at once.
        on_pace: called with the progress of each slow unit.
    """

    def __init__(self, jobs: int = 1, on_pace: Callable[[str], None] = lambda _: None) -> None:
        self.places = jobs
        self._on_pace = on_pace
        self._workers: set[Child] = set()
        self._idle: list[ModelWorker] = []
        self._lock = threading.Lock()
        self._stopped = False

    def stop(self) -> None:
        """Kill every process."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.kill()
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def judge(self, unit: Unit) -> UnitResult:
        """The result of a unit."""
        options = unit.options
        if unit.context is not None:
            return self._judge_context(unit, unit.context)
        # A dialect has ways to omit a bound, which only a model can have.
        forms_only = bool(options.of.dialect)
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
            # `stop` may have run while the worker was opened, and did not see it.
            if self._stopped:
                worker.kill()
        try:
            result = UnitResult(version=worker.version, stopped=unsupported)
            if unsupported is None and not forms_only:
                result = self._judge_calls(session, unit)
            # That calls of a function are unsupported is no early end: its forms are judged then, too.
            ended_early = unsupported is None and result.stopped is not None
            has_forms = forms_only or (unit.first and worker.models)
            if has_forms and not ended_early:
                result = with_forms_judged(result, session, unit)
            return result.model_copy(update={"remarks": tuple(session.remarks)})
        finally:
            with self._lock:
                self._workers.discard(worker)
            worker.close()

    def _judge_context(self, unit: Unit, context: Context) -> UnitResult:
        """Judge a context, in the process that an earlier context has opened, if there is one."""
        options = unit.options
        worker = self._model_worker(options)
        try:
            judged = ContextJudge(worker, unit.etype, few=options.few_calls).judge(context)
        # An interrupt, too: a process in the middle of a context cannot be used for the next one.
        except BaseException:
            self._forget(worker)
            raise
        if worker.is_usable:
            with self._lock:
                self._idle.append(worker)
        else:
            self._forget(worker)
        return UnitResult(version=worker.version, context=judged)

    def _model_worker(self, options: CheckOptions) -> ModelWorker:
        """A process of the runtime that runs models; UserError if it opens none."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            worker = ModelWorker(options.runtime, options.limits)
        except UnsupportedError as error:
            todo = "choose onnxruntime or onnx-reference, or use --onnx, --onnx-cmd or --optimiser"
            message = f"{options.runtime} cannot be asked in contexts: {error}"
            raise UserError(message, "--contexts", todo) from None
        with self._lock:
            self._workers.add(worker)
            if self._stopped:
                worker.kill()
        return worker

    def _forget(self, worker: ModelWorker) -> None:
        with self._lock:
            self._workers.discard(worker)
        worker.close()

    def _judge_calls(self, session: Session, unit: Unit) -> UnitResult:
        """Make all calls that are not of a form, and count their results."""
        worker = session.worker
        operator = unit.options.of
        etype = operator.spec.element_type(unit.etype)
        tally = Tally(etype, unit.options.policy, operator)
        stopped = None
        made = 0
        report_pace = self._pace(unit.name, size_of(etype, unit.part, few=worker.few))
        worker.on_call = lambda call: report_pace(made + call)
        # Few calls have no parts: all of them are in the first unit.
        if not unit.first:
            calls = planned_calls(etype, operator, unit.part)
        else:
            calls = few_calls(etype, operator) if worker.few else chosen(etype, operator)
        try:
            for request, table in as_taken(calls, strides=worker.strides, entries=worker.entries):
                tally.plan(request)
                # A layout that was always rejected may still serve these bounds: a sample shows it.
                if tally.refuses(request):
                    few, expected = evenly_spread(request, table, _SAMPLE)
                    tally.add_all(session.ask(few, expected))
                if not tally.refuses(request):
                    tally.add_all(session.ask(request, table))
                    made += request.count
                    report_pace(made)
        except StoppedError as error:
            stopped = error.stop
        # The first unit has all special values, for which readings differ.
        return UnitResult(
            version=worker.version,
            stopped=stopped,
            tally=tally.counts,
            readings=tally.readings if unit.first else None,
            refusal=tally.refusal,
            unasked=() if worker.strides else (STRIDED,),
            longest=worker.entries,
            few=worker.few,
        )

    def _pace(self, name: str, calls: int) -> Callable[[int], None]:
        """Reports the progress of a slow unit, given the number of calls made: soon, then once a minute."""
        began = time.monotonic()
        next_ = began + _FIRST

        def report_pace(done: int) -> None:
            nonlocal next_
            now = time.monotonic()
            if done == 0 or now < next_:
                return
            seconds_of_call = (now - began) / done
            left = max(0, calls - done) * seconds_of_call
            if left >= _SLOW:
                next_ = now + _THEN
                progress = f"{done:,} of about {calls:,} calls"
                self._on_pace(f"{name}: {progress}, about {duration(left)} left")

        return report_pace


# --- Workers of a Dask scheduler: `check --scheduler` -------------------------------------------------------


class RemoteJudge:
    """Judges units at workers, whose code, packages, Python and processor have to be those of this machine.

    Args:
        workers: of a scheduler.
        runtime: the name of the runtime.
        version: the version that it reports here.
        operator: the operator, which workers find by its name.
    """

    def __init__(
        self,
        workers: DaskWorkers,
        runtime: str,
        version: str,
        operator: Operator,
    ) -> None:
        self._workers = workers
        self._version = version
        self._here = comparable_parts(runtime, operator)
        self.places = _AHEAD * workers.threads
        self.name = workers.name
        self.stop = workers.stop

    def judge(self, unit: Unit) -> UnitResult:
        """The result of a unit.

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
            stopped: Stop = ("environment", error.what)
            return UnitResult(version=unit.options.runtime, stopped=stopped)


def judge_there(unit: Unit, here: Mapping[str, str], version: str) -> UnitResult:
    """The result of a unit, judged at a worker.

    Raises:
        UserError: this machine differs from that of the campaign, or the runtime has another version here.
    """
    from sonnx_clip.machines.dask_workers import require_same

    runtime = unit.options.runtime
    require_same(here, comparable_parts(runtime, unit.options.of))
    judge = LocalJudge()
    try:
        result = judge.judge(unit)
    finally:
        judge.stop()  # a context leaves its process open for the next one
    # A runtime that died before it was opened has its name for a version.
    if result.version not in (version, runtime):
        expected = {**here, "version": version}
        actual = {**here, "version": result.version}
        require_same(expected, actual)
    return result


# --- Forms of a model ---------------------------------------------------------------------------------------


def with_forms_judged(result: UnitResult, session: Session, unit: Unit) -> UnitResult:
    """The result of a unit with what a runtime that opens models does in several forms of a model.

    The counts are those of a dialect, which is compared in forms alone. A form that is refused in one
    operator set and served in the other is not counted there: it is the operator set that is refused.

    Raises:
        UserError: onnx is not installed, or the runtime cannot run ONNX models.
    """
    operator = unit.options.of
    if not session.worker.models:
        message = f"the runtime {session.worker.name} cannot run ONNX models"
        todo = "choose onnxruntime or onnx-reference, or use --onnx or --onnx-cmd"
        raise UserError(message, todo=todo)
    reports: dict[ModelForm, FormReport] = {}
    counts: dict[ModelForm, Counts] = {}
    stopped = False
    against = operator.against
    # `_forms` reads the reports on the forms before: which operator sets are served decides what follows.
    forms = _forms(session, unit, reports) if against is None else against.forms
    for form in forms:
        if form not in reports:
            reports[form], counts[form], stopped = _judge_form(session, unit, form)
        if stopped:
            break
    tally = result.tally if against is None else _counts_of_dialect(reports, counts)
    forms_judged = {"forms": tuple(reports.values()), "forms_stopped": stopped, "tally": tally}
    return result.model_copy(update=forms_judged)


def _counts_of_dialect(
    reports: Mapping[ModelForm, FormReport], counts: Mapping[ModelForm, Counts]
) -> Counts:
    """The sum of the counts of forms, apart from those whose operator set alone is refused."""
    served = {form.given for form, report in reports.items() if report.verdict != "refused"}
    total = Counts()
    for form, report in reports.items():
        if report.verdict != "refused" or form.given not in served:
            total += counts[form]
    return total


def _judge_form(session: Session, unit: Unit, form: ModelForm) -> tuple[FormReport, Counts, bool]:
    """The report on a form, its counts, and whether judging ended early: no other form follows then.

    Where bounds are missing, some classes cannot be reached.
    """
    operator = unit.options.of
    few = session.worker.few
    stop: Stop | None = None
    etype = operator.spec.element_type(unit.etype)
    tally = Tally(etype, unit.options.policy, operator)
    # Each form is another code path: what killed the runtime in one may be served in the next.
    session.forget()
    try:
        bounds = None
        if operator.against is not None:
            bounds = operator.against.bounds_of_form(operator, etype, form, few=few)
        for request, table in form_plan(etype, operator, form, few=few, bounds=bounds):
            tally.plan(request)
            tally.add_all(session.ask(request, table))
            if tally.refuses(request):
                break
    except StoppedError as error:
        stop = error.stop
    counts = tally.counts
    report = _form_report(form, counts, stop, operator, etype)
    # The forms of a dialect are counted together, each as a layout of its own that may be refused.
    by_form = {str(form): raised for raised in counts.raised.values()}
    return report, counts.model_copy(update={"raised": by_form}), stop is not None


def _form_report(
    form: ModelForm,
    counts: Counts,
    stop: Stop | None,
    operator: Operator,
    etype: ElementType,
) -> FormReport:
    """The report on a form, from the counts of its calls and why they ended early, if they did."""
    classes = class_reports(counts, operator, stop)
    verdict = worst_verdict(c.verdict for c in classes)
    explaining = classes
    failing = []
    if verdict == "unsupported":
        verdict = "refused"
    else:
        reached = classes
        if form.missing_bounds:
            reached = [c for c in classes if c.verdict != "unreached"]
        verdict = worst_verdict(c.verdict for c in reached)
        failing = [c for c in classes if c.verdict != "conforms"]
        explaining = failing
    # The end of the calls explains more than what the runtime said of a class before.
    words = [stop[1] if stop else crash_words(classes)]
    words += [c.words for c in explaining]
    return FormReport(
        form=form,
        verdict=verdict,
        compared=compared(counts, operator, etype),
        calls=sum(raised.calls for raised in counts.raised.values()),
        words=next(filter(None, words), None),
        classes={c.id: c.verdict for c in failing},
        deviations={c.id: c.deviations[0] for c in failing if c.deviations},
        tried=counts.tried,
    )


def _forms(
    session: Session, unit: Unit, reports: Mapping[ModelForm, FormReport]
) -> Iterator[ModelForm]:
    """The forms to judge, given the reports on those before; some are repeated.

    The operator sets are the first and the newest that is served, or all between them.
    """
    signature = unit.options.of.signature
    known = known_opsets(signature, unit.etype)
    first = newest = known[0]
    yield base(signature, first)
    # A newer operator set is refused for its number, unless the first is refused too.
    if reports[base(signature, first)].verdict != "refused":
        for opset in reversed(known):
            yield base(signature, opset)
            if reports[base(signature, opset)].verdict != "refused":
                newest = opset
                break
    # Above the newest that is served, every form would be refused for its number alone.
    opsets = [opset for opset in known if opset <= newest]
    every = every_form(signature, opsets, session.worker.models)
    if unit.options.forms == "default":
        at_ends = [form for form in every if form.opset in (first, newest)]
        yield from covering(at_ends)
    else:
        yield from every


def known_opsets(signature: Signature, etype: str) -> tuple[int, ...]:
    """The operator sets that have an operator for an element type, as far as the installed onnx knows them.

    For a type that ONNX does not have, the first of the operator: a runtime may serve it nevertheless.

    Raises:
        UserError: onnx is not installed.
    """
    try:
        from sonnx_clip.runtimes.opsets import opsets_with
    except ImportError as error:
        message = f"environment: ONNX models cannot be built: {error}"
        raise UserError(message, todo=how_to_install("onnx")) from None
    return opsets_with(signature.op_type, etype) or (FIRST_OPSET,)
