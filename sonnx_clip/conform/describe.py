"""Writes what is told of a deviation: the shortest call that still deviates, and why. For `campaign`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import Deviation
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.explanations import explain_deviation
from sonnx_clip.conform.reproduce import CallText, Shows, reproducing_line
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, same_calls
from sonnx_clip.language.show import show
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.runtimes.calls import OVERWRITTEN, RETURNED, Request, entry_indices
from sonnx_clip.runtimes.guarded import WROTE_INTO
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN
from sonnx_clip.runtimes.model_forms import statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.session import Session
    from sonnx_clip.conform.tally import Spot
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer

_LENGTHS = [("length-1", 1), *((PLAIN.id, length) for length in (2, 4, 8, 16, 32))]
_PLAIN = frozenset(layout.id for layout in LAYOUTS if layout.plain)
_BY_ID = {layout.id: layout for layout in LAYOUTS}

_WRITTEN = 2000  # different entries at most that a reproducing line writes out
_WINDOW = 64

_AGAIN, _IN_A_ROW = 3, 64  # how often a call is made again that no simpler one repeats; and in a new process


class Describer:
    """Writes the `Deviation` for a spot: the shortest call that still deviates, and why.

    Args:
        etype: the element type.
        session: makes calls again.
        of: the operator; Clip by default.
    """

    def __init__(self, etype: ElementType, session: Session, of: CheckedOperator | None = None) -> None:
        self._etype, self._of = etype, of or clip_operator()
        self._session = session
        self._afresh = self._entry = 0

    def __call__(self, spot: Spot) -> Deviation:
        """The deviation."""
        etype, operands = self._etype, self._operands(spot)
        got = spot.got
        values = dict(zip(self._of.node.called, operands, strict=True))
        shown = " ".join(f"{name}={show(value, etype)}" for name, value in values.items())
        due = show(spot.due, etype)
        explanation = None
        if got is not None:
            answer, result = show(got, etype), due
            if answer == due:  # two NaNs: their bits tell them apart
                answer, result = (
                    f"{due} ({hex_bits(got, etype.id)})",
                    f"{due} ({hex_bits(spot.due, etype.id)})",
                )
            shown = f"{shown}: got {answer}, expected {result}"
            if self._of.is_clip:
                form = spot.request.form
                words = form and self._of.explanation(etype, form, operands, got)
                explanation = words or explain_deviation(self._of, etype, operands, got)
        self._entry = 0
        layout, line, words = self._shortest(spot, f"{hex_bits(spot.due, etype.id)} ({due})")
        return Deviation(
            entry=self._entry,
            kind=spot.kind,
            operands={name: hex_bits(value, etype.id) for name, value in values.items()},
            expected=hex_bits(spot.due, etype.id),
            got=None if got is None else hex_bits(got, etype.id),
            shown=shown,
            words=words,
            latitude=spot.latitude,
            layout=layout,
            explanation=explanation,
            reproduce=line,
        )

    def _operands(self, spot: Spot) -> tuple[int, ...]:
        """The bits of the operands where an answer deviates; 0 for tensors of a call without entries."""
        request = spot.request
        tensors = [0] * len(request.pools)
        if request.length:
            place = entry_indices(request, spot.row)[spot.column]
            tensors = [int(pool[place]) for pool in request.pools]
        return (*tensors, *self._scalars(request, spot.row))

    def _shortest(self, spot: Spot, due: str) -> tuple[str, str, str | None]:
        """The layout and the line that repeat a deviation, with as few and as equal entries as will do.

        Last, what is said of it in words: by the runtime, or of what is not repeated.
        """
        request = spot.request
        if spot.kind == "crashed":  # it is known already which calls do it
            return request.layout, self.line(request, spot.row, due, spot), spot.words
        for simpler in self._simpler(spot):
            place = self._place(spot, simpler)
            if place is not None:
                return simpler.layout, self.line(simpler, 0, due + place, spot, whole=False), spot.words
        if request.length == 0:
            due = "no entries, shape and type of x"
        elif request.length > 1:
            due = f"{due} at entry {spot.column}"
        if spot.words == OVERWRITTEN:
            following = self._scalars(request, (spot.row + 1) % request.count)
            line = self.line(
                request, spot.row, f"{due}; the next call changes the result", spot, following=following
            )
            return request.layout, line, spot.words
        times, words = self._again(spot)
        line = self.line(request, spot.row, due, spot, times=times)
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
        bits = [np.array([value], bits_type(self._etype.id)) for value in self._operands(spot)]
        pools, scalars = bits[: len(request.pools)], tuple(bits[len(request.pools) :])
        shorter = _LENGTHS if request.layout in _PLAIN or request.form is None else ()
        for layout, length in [*shorter, (request.layout, request.length)]:
            yield _other(request, layout, length, pools, scalars)
        if len(request.pool) > _WRITTEN:
            yield _cut(request, spot.row, spot.column)

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

    def _scalars(self, request: Request, row: int) -> tuple[int, ...]:
        return tuple(int(scalar[row]) for scalar in request.scalars)

    def line(
        self, request: Request, row: int, due: str, spot: Spot, *,
        following: tuple[int, ...] | None = None, times: int = 1, whole: bool = True,
    ) -> str:  # fmt: skip
        """The line of Python that makes a call of a request, so many times, and perhaps another call.

        Where the call is not `whole`, the entry that deviates is the first one, or at its place if it is as
        long as the call of the spot.
        """
        scalars = self._scalars(request, row)
        column = spot.column if whole or request.length == spot.request.length else 0
        self._entry = column
        if len(request.pool) > _WRITTEN:
            request, row = _cut(request, row, column), 0
            due = f"{due} (X was longer: here {_WINDOW} of its entries recur)"
        place = entry_indices(request, row)
        entries = [pool[place].tolist() for pool in request.pools]
        how = self._call_text(request)
        return reproducing_line(
            how, request.layout, entries, (scalars, following), due, times, *self._shows(spot)
        )

    def _shows(self, spot: Spot) -> tuple[Shows, str | None]:
        """What a line shows of a deviation, and which operand it watches."""
        words = spot.words or ""
        if spot.kind == "raises":
            return "exception", None
        if words.startswith(RETURNED):
            return "type", None
        names = zip(self._of.node.called, self._of.node.operands, strict=True)
        written = [operand for name, operand in names if words == f"{WROTE_INTO}{name}"]
        return ("memory", written[0]) if written else ("bits", None)

    def _call_text(self, request: Request) -> CallText:
        worker = self._session.worker
        if request.form is None:
            names = self._of.node.operands
            return CallText(worker.etype, worker.imports, worker.call, worker.before, names)
        set_up, call = worker.models[request.form.optimised]
        shape = _BY_ID[request.layout].arrange(np.zeros(request.length)).shape
        before = [*statements(worker.etype, request.form, shape), *([set_up] if set_up else [])]
        return CallText(worker.etype, worker.imports, call, before)


def _cut(request: Request, row: int, column: int) -> Request:
    """One call of a request, with the entries about one of them, over and over; that one keeps its place."""
    indices = entry_indices(request, row)
    first = column - column % _WINDOW
    window = [pool[indices[first : first + _WINDOW]] for pool in request.pools]
    scalars = tuple(scalar[row : row + 1] for scalar in request.scalars)
    return _other(request, request.layout, request.length, window, scalars)


def _other(
    request: Request, layout: str, length: int, pools: Sequence[Array], scalars: tuple[Array, ...]
) -> Request:
    """One call of the kind of a request, with other entries and scalars."""
    pool, *beside = pools
    return replace(
        request, layout=layout, length=length, pool=pool, beside=tuple(beside), starts=np.zeros(1, int),
        scalars=scalars, indices=None, at_start=None,
    )  # fmt: skip
