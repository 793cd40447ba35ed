"""One runtime in one element type, through all its deaths: for `campaign`.

When the runtime dies, its process starts again and the next calls are made. The call of which it died is
asked again in parts, until the classes are known whose triples do it: these are not asked again in that
layout, everything else is. Where the runtime died at a guard around its operands, the place is found out, and
the run goes on without that guard.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.runtimes.calls import Answer, Died, Failure, Request, entry_indices
from sonnx_clip.runtimes.frames import BAD_FRAME
from sonnx_clip.runtimes.guarded import AFTER, BEFORE, BOUNDS, WRITE
from sonnx_clip.runtimes.runtime import CLIP_NODE, OperatorNode
from sonnx_clip.runtimes.worker import RuntimeDiedError, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.runtime import Limits

    Piece: TypeAlias = tuple[Request, Table, Answer]

_WITHOUT_ANSWER = 3  # deaths before any answer after which a runtime is given up
_HANGS = 6  # and hangs or bad frames, in all
_LAYOUTS = 3  # a class that is deadly in so many layouts is asked in no other
_AT_A_GUARD = ("SIGSEGV", "SIGBUS")
_PLACES = {  # the guard that stood alone, and what it says
    WRITE: "it writes into its input X what is there already",
    AFTER: "it reads past the end of X",
    BEFORE: "it reads before the start of X",
    BOUNDS: "it writes into min or max what is there already, or touches what lies around them",
}


class GaveUpError(Exception):
    """The runtime dies too often; what was not asked stays unanswered."""

    verdict: Verdict = "crashed"


class EnvironmentFaultError(Exception):
    """The machine lacks what the runtime needs: no verdict on the runtime follows."""

    verdict: Verdict = "environment"


class Session:
    """A worker that is started again whenever it has died.

    Args:
        runtime: the name of a runtime.
        etype: the id of an element type.
        limits: how long it may take.
        models_only: as for `Worker`.
        node: likewise.

    Raises:
        UserError: as `Worker`, and likewise the others.
        UnsupportedError: the runtime refuses the type.
        RuntimeDiedError: it died while it was opened.
    """

    def __init__(
        self, runtime: str, etype: str, limits: Limits, *, models_only: bool = False,
        node: OperatorNode = CLIP_NODE,
    ) -> None:  # fmt: skip
        self._limits = limits
        self.worker = Worker(runtime, etype, limits, models_only=models_only, node=node)
        self.remarks: dict[str, None] = dict.fromkeys(self.worker.remarks)
        self.forget()
        self._unguarded: frozenset[str] = frozenset()
        self._hangs = self._bad_frames = 0
        self._answered = False

    def forget(self) -> None:
        """Forget of which classes it died: calls of another form follow."""
        self._deaths = 0
        self._deadly: dict[str, set[int]] = {}  # by layout, classes
        self._empty: Counter[str] = Counter()  # by layout, deaths of calls without entries

    def ask(self, request: Request, table: Table) -> Iterator[Piece]:
        """The answers to the calls of a request, in pieces; a piece may say that the runtime died of a call.

        Args:
            request: the calls.
            table: what is expected, a row for each call.

        Raises:
            GaveUpError: the runtime died too often.
            EnvironmentFaultError: the machine is at fault.
        """
        pending = [(request, table)]
        while pending:
            asked = self._without_deadly(*pending.pop(0))
            if asked is None:
                continue
            request, table = asked
            answer = self._answer(request)
            if answer.died is None:
                yield request, table, answer
                continue
            call = max(0, answer.died.call)
            if call:
                rows = np.arange(call)
                failures = {row: found for row, found in answer.failures.items() if row < call}
                before_it, expected = cut(request, table, rows)
                yield before_it, expected, Answer(answer.bits[:call, : before_it.length], failures)
            row = cut(request, table, np.array([call]))
            before = {key: set(found) for key, found in self._deadly.items()}
            yield from self._blamed(*row, replace(answer.died, call=call))
            if self._dead():
                times = f"{self._deaths} times" + (f", {self._hangs} of them hanging" if self._hangs else "")
                raise GaveUpError(f"{answer.died.words}; given up after it had died {times}")
            if before != self._deadly:
                pending.append(row)
            if call + 1 < request.count:
                pending.append(cut(request, table, np.arange(call + 1, request.count)))

    def _repeat(self, request: Request) -> Answer:
        """A copy of the answer to a request as far as it goes; a runtime that has died is started again."""
        answer = self._answer(request)
        return replace(answer, bits=answer.bits.copy())

    def _answer(self, request: Request) -> Answer:
        """The same, until the next request."""
        try:
            answer = self.worker.ask(replace(request, guards=request.guards - self._unguarded))
            self.remarks |= dict.fromkeys(answer.remarks)
            self._answered = self._answered or answer.died is None or answer.died.call > 0
            if answer.died is not None:
                self._deaths += 1
                self._hangs += answer.died.hung
                self._bad_frames += answer.died.words.startswith(BAD_FRAME)
                if answer.died.words.startswith("killed by SIGKILL"):
                    words = "killed by SIGKILL, as the system does where memory runs out"
                    raise EnvironmentFaultError(words)
                self.worker.start()
        except RuntimeDiedError as error:
            raise GaveUpError(str(error)) from None
        for failure in answer.failures.values():
            if failure.environment:
                raise EnvironmentFaultError(failure.words)
        return answer

    def _dead(self) -> bool:
        """Whether it died so often that it is given up."""
        never = not self._answered and self._deaths >= _WITHOUT_ANSWER
        return never or self._deaths >= self._limits.deaths or max(self._hangs, self._bad_frames) >= _HANGS

    def _blamed(self, request: Request, table: Table, died: Died) -> Iterator[Piece]:
        """What is said of one call of which the runtime died."""
        if any(name in died.words for name in _AT_A_GUARD):
            free = self._repeat(replace(request, guards=frozenset()))
            if free.died is None:
                yield from self._outside(request, table, died, free)
                return
        self._empty[request.layout] += not request.length
        if found := [*self._by_class(request, table)]:
            yield from found
            return
        every = _classes(request, table)
        alone = None if self._dead() else self._repeat(request)
        if alone is not None and alone.died is None:
            yield from _not_alone(request, table, died, alone)
            return
        for index in every:
            self._avoid(request.layout, index)
        yield _death(request, table, died, every)

    def _by_class(self, request: Request, table: Table) -> Iterator[Piece]:
        """The classes of a call of which it dies where one entry of theirs stands everywhere."""
        classes = table.classes[0, entry_indices(request, 0)]
        for index in _classes(request, table):
            if self._dead():
                return
            probe = _all_like(request, int(np.flatnonzero(classes == index)[0]))
            again = self._repeat(probe).died
            if again is not None:
                self._avoid(request.layout, index)
                yield _death(probe, table, again, (index,))

    def _outside(self, request: Request, table: Table, died: Died, free: Answer) -> Iterator[Piece]:
        """What is said of a call that is answered where no guard stands: which guard it touches."""
        for guard, words in _PLACES.items():
            alone = replace(request, guards=frozenset({guard}))
            if guard not in self._unguarded and self._repeat(alone).died is not None:
                self._unguarded |= {guard}
                if not free.failures:
                    free.failures[0] = Failure((), words, memory=True)
                # What writes past an end may touch both pages that follow, and what writes all of X both.
                yield request, table, free
                return
        yield from _not_alone(request, table, died, free)

    def _avoid(self, layout: str, index: int) -> None:
        self._deadly.setdefault(layout, set()).add(index)

    def _without_deadly(self, request: Request, table: Table) -> tuple[Request, Table] | None:
        """The calls with other entries where theirs are deadly; without those that have no other."""
        if self._empty[request.layout] >= _LAYOUTS:
            return None
        if not request.length:  # it dies, if at all, of its bounds
            kept = ~np.isin(table.classes, list(set().union(*self._deadly.values()))).all(axis=1)
            return cut(request, table, np.flatnonzero(kept)) if kept.any() else None
        times = Counter(index for found in self._deadly.values() for index in found)
        deadly = {index for index, layouts in times.items() if layouts >= _LAYOUTS}
        deadly |= self._deadly.get(request.layout, set())
        if not deadly:
            return request, table
        indices = entry_indices(request).copy()
        every = np.isin(table.classes, list(deadly))
        bad = every[np.arange(len(indices))[:, None], indices]
        kept = np.ones(len(indices), bool)
        for row in np.flatnonzero(bad.any(axis=1)).tolist():
            safe = np.flatnonzero(~every[row])
            kept[row] = len(safe) > 0
            if kept[row]:
                indices[row, bad[row]] = safe[0]
        if not kept.any():
            return None
        return cut(replace(request, indices=indices), table, np.flatnonzero(kept))


def _classes(request: Request, table: Table) -> tuple[int, ...]:
    """The classes that a single call touches."""
    return tuple(np.unique(table.classes[0, entry_indices(request, 0)]).tolist())


def _not_alone(request: Request, table: Table, died: Died, answer: Answer) -> Iterator[Piece]:
    """What is said of a call that is answered when it is made again, alone."""
    words = f"{died.words}, not when this call is made alone"
    yield request, table, answer
    yield _death(request, table, replace(died, words=words), _classes(request, table))


def _death(request: Request, table: Table, died: Died, blamed: tuple[int, ...]) -> Piece:
    words = f"{died.words} in a call of layout {request.layout}"
    failure = Failure((), words, raised=True, blamed=blamed)
    bits = np.zeros((request.count, request.length), request.pool.dtype)
    return request, table, Answer(bits, {0: failure})


def _all_like(request: Request, column: int) -> Request:
    """One call with the entry of a column everywhere."""
    index = entry_indices(request, 0)[column]
    return replace(request, indices=np.full((1, request.length), index))


def cut(request: Request, table: Table, rows: Array) -> tuple[Request, Table]:
    """Some calls of a request, in the same memory."""
    return request.calls(rows), table.rows(rows)


def sample(request: Request, table: Table, count: int) -> tuple[Request, Table]:
    """So many of the calls of a request, spread over it."""
    return cut(request, table, np.unique(np.linspace(0, request.count - 1, count).astype(int)))
