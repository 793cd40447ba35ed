"""A runtime in one element type that survives crashes and hangs.

When the runtime dies, its process is restarted and the remaining calls are made. The call that killed it is
repeated in parts, to find the classes whose entries kill it, or the one entry that does. They are not called
again in that layout; all others are. If the runtime died at a guard page around its operands, the guard is
identified, and the run continues without it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sonnx_clip.conform.call_plan import cut
from sonnx_clip.runtimes.calls import Answer, Died, Failure, Request, entry_indices
from sonnx_clip.runtimes.frames import BAD_FRAME
from sonnx_clip.runtimes.guarded import AFTER, BEFORE, BOUNDS, WRITE
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from sonnx_clip.conform.check_report import Stop
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.units import CheckOptions
    from sonnx_clip.conform.verdict_table import Verdict
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.runtime import Limits

    Value: TypeAlias = tuple[int, ...]  # the bits of an entry of each tensor

_UNANSWERED = 3  # deaths before any answer after which a runtime is given up
_HANGS = 6  # and hangs or bad frames, in all: each of them takes as long as the limit of a call
_LAYOUTS = 3  # a class that is deadly in this many layouts is called in no other
_SEARCHES = 3  # for the one entry of a call that kills; each takes about ten deaths
_AT_A_GUARD = ("SIGSEGV", "SIGBUS")
_FAULTS = {  # by the guard that is touched
    WRITE: "it writes to its input X, without changing it",
    AFTER: "it reads past the end of X",
    BEFORE: "it reads before the start of X",
    BOUNDS: "it writes to min or max without changing them, or accesses memory around them",
}


class Piece(NamedTuple):
    """Some calls of a request, with a row of expected results and an answer for each."""

    request: Request
    table: Table
    answer: Answer


class StoppedError(Exception):
    """Judging ends early: the runtime dies too often, or the machine is at fault (``environment``)."""

    def __init__(self, verdict: Verdict, words: str) -> None:
        self.stop: Stop = verdict, words
        super().__init__(words)


def open_worker(options: CheckOptions, type_id: str) -> tuple[Worker, Stop | None]:
    """The runtime, opened for an element type; with ``unsupported`` and its words if for models alone.

    Raises:
        UserError: the runtime, or a package that it needs, is missing or cannot be imported.
        UnsupportedError: the runtime rejects the type.
        RuntimeDiedError: it died while it was opened.
    """
    start = partial(
        Worker, options.runtime, type_id, options.limits, signature=options.of.signature
    )
    # A dialect is asked in the forms of a model alone.
    is_dialect = bool(options.of.dialect)
    try:
        return start(models_only=is_dialect), None
    except UnsupportedError as error:
        # It may serve the type where bounds are constants: its forms are judged without other calls.
        if not error.opens_models:
            raise
        return start(models_only=True), ("unsupported", str(error))


class Session:
    """A worker that is restarted whenever it has died."""

    def __init__(self, worker: Worker, limits: Limits) -> None:
        self._limits = limits
        self.worker = worker
        self.remarks: dict[str, None] = dict.fromkeys(self.worker.remarks)
        self._unguarded: frozenset[str] = frozenset()
        self._hangs = 0
        self._bad_frames = 0
        self._has_answered = False
        self.forget()

    def forget(self) -> None:
        """Forget deadly classes: calls of another form follow."""
        self._deaths = 0
        self._deadly: set[tuple[str, int]] = set()  # layout and class
        self._deadly_values: dict[Value, frozenset[int]] = {}  # with the classes in which they kill
        self._searches = 0
        self._empty: Counter[str] = Counter()  # by layout, deaths in calls without entries

    def ask(self, request: Request, table: Table) -> Iterator[Piece]:
        """Make the calls of a request, and yield the answers in pieces, deaths included.

        Args:
            request: the calls.
            table: the expected results, a row for each call.

        Raises:
            StoppedError: the runtime died too often, or the machine is at fault.
        """
        pending = [(request, table)]
        while pending:
            request, table = self._without_deadly(*pending.pop(0))
            if not request.count:
                continue
            answer = self._answer(request)
            if answer.died is None:
                yield Piece(request, table, answer)
                continue

            # A runtime that died before its first call is blamed for that call.
            call = max(0, answer.died.call)
            if call:
                before, expected = cut(request, table, np.arange(call))
                results = answer.bits[:call, : before.length]
                yield Piece(before, expected, Answer(results, answer.failures))

            known_as_deadly = self._deadly.copy(), self._deadly_values.copy()
            deadly_call = cut(request, table, np.array([call]))
            died = replace(answer.died, call=call)
            yield from self._explain_death(*deadly_call, died)
            if self._is_hopeless():
                times = f"{self._deaths} crashes"
                if self._hangs:
                    times += f", {self._hangs} of them hangs"
                raise StoppedError("crashed", f"{answer.died.words}; not restarted after {times}")

            # The call again, as soon as it is known which of its entries to leave out; then those
            # behind it. Without new knowledge it would die again, and again.
            if (self._deadly, self._deadly_values) != known_as_deadly:
                pending.append(deadly_call)
            calls_behind = np.arange(call + 1, request.count)
            pending.append(cut(request, table, calls_behind))

    def _answer(self, request: Request) -> Answer:
        """The answer to a request up to a crash, valid until the next one; restarts a dead runtime."""
        guards = request.guards - self._unguarded
        try:
            answer = self.worker.ask(replace(request, guards=guards))
            self.remarks |= dict.fromkeys(answer.remarks)
            if answer.died is None or answer.died.call > 0:
                self._has_answered = True
            if answer.died is not None:
                self._count_death(answer.died)
                self.worker.start()
        except RuntimeDiedError as error:
            raise StoppedError("crashed", str(error)) from None
        for failure in answer.failures.values():
            if failure.environment:
                raise StoppedError("environment", failure.words)
        return answer

    def _count_death(self, died: Died) -> None:
        """Count a death; StoppedError if the system killed the process, as when memory runs out."""
        self._deaths += 1
        self._hangs += died.hung
        self._bad_frames += died.words.startswith(BAD_FRAME)
        # What the supervisor kills itself, since it hangs or prints too much, has other words.
        if died.words.startswith("killed by SIGKILL"):
            words = "killed by SIGKILL, as by the system when memory runs out"
            raise StoppedError("environment", words)

    def _is_hopeless(self) -> bool:
        """Whether it died so often that it is given up."""
        if self._deaths >= self._limits.deaths:
            return True
        if self._hangs >= _HANGS or self._bad_frames >= _HANGS:
            return True
        # A runtime that never answered would die in every call up to the limit of deaths.
        return not self._has_answered and self._deaths >= _UNANSWERED

    # --- The cause of a death: a guard, some classes, or earlier calls

    def _explain_death(self, request: Request, table: Table, died: Died) -> Iterator[Piece]:
        """Repeat the one call that killed the runtime, to find out why."""
        # First the guards: without them a call that reads past its operands returns, and is judged.
        may_be_at_a_guard = any(name in died.words for name in _AT_A_GUARD)
        if may_be_at_a_guard:
            unguarded = self._answer(replace(request, guards=frozenset()))
            if unguarded.died is None:
                # An answer lies in memory that the next request overwrites.
                answer = replace(unguarded, bits=unguarded.bits.copy())
                yield from self._explain_guard(request, table, died, answer)
                return

        self._empty[request.layout] += not request.length
        # The value first that has killed before: it would be found again in every class that it is in.
        deaths = list(self._known_value(request, table))
        if not deaths:
            deaths = list(self._deadly_classes(request, table))
        if deaths:
            yield from deaths
            return

        # No class kills by its first entry: either the call kills only after others, or another entry does.
        entries = np.unique(entry_indices(request, 0))
        if not self._is_hopeless():
            again = self._answer(request)
            if again.died is None:
                yield from _only_after_others(request, table, died, again)
                return
            # A call that hangs takes as long as the limit, so its entries are not tried.
            if not died.hung and self._searches < _SEARCHES:
                self._searches += 1
                entries = self._deadly_entries(request, entries)
        if len(entries) == 1 and request.length > 1:
            yield self._death_by_entry(request, table, died, int(entries[0]))
            return

        # Which entry it is stays unknown, so all classes of the call are left out from now on.
        classes = tuple(np.unique(table.classes[0, entries]).tolist())
        self._deadly.update((request.layout, index) for index in classes)
        if len(entries) > 1:
            words = f"{died.words}, by which of the entries is not known,"
            died = replace(died, words=words)
        yield _death(request, table, died, classes)

    def _known_value(self, request: Request, table: Table) -> Iterator[Piece]:
        """The death by an entry of a call whose value has killed the runtime in another class."""
        for entry in np.unique(entry_indices(request, 0)).tolist():
            if self._is_hopeless():
                return
            if _value(request, entry) not in self._deadly_values:
                continue
            died = self._answer(_filled(request, entry)).died
            if died is not None:
                yield self._death_by_entry(request, table, died, entry)
                return

    def _deadly_entries(self, request: Request, entries: Array) -> Array:
        """The fewest entries of a call, as indices of the pool, that kill the runtime without the others.

        They are halved as long as one half kills. Where neither does, what kills is in both.
        """
        while len(entries) > 1:
            middle = len(entries) // 2
            for half in (entries[:middle], entries[middle:]):
                if self._is_hopeless():
                    return entries
                of_half = _filled(request, *half.tolist())
                if self._answer(of_half).died is not None:
                    entries = half
                    break
            else:
                return entries
        return entries

    def _death_by_entry(self, request: Request, table: Table, died: Died, entry: int) -> Piece:
        """The death by one entry, whose value later calls leave out in its class: in others it is tried."""
        klass = int(table.classes[0, entry])
        value = _value(request, entry)
        classes = self._deadly_values.get(value, frozenset())
        self._deadly_values[value] = classes | {klass}
        return _death(_filled(request, entry), table, died, (klass,))

    def _explain_guard(
        self,
        request: Request,
        table: Table,
        died: Died,
        answer: Answer,
    ) -> Iterator[Piece]:
        """Find the guard that a call touches, given its answer without guards."""
        # One guard at a time: a call may touch several, and each is a fault of its own.
        for guard, words in _FAULTS.items():
            if guard in self._unguarded:
                continue
            alone = replace(request, guards=frozenset({guard}))
            if self._answer(alone).died is not None:
                # From now on without this guard: the runtime would die in every call, and no result be seen.
                self._unguarded |= {guard}
                # What the call without guards noted says more: that it wrote, and where.
                if not answer.failures:
                    answer.failures[0] = Failure((), words, memory=True)
                yield Piece(request, table, answer)
                return
        yield from _only_after_others(request, table, died, answer)

    def _deadly_classes(self, request: Request, table: Table) -> Iterator[Piece]:
        """The classes that kill the runtime when one of their entries fills the whole call."""
        indices = entry_indices(request, 0)
        classes = table.classes[0, indices]
        for index in np.unique(classes).tolist():
            if self._is_hopeless():
                return
            first = int(np.argmax(classes == index))
            filled = _filled(request, int(indices[first]))
            died = self._answer(filled).died
            if died is not None:
                self._deadly.add((request.layout, index))
                yield _death(filled, table, died, (index,))

    def _without_deadly(self, request: Request, table: Table) -> tuple[Request, Table]:
        """The calls with deadly entries replaced by others; without the calls that have no others."""
        if not self._deadly and not self._deadly_values and not self._empty:
            return request, table
        if self._empty[request.layout] >= _LAYOUTS:
            return cut(request, table, np.arange(0))
        if not request.length:
            # Only its bounds can kill: those under which no X is of a class that is safe.
            deadly = [index for _, index in self._deadly]
            is_unsafe = np.isin(table.classes, deadly).all(axis=1)
            return cut(request, table, np.flatnonzero(~is_unsafe))

        is_deadly = self._is_deadly(request, table)
        indices = entry_indices(request).copy()
        bad = np.take_along_axis(is_deadly, indices, axis=1)
        if not bad.any():
            return request, table
        # The call keeps its length and its layout: another value of the pool takes the place of a deadly one.
        kept = np.ones(request.count, bool)
        for row in np.flatnonzero(bad.any(axis=1)).tolist():
            others = np.flatnonzero(~is_deadly[row])
            if len(others):
                indices[row, bad[row]] = others[0]
            else:
                kept[row] = False
        safe_request = replace(request, indices=indices)
        return cut(safe_request, table, np.flatnonzero(kept))

    def _is_deadly(self, request: Request, table: Table) -> Array:
        """Whether each value of the pool is deadly under each choice of the scalars, shape (p, k)."""
        deadly_classes = self._deadly_in(request.layout)
        is_deadly = np.isin(table.classes, deadly_classes)
        for value, classes in self._deadly_values.items():
            has_value = np.ones(len(request.pool), bool)
            for pool, bits in zip(request.pools, value, strict=True):
                has_value &= pool == bits
            # In every layout, unlike classes: it is known which entry kills.
            is_in_classes = np.isin(table.classes, list(classes))
            is_deadly |= has_value & is_in_classes
        return is_deadly

    def _deadly_in(self, layout: str) -> list[int]:
        """The classes that are deadly in a layout: those that were so in it, or in several others."""
        layouts_of_class = Counter(index for _, index in self._deadly)
        deadly: set[int] = set()
        for deadly_layout, index in self._deadly:
            if deadly_layout == layout or layouts_of_class[index] >= _LAYOUTS:
                deadly.add(index)
        return sorted(deadly)


def _classes(request: Request, table: Table) -> tuple[int, ...]:
    """The classes of the entries of a single call."""
    indices = entry_indices(request, 0)
    classes = np.unique(table.classes[0, indices])
    return tuple(classes.tolist())


def _filled(request: Request, *entries: int) -> Request:
    """A single call that has some entries of its pool and no others, again and again up to its length."""
    indices = np.resize(entries, (1, request.length))
    return replace(request, indices=indices)


def _value(request: Request, entry: int) -> Value:
    return tuple(int(pool[entry]) for pool in request.pools)


def _only_after_others(
    request: Request,
    table: Table,
    died: Died,
    answer: Answer,
) -> Iterator[Piece]:
    """The answer of a call that killed the runtime, but not when it was repeated alone; and the death."""
    words = f"{died.words}, but not if this call is made alone"
    yield Piece(request, table, answer)
    yield _death(request, table, replace(died, words=words), _classes(request, table))


def _death(request: Request, table: Table, died: Died, blamed: tuple[int, ...]) -> Piece:
    """The answer of a call that killed the runtime: a failure, for which some classes are blamed."""
    words = f"{died.words} in a call of layout {request.layout}"
    failure = Failure((), words, raised=True, blamed=blamed)
    # An answer has results of the right shape; those of a call that failed are not compared.
    bits = np.zeros((request.count, request.length), request.pool.dtype)
    return Piece(request, table, Answer(bits, {0: failure}))
