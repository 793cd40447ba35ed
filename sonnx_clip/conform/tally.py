"""Counts the results of a unit while it goes on: bits first, the latitude only where bits differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.check_report import Count
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.describe import recorded
from sonnx_clip.conform.matching import KEPT, evenly, kept_places, match_readings
from sonnx_clip.conform.results import Counts, Raised
from sonnx_clip.conform.verdicts import TAGS
from sonnx_clip.root.dtypes import bits_type, numpy_type, same_bits
from sonnx_clip.runtimes.calls import Answer, Failure, Request, entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import DeviationKind, ReadingMatch
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array

    Accepts: TypeAlias = Mapping[str, Callable[..., Array]]

Policy: TypeAlias = Literal["default", "strict"]

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}
_PLAIN = frozenset(layout.id for layout in LAYOUTS if layout.plain)
_LONG = 4096  # entries
_ENOUGH = 64  # calls that all raised, after which only a sample of a form is asked


def latitudes(etype: ElementType, policy: Policy, of: CheckedOperator | None = None) -> Accepts:
    """The latitudes that a policy keeps: functions of operands, expected results and results."""
    oracle = (of or clip_operator()).oracle
    found: Accepts = oracle.LATITUDE[etype.family]
    return {id_: accepts for id_, accepts in found.items() if policy == "default" or id_ in oracle.ALWAYS}


def accepted_by(etype: ElementType, values: Sequence[Array], accepts: Accepts) -> Array:
    """The index of the first latitude that accepts a result, -1 if none does, shape (d,).

    Args:
        etype: the element type.
        values: bits of each operand, of the expected result and of the result, of shape (d,) or (1,).
        accepts: as from `latitudes`.
    """
    typed = [part.view(numpy_type(etype.id)) for part in values]
    found = np.full(len(values[-1]), -1, np.int8)
    for index, accepted in reversed([*enumerate(accepts.values())]):
        np.putmask(found, np.broadcast_to(accepted(*typed), found.shape), index)
    return found


class Tally:
    """The count of one element type.

    Args:
        etype: the element type.
        policy: which latitudes count.
        of: the operator; Clip by default.
        keep: whether answers are kept, to be compared with the readings.
    """

    def __init__(
        self, etype: ElementType, policy: Policy, of: CheckedOperator | None = None, *, keep: bool = False
    ) -> None:
        self._etype, self._of = etype, of or clip_operator()
        self._ids, self._accepts = self._of.class_ids(etype.family), latitudes(etype, policy, self._of)
        self._counts = {key: Count() for key in (*self._ids, *TAGS)}
        self._raised: dict[str, Raised] = {}
        self._keep = keep
        self._answers: list[Array] = []
        self._memory: dict[int, set[str]] = {}  # by class, what is known of memory that is touched

    def refuses(self, request: Request) -> bool:
        """Whether many calls of the form of a request, or of all forms yet, were made, and all refused."""
        found = self._raised.get(_form(request))
        if found is not None and found.all and found.calls >= _ENOUGH:
            return True
        every = self._raised.values()
        return all(one.all for one in every) and sum(one.calls for one in every) >= _ENOUGH

    def add_all(self, pieces: Iterable[tuple[Request, Table, Answer]]) -> None:
        """Count answers, each before the next request is made."""
        for request, table, answer in pieces:
            self.add(request, table, answer)

    def add(self, request: Request, table: Table, answer: Answer) -> None:
        """Count the answer to a request."""
        indices = None if _whole(request) else entry_indices(request)
        expected = table if indices is None else table.pick(indices)
        raised = self._raised.setdefault(_form(request), Raised())
        raised.calls += request.count
        answered = judged = np.ones(request.count, bool)
        if answer.failures:
            failures = self._fail_all(request, table, expected, answer.failures)
            raised.calls -= sum(failure.blamed is not None for failure in failures.values())
            answered[list(failures)] = False
            judged = answered.copy()
            judged[[row for row, failure in failures.items() if not failure.raised]] = True
        for tag in TAGS:
            self._counts[tag].compared += int(judged.sum())
        there = None if request.lengths is None else np.arange(request.length) < request.lengths[:, None]
        some = slice(None) if judged.all() else judged
        of_class = expected.rows(some).counts(None if there is None else there[some])
        for id_, number in zip(self._ids, of_class, strict=False):
            self._counts[id_].compared += number
        kept = np.broadcast_to(answered[:, None], answer.bits.shape)
        kept = kept if there is None else kept & there
        # What has no result has nothing to compare: let it agree.
        got = answer.bits if there is None and answered.all() else np.where(kept, answer.bits, expected.due)
        deviating = self._deviate(request, indices, got, expected)
        if self._keep and got.size:
            some_places = kept_places(self._etype, request.pool, got.size, in_order=indices is None)
            rows, columns = np.divmod(np.concatenate([some_places, deviating]), request.length)
            rows, columns = rows[kept[rows, columns]], columns[kept[rows, columns]]
            places = columns if indices is None else indices[rows, columns]
            given = *request.operands_at(rows, places), got[rows, columns], expected.classes[rows, columns]
            self._answers.append(np.array([part.astype(bits_type(self._etype.id)) for part in given]))

    @property
    def readings(self) -> ReadingMatch | None:
        """The readings that allow the answers that were kept."""
        return match_readings(self._etype, self._of, self._answers)

    @property
    def counts(self) -> Counts:
        """All that was counted, to be added to what other units have counted."""
        return Counts(of=self._counts, raised=self._raised)

    # --- Calls without a usable result

    def _fail_all(
        self, request: Request, table: Table, expected: Table, failures: Mapping[int, Failure]
    ) -> dict[int, Failure]:
        """Count failures, but for those of memory that is known to be touched: results are compared again."""
        # A call without entries has the class of the first value of its pool: what it does to its operands
        # counts there, and not for the shape or the type of its result.
        touched = expected.classes if request.length else table.classes[:, :1]
        new = {
            row: failure for row, failure in failures.items()
            if not (failure.memory and self._known(failure.words, touched[row]))
        }  # fmt: skip
        for row, failure in new.items():
            length = request.length_of(row)
            classes = touched[row] if failure.memory else expected.classes[row, :length]
            if failure.memory and not request.length:
                self._counts[self._ids[classes[0]]].compared += 1
            self._fail(request, row, failure, (expected.due[row], classes))
        return new

    def _known(self, words: str, classes: Array) -> bool:
        """Whether it is known of each of some classes that memory is touched."""
        seen = [self._memory.setdefault(index, set()) for index in np.unique(classes).tolist()]
        known = bool(seen) and all(words in one for one in seen)
        for one in seen:
            one.add(words)
        return known

    def _fail(self, request: Request, row: int, failure: Failure, expected: tuple[Array, Array]) -> None:
        """Count a call without a usable result: for each class that it touches, and for C1 and C3."""
        due, classes = expected
        touched = {self._ids[index]: int(n) for index, n in enumerate(np.bincount(classes)) if n}
        # A call without entries touches no class: what fails there counts for the constraints on its form.
        touched |= dict.fromkeys(failure.tags or (() if touched else TAGS), 1)
        if failure.blamed:
            touched = {self._ids[index]: 1 for index in failure.blamed}
        form = self._raised[_form(request)]
        if failure.raised and failure.blamed is None:
            form.raised += 1
            form.refusal = form.refusal and failure.refusal
            form.words = form.words or failure.words
        for key, number in touched.items():
            of_key = classes == self._ids.index(key) if key in self._ids else np.zeros(1, bool)
            column = int(of_key.argmax()) if len(of_key) else 0
            count = self._counts[key]
            kind: DeviationKind = "violates"
            if failure.blamed is not None:
                count.died += number
                kind = "crashed"
            elif failure.raised:
                count, kind = form.of.setdefault(key, Count()), "raises"
                count.raised += number
            else:
                count.violating += number
            y = int(due[column]) if len(due) else 0
            self._record(count, request, (row, column), y, kind, words=failure.words)

    def _record(
        self, count: Count, request: Request, at: tuple[int, int], due: int, kind: DeviationKind, **found: Any
    ) -> None:
        """Record the deviation of a call and an entry, unless the class has one of its kind."""
        count.words = count.words or found.get("words")
        if all(one.key != (found.get("latitude") or kind) for one in count.deviations):
            alike, row = _among_alike(request, at[0])
            one = recorded(alike, row, at[1], due, self._etype, self._of, kind=kind, **found)
            count.deviations += (one,)

    # --- Results that differ

    def _deviate(self, request: Request, indices: Array | None, got: Array, expected: Table) -> Array:
        """Count the entries whose bits are not expected; return where in the results some of them are."""
        places: list[Array] = [np.zeros(0, np.intp)]
        one_by_one = request.length >= _LONG  # less memory, and operands that need no copies
        for first in range(len(got)) if one_by_one else (0,):
            rows = slice(first, first + 1) if one_by_one else slice(None)
            some, due = got[rows], expected.due[rows]
            if same_bits(some, due):
                continue
            flat = np.flatnonzero(some != due)
            # Of a row that deviates nearly everywhere, the whole is judged: that takes no copies of operands.
            whole = len(some) == 1 and 2 * len(flat) > some.size
            at = slice(None) if whole else flat
            row, column = (0, at) if len(some) == 1 else np.divmod(flat, request.length)
            entries = column if indices is None else indices[rows][row, column]
            tensors = [pool[entries] for pool in request.pools]
            scalars = [scalar[rows] if len(some) == 1 else scalar[row] for scalar in request.scalars]
            bits = due.ravel()[at], some.ravel()[at]
            latitude = accepted_by(self._etype, (*tensors, *scalars, *bits), self._accepts)
            latitude = latitude[flat] if whole else latitude
            self._count(request, first, flat, latitude, (some, due, expected.classes[rows]))
            places.append(flat[evenly(len(flat), KEPT)] + first * request.length)
        every = np.concatenate(places)
        return every[evenly(len(every), KEPT)]

    def _count(
        self, request: Request, first: int, flat: Array, latitude: Array, bits: tuple[Array, Array, Array]
    ) -> None:
        """Count differences: their places, their latitude; and results, those expected, and classes."""
        got, due, classes = (part.ravel() for part in bits)
        names: list[str | None] = [*self._accepts, None]
        keys = classes[flat].astype(np.int16) * len(names) + latitude % len(names)
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            id_, name, number = self._ids[key // len(names)], names[key % len(names)], int(numbers[key])
            count = self._counts[id_]
            if name is None:
                count.violating += number
            else:
                count.latitude[name] = count.latitude.get(name, 0) + number
            at = int(flat[(keys == key).argmax()])
            row, column = divmod(at, request.length)
            kind: DeviationKind = "acceptable" if name else "violates"
            where = first + row, column
            self._record(count, request, where, int(due[at]), kind, got=int(got[at]), latitude=name)


def _whole(request: Request) -> bool:
    """Whether each call has the pool as it stands."""
    alike = request.indices is None and request.length == len(request.pool) and not request.starts.any()
    return alike and not _REPEATS[request.layout]


def _among_alike(request: Request, row: int) -> tuple[Request, int]:
    """The calls that have as many entries as one, and its place among them."""
    if request.lengths is None:
        return request, row
    alike = np.flatnonzero(request.lengths == request.lengths[row])
    return request.calls(alike), int(np.searchsorted(alike, row))


def _form(request: Request) -> str:
    """The form of the calls of a request: a layout; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout
