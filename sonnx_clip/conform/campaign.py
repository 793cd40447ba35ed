"""A run of the checker: one runtime against the oracle, in some or all element types.

What is compared: in the 8-bit types every triple; in the 16-bit types every X under bounds that together
reach every class; in all types every triple of special values in every layout, random triples, calls of
every length from 2 to 130 and of some beyond, and calls of 65,537 entries. So a runtime that is wrong at a
single unusual X of 32 or 64 bits, at an unusual pair of bounds of 16 bits or more, at a single long length,
or only after very many calls can conform here: no sample finds every such mistake, and the verdict is on
what was compared. A runtime that starts a program for each call is asked few of them, see `few_calls`.
"""

from __future__ import annotations

import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

import sonnx_clip
from sonnx_clip.conform.check_report import ClassReport, Report, TypeReport
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.chosen_triples import plan
from sonnx_clip.conform.conditions import conditions
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.find_runtime import module_of
from sonnx_clip.conform.foreign.few_calls import few_calls
from sonnx_clip.conform.foreign.reach import STRIDED, reaching
from sonnx_clip.conform.kept import Keeper
from sonnx_clip.conform.limits import LIMITS, Limits
from sonnx_clip.conform.model_forms.judge_forms import judge_forms, with_forms_judged
from sonnx_clip.conform.runtimes import code_digest
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session, sample
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.worker import RuntimeDiedError, UnsupportedError
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.model_forms.axes import Choice
    from sonnx_clip.conform.worker import Worker
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.progress import Show

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
    of: CheckedOperator | None = None,
    on_progress: Show = lambda _, __: None,
) -> Report:
    """Judge a runtime.

    Args:
        runtime: a name of `RUNTIMES`, or ``module:function``.
        types: ids of element types; all that NumPy has, if empty.
        policy: ``strict`` turns off the latitude that is not granted always.
        limits: how long the runtime may take, for a call and to be imported.
        require: ids of element types that the runtime must support; they are judged in any case.
        jobs: how many element types are judged at once.
        kept: the folder in which verdicts are kept; if None, none is taken from there and none is kept.
        again: judge also what was judged before under the same conditions.
        forms: of a runtime that opens models, in which forms of a model it is judged beside the one in which
            all other calls are made: some that cover every pair of values of two axes, or all.
        of: the operator, if it is not Clip: no verdict on it is kept, and no other form of a model judged.
        on_progress: called with the number of types that are judged, and the last of them.

    Raises:
        UserError: the runtime or an element type is not known, or a package is missing.
    """
    module_of(runtime)
    digest = code_digest(runtime)
    began = time.monotonic()
    of = of or clip_operator()
    required = [etype.id for etype in machine_types(require, of)] if require else []
    wanted = machine_types([*types, *required] if types else (), of)
    keeper = _Kept(runtime, kept if of.is_clip else None, policy, limits, forms)
    old = {etype.id: None if again else keeper.take(etype) for etype in wanted}
    running = _Running()
    numbers = count(1)  # the next number is one step of the interpreter, whichever thread takes it

    def judged(etype: ElementType) -> tuple[str, TypeReport]:
        if (taken := old[etype.id]) is not None:
            on_progress(next(numbers), etype.id)
            return taken[0].version, taken[0].report
        version, report = _judge(runtime, etype, policy, limits, running, forms, of)
        if not running.stopped:
            keeper.keep(etype, version, report)
            on_progress(next(numbers), etype.id)
        return version, report

    with ThreadPoolExecutor(jobs) as pool:
        try:
            found = list(pool.map(judged, wanted))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            running.stop()
            raise
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
        seconds=round(time.monotonic() - began, 1),
        types=tuple(report for _, report in found),
        kept={id_: taken[1] for id_, taken in old.items() if taken is not None},
        required=tuple(required),
        scope=scope([report for _, report in found], of),
    )


class _Known(Stored):
    """The verdicts in one element type, as they are kept."""

    version: str
    report: TypeReport


class _Kept:
    """The verdicts on one runtime that were made before, by element type."""

    def __init__(
        self, runtime: str, folder: Path | None, policy: Policy, limits: Limits, forms: Choice
    ) -> None:
        options = {"policy": policy, "limits": limits, "forms": forms}
        self._runtime, self._policy = runtime, policy
        self._keeper = Keeper(folder, lambda: conditions(runtime, [__name__], options))

    def _name(self, etype: ElementType) -> tuple[str, str, str, str]:
        return "check", self._runtime, etype.id, self._policy

    def take(self, etype: ElementType) -> tuple[_Known, str] | None:
        """The verdicts in an element type, and when they were made."""
        found = self._keeper.take(*self._name(etype), type=etype.id)
        if found is None:
            return None
        try:
            known = _Known.model_validate_json(found.text)
        except ValueError:
            return None
        return (known, found.made) if known.report.type == etype.id else None

    def keep(self, etype: ElementType, version: str, report: TypeReport) -> None:
        """Keep verdicts, unless the run was not whole.

        That a runtime died may be the machine's fault; a class that was not reached is the checker's.
        """
        verdicts = {report.verdict, *(form.verdict for form in report.forms or ())}
        if not verdicts & {"crashed", "unreached", "environment"}:
            text = _Known(version=version, report=report).model_dump_json()
            self._keeper.keep(text, *self._name(etype), type=etype.id)


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
    runtime: str,
    etype: ElementType,
    policy: Policy,
    limits: Limits,
    running: _Running,
    forms: Choice,
    of: CheckedOperator,
) -> tuple[str, TypeReport]:
    """The runtime's version, and its verdicts in one element type."""
    refused: TypeReport | None = None
    try:
        try:
            session = Session(runtime, etype.id, limits, node=of.node)
        except UnsupportedError as error:
            refused = _without_comparison(etype, "unsupported", str(error), of)
            if not error.opens_models:
                return error.version, refused
            session = Session(runtime, etype.id, limits, models_only=True)  # other forms may be served
    except RuntimeDiedError as error:
        return runtime, _without_comparison(etype, "crashed", f"{error} while it was opened", of)
    worker = session.worker
    running.add(worker)
    try:
        stopped = None
        if refused is None:
            tally = Tally(etype, policy, Describer(etype, session, of), of)
            stopped = _count_all(session, tally, etype, of)
            unasked = () if worker.strides else (STRIDED,)
            more = {"unasked": unasked, "longest": worker.entries, "few": worker.few}
            report = tally.report(stopped).model_copy(update=more)
        else:
            report = refused
        if worker.models and stopped is None:
            report = with_forms_judged(report, judge_forms(session, etype, policy, forms))
        report = report.model_copy(update={"remarks": tuple(session.remarks)})
        with suppress(RuntimeDiedError):
            left = worker.end()
            if left:
                words = f"it leaves processes behind: {left}, ended now"
                report = report.model_copy(update={"remarks": (*report.remarks, words)})
        return worker.version, report
    finally:
        running.remove(worker)
        worker.close()


def _count_all(
    session: Session, tally: Tally, etype: ElementType, of: CheckedOperator
) -> tuple[Verdict, str] | None:
    """Make all calls, and count what they give; why it ended early, if it did."""
    worker = session.worker
    try:
        calls = few_calls(etype) if worker.few else plan(etype, of)
        for request, table in reaching(calls, strides=worker.strides, entries=worker.entries):
            if tally.refuses(request):
                for piece in session.ask(*sample(request, table, _SAMPLE)):
                    tally.add(*piece)
                if tally.refuses(request):
                    continue
            for piece in session.ask(request, table):
                tally.add(*piece)
    except GaveUpError as error:
        return "crashed", str(error)
    except EnvironmentFaultError as error:
        return "environment", str(error)
    return None


def _without_comparison(etype: ElementType, verdict: str, words: str, of: CheckedOperator) -> TypeReport:
    case_of = of.oracle.CASE_OF_CLASS
    classes = [
        ClassReport(id=id_, case=case_of.get(id_), verdict=verdict, compared=0, words=words)  # type: ignore[arg-type]
        for id_ in (*of.class_ids(etype.family), "C1", "C3")
    ]
    first = classes[0].verdict
    return TypeReport(type=etype.id, verdict=first, compared=0, words=words, classes=tuple(classes))
