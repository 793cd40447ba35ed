"""A run of the checker: one runtime against the oracle, in some or all element types.

What is compared: in the 8-bit types every triple; in the 16-bit types every X under bounds that together
reach every class; in all types every triple of special values in every layout, random triples, calls of
every length from 2 to 130 and of some beyond, and calls of 65,537 entries. So a runtime that is wrong at a
single unusual X of 32 or 64 bits, at an unusual pair of bounds of 16 bits or more, at a single long length,
or only after very many calls can conform here: no sample finds every such mistake, and the verdict is on
what was compared.
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
from pydantic import BaseModel, ConfigDict

import sonnx_clip
from sonnx_clip.conform.calls import OVERWRITTEN, Request, entry_indices
from sonnx_clip.conform.conditions import conditions
from sonnx_clip.conform.dtypes import bits_type, hex_bits
from sonnx_clip.conform.explanation import explain_deviation
from sonnx_clip.conform.kept import Keeper
from sonnx_clip.conform.layouts import PLAIN
from sonnx_clip.conform.limits import LIMITS, Limits
from sonnx_clip.conform.report import ClassReport, Deviation, Report, TypeReport
from sonnx_clip.conform.reproduce import reproducing_line
from sonnx_clip.conform.runtimes import code_digest, module_of
from sonnx_clip.conform.scope import scope
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session, same_calls, sample
from sonnx_clip.conform.tally import Spot, Tally
from sonnx_clip.conform.vectors import class_ids, plan
from sonnx_clip.conform.worker import RuntimeDiedError, UnsupportedError
from sonnx_clip.errors import UserError
from sonnx_clip.oracle import load_oracle
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.show import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.conform.calls import Answer
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.conform.report import Verdict
    from sonnx_clip.conform.worker import Worker
    from sonnx_clip.progress import Show
    from sonnx_clip.spec.types import ElementType

_LENGTHS = [("length-1", 1), *((PLAIN.id, length) for length in (2, 4, 8, 16, 32))]

_WRITTEN = 2000  # different entries at most that a reproducing line writes out
_WINDOW = 64

_AGAIN, _IN_A_ROW = 3, 64  # how often a call is made again that no simpler one repeats; and in a new process
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
        on_progress: called with the number of types that are judged, and the last of them.

    Raises:
        UserError: the runtime or an element type is not known, or a package is missing.
    """
    module_of(runtime)
    digest = code_digest(runtime)
    began = time.monotonic()
    required = [etype.id for etype in machine_types(require)] if require else []
    wanted = machine_types([*types, *required] if types else ())
    keeper = _Kept(runtime, kept, policy, limits)
    old = {etype.id: None if again else keeper.take(etype) for etype in wanted}
    running = _Running()
    numbers = count(1)  # the next number is one step of the interpreter, whichever thread takes it

    def judged(etype: ElementType) -> tuple[str, TypeReport]:
        if (taken := old[etype.id]) is not None:
            on_progress(next(numbers), etype.id)
            return taken[0].version, taken[0].report
        version, report = _judge(runtime, etype, policy, limits, running)
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
        spec_sha256=load_oracle().SPEC_DIGEST,
        runtime=runtime,
        runtime_version=found[-1][0],
        code_sha256=digest,
        python=platform.python_version(),
        numpy=np.__version__,
        machine=platform.machine(),
        policy=policy,
        seconds=round(time.monotonic() - began, 1),
        types=tuple(report for _, report in found),
        kept={id_: taken[1] for id_, taken in old.items() if taken is not None},
        required=tuple(required),
        scope=scope([report for _, report in found]),
    )


class _Known(BaseModel):
    """The verdicts in one element type, as they are kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    report: TypeReport


class _Kept:
    """The verdicts on one runtime that were made before, by element type."""

    def __init__(self, runtime: str, folder: Path | None, policy: Policy, limits: Limits) -> None:
        options = {"policy": policy, "limits": limits}
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
        if report.verdict not in ("crashed", "unreached", "environment"):
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


def machine_types(ids: Sequence[str] = ()) -> list[ElementType]:
    """The element types with these ids; all that NumPy has, if empty. UserError if one is not known."""
    spec = load_spec()
    if spec.digest != load_oracle().SPEC_DIGEST:
        raise UserError("generated/ is not that of spec/clip.yaml", todo="run `sonnx-clip generate`")
    known = [etype for etype in spec.element_types if etype.numpy is not None]
    wanted = [spec.element_type(id_) for id_ in dict.fromkeys(ids)] or known
    for etype in wanted:
        if etype not in known:
            raise UserError(f"no runtime could be given values of {etype.id}", todo="choose another type")
    return wanted


def _judge(
    runtime: str, etype: ElementType, policy: Policy, limits: Limits, running: _Running
) -> tuple[str, TypeReport]:
    """The runtime's version, and its verdicts in one element type."""
    try:
        session = Session(runtime, etype.id, limits)
    except UnsupportedError as error:
        return error.version, _without_comparison(etype, "unsupported", str(error))
    except RuntimeDiedError as error:
        return runtime, _without_comparison(etype, "crashed", f"{error} while it was opened")
    worker = session.worker
    running.add(worker)
    try:
        tally = Tally(etype, policy, _Describer(etype, session))
        stopped = _count_all(session, tally, etype)
        report = tally.report(stopped, session.remarks)
        with suppress(RuntimeDiedError):
            left = worker.end()
            if left:
                words = f"it leaves processes behind: {left}, ended now"
                report = report.model_copy(update={"remarks": (*report.remarks, words)})
        return worker.version, report
    finally:
        running.remove(worker)
        worker.close()


def _count_all(session: Session, tally: Tally, etype: ElementType) -> tuple[Verdict, str] | None:
    """Make all calls, and count what they give; why it ended early, if it did."""
    try:
        for request, table in plan(etype):
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


def _without_comparison(etype: ElementType, verdict: str, words: str) -> TypeReport:
    case_of = load_oracle().CASE_OF_CLASS
    classes = [
        ClassReport(id=id_, case=case_of.get(id_), verdict=verdict, compared=0, words=words)  # type: ignore[arg-type]
        for id_ in (*class_ids(etype.family), "C1", "C3")
    ]
    first = classes[0].verdict
    return TypeReport(type=etype.id, verdict=first, compared=0, words=words, classes=tuple(classes))


class _Describer:
    """Writes the `Deviation` for a spot: the shortest call that still deviates, and why."""

    def __init__(self, etype: ElementType, session: Session) -> None:
        self._etype = etype
        self._session = session
        self._afresh = 0

    def __call__(self, spot: Spot) -> Deviation:
        etype, bounds = self._etype, self._bounds(spot.request, spot.row)
        got = spot.got
        values = {"X": spot.x, "min": bounds[0], "max": bounds[1]}
        shown = " ".join(f"{name}={show(value, etype)}" for name, value in values.items())
        due = show(spot.due, etype)
        explanation = None
        if got is not None:
            shown = f"{shown}: got {show(got, etype)}, expected {due}"
            explanation = explain_deviation(etype, (spot.x, *bounds), spot.due, got)
        layout, line, words = self._shortest(spot, f"{hex_bits(spot.due, etype.id)} ({due})")
        return Deviation(
            kind=spot.kind,
            x=hex_bits(spot.x, etype.id),
            min=hex_bits(bounds[0], etype.id),
            max=hex_bits(bounds[1], etype.id),
            expected=hex_bits(spot.due, etype.id),
            got=None if got is None else hex_bits(got, etype.id),
            shown=shown,
            words=words,
            latitude=spot.latitude,
            layout=layout,
            explanation=explanation,
            reproduce=line,
        )

    def _shortest(self, spot: Spot, due: str) -> tuple[str, str, str | None]:
        """The layout and the line that repeat a deviation, with as few and as equal entries as will do.

        Last, what is said of it in words: by the runtime, or of what is not repeated.
        """
        request = spot.request
        if spot.kind == "crashed":  # it is known already which calls do it
            return request.layout, self.line(request, spot.row, due, spot.column), spot.words
        for simpler in self._simpler(spot):
            place = self._place(spot, simpler)
            if place is not None:
                return simpler.layout, self.line(simpler, 0, due + place), spot.words
        if request.length == 0:
            due = "no entries, shape and type of x"
        elif request.length > 1:
            due = f"{due} at entry {spot.column}"
        if spot.words == OVERWRITTEN:
            following = self._bounds(request, (spot.row + 1) % len(request.lower))
            line = self.line(
                request, spot.row, f"{due}; the next call changes the result", following=following
            )
            return request.layout, line, spot.words
        times, words = self._again(spot)
        line = self.line(request, spot.row, due, spot.column, times=times)
        return request.layout, line, spot.words or words

    def _again(self, spot: Spot) -> tuple[int, str | None]:
        """The same call again: how often it is made until it deviates, and what is said if it is not once.

        Three times where it stands; then in a new process, where the calls before are the same call.
        """
        if spot.got is None:
            return 1, None
        try:
            for _ in range(_AGAIN):
                if len(self._showing(spot, self._session.repeat(same_calls(spot.request, spot.row, 1)))):
                    return 1, None
            words = f"not repeated: asked again {_AGAIN} times, the answer was another one"
            self._afresh += 1
            if self._afresh > _AGAIN:
                return 1, words
            self._session.restart()
            answer = self._session.repeat(same_calls(spot.request, spot.row, _IN_A_ROW))
        except (GaveUpError, EnvironmentFaultError):
            return 1, None
        rows = self._showing(spot, answer)
        if not len(rows):
            return 1, f"{words}, nor is it among {_IN_A_ROW} calls in a new process"
        call = int(rows[0]) + 1
        return call, f"it depends on earlier calls: in a new process call {call} of this kind gives it"

    def _showing(self, spot: Spot, answer: Answer) -> Array:
        """The calls of an answer that deviate as a spot does."""
        if answer.died is not None or answer.failures:
            return np.zeros(0, int)
        return np.flatnonzero(answer.bits[:, spot.column] == spot.got)

    def _simpler(self, spot: Spot) -> Iterator[Request]:
        """Calls with the value of X alone, ever longer, then in the layout in which it deviated, then cut."""
        request = spot.request
        if request.length == 0:
            return
        pool, low, high = self._bits(spot.x, *self._bounds(request, spot.row))
        for layout, length in [*_LENGTHS, (request.layout, request.length)]:
            yield Request(layout, length, pool, np.zeros(1, int), low, high)
        if len(request.pool) > _WRITTEN:
            yield _cut(request, spot.row, spot.column)

    def _bits(self, *values: int) -> list[Array]:
        return [np.array([value], bits_type(self._etype.id)) for value in values]

    def _place(self, spot: Spot, request: Request) -> str | None:
        """Where in a simpler call the deviation shows again, in words; None if it does not."""
        try:
            answer = self._session.repeat(request)
        except (GaveUpError, EnvironmentFaultError):
            return None
        if answer.died is not None:
            return None
        everywhere = " at every entry" if request.length > 1 else ""
        if spot.got is None or answer.failures:
            return everywhere if spot.got is None and answer.failures else None
        alike = answer.bits[0] == spot.got
        if alike.all():
            return everywhere
        same = request.length == spot.request.length and alike[spot.column]
        return f" at entry {spot.column}" if same else None

    def _bounds(self, request: Request, row: int) -> tuple[int, int]:
        return int(request.lower[row]), int(request.upper[row])

    def line(
        self, request: Request, row: int, due: str, column: int = 0, *,
        following: tuple[int, int] | None = None, times: int = 1,
    ) -> str:  # fmt: skip
        """The line of Python that makes a call of a request, so many times, and perhaps another call."""
        bounds = self._bounds(request, row)
        if len(request.pool) > _WRITTEN:
            request, row = _cut(request, row, column), 0
            due = f"{due} (X was longer: here {_WINDOW} of its entries recur)"
        entries = request.pool[entry_indices(request)[row]].tolist()
        return reproducing_line(
            self._session.worker, request.layout, entries, (bounds, following), due, times
        )


def _cut(request: Request, row: int, column: int) -> Request:
    """One call of a request, with the entries about one of them, over and over; that one keeps its place."""
    indices = entry_indices(request)[row]
    first = column - column % _WINDOW
    window = request.pool[indices[first : first + _WINDOW]]
    bounds = request.lower[row : row + 1], request.upper[row : row + 1]
    return Request(request.layout, request.length, window, np.zeros(1, int), *bounds)
