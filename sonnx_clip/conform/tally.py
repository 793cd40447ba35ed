"""Counts the results of a unit while it goes on: for `campaign`. `merging` makes reports of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.compare import Differences, Policy, compare, entries_at, latitudes
from sonnx_clip.conform.matching import KEPT, Observed, evenly
from sonnx_clip.conform.results import Count, Counts, Known, Raised
from sonnx_clip.conform.verdicts import TAGS
from sonnx_clip.root.dtypes import same_bits
from sonnx_clip.runtimes.calls import Answer, Failure, Request, entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array

    _Kind: TypeAlias = Literal["violates", "acceptable", "raises", "crashed"]

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}
_PLAIN = frozenset(layout.id for layout in LAYOUTS if layout.plain)
_LONG = 4096  # entries
_ENOUGH = 64  # calls that all raised, after which only a sample of a form is asked


@dataclass(frozen=True)
class Spot:
    """One deviation, as the campaign hands it to whoever writes the `Deviation`: bits, but for the names."""

    request: Request
    row: int
    column: int
    x: int
    due: int
    got: int | None
    words: str | None
    latitude: str | None
    kind: _Kind = "violates"


class Tally:
    """The count of one element type.

    Args:
        etype: the element type.
        policy: which latitudes count.
        describe: writes the first deviation of each kind in each class.
        of: the operator; Clip by default.
        known: the kinds of deviations of each class that are not described again.
    """

    def __init__(
        self,
        etype: ElementType,
        policy: Policy,
        describe: Callable[[Spot], Deviation],
        of: CheckedOperator | None = None,
        known: Known = frozenset(),
    ) -> None:
        self.etype, self._described = etype, set(known)
        self._spots: list[tuple[str, Spot]] = []  # to be described after a request
        self._of = of or clip_operator()
        self._ids = self._of.class_ids(etype.family)
        self._accepts = latitudes(etype, policy, self._of)
        self.describe = describe
        self._counts = {key: Count() for key in (*self._ids, *TAGS)}
        self._raised: dict[str, Raised] = {}
        self._raising: dict[tuple[str, str], Spot] = {}  # the first call by form, and class or tag
        self._observed = Observed(etype, self._of)
        self._memory: dict[int, set[str]] = {}  # by class, what is known of memory that is touched

    def refuses(self, request: Request) -> bool:
        """Whether many calls of the form of a request, or of all forms yet, were made, and all refused."""
        found = self._raised.get(_form(request))
        if found is not None and found.all and found.calls >= _ENOUGH:
            return True
        every = self._raised.values()
        return all(one.all for one in every) and sum(one.calls for one in every) >= _ENOUGH

    def add(self, request: Request, table: Table, answer: Answer) -> None:
        """Count the answer to a request; its bits are read before any call is made again."""
        indices = None if _whole(request) else entry_indices(request)
        expected = table if indices is None else table.pick(indices)
        raised = self._raised.setdefault(_form(request), Raised())
        raised.calls += request.count
        answered = judged = np.ones(request.count, bool)
        if answer.failures:
            # A call without entries has the class of the first value of its pool: what it does to its
            # operands counts there, and not for the shape or the type of its result.
            touched = expected.classes if request.length else table.classes[:, :1]
            failures = {
                row: failure
                for row, failure in answer.failures.items()
                if not (failure.memory and self._known(failure.words, touched[row]))
            }
            raised.calls -= sum(failure.blamed is not None for failure in failures.values())
            for row, failure in failures.items():
                length = request.length_of(row)
                classes = touched[row] if failure.memory else expected.classes[row, :length]
                if failure.memory and not request.length:
                    self._counts[self._ids[classes[0]]].compared += 1
                entries = request.pool[: len(classes)] if indices is None else request.pool[indices[row]]
                self._fail(request, row, failure, (entries, expected.due[row], classes))
            answered[list(failures)] = False
            judged = answered.copy()
            judged[[row for row, failure in failures.items() if not failure.raised]] = True
        for tag in TAGS:
            self._counts[tag].compared += int(judged.sum())
        there = None if request.lengths is None else np.arange(request.length) < request.lengths[:, None]
        counted = expected if judged.all() else expected.rows(judged)
        lengths = there if there is None or judged.all() else there[judged]
        for id_, number in zip(self._ids, counted.counts(lengths), strict=False):
            self._counts[id_].compared += number
        kept = np.broadcast_to(answered[:, None], answer.bits.shape)
        kept = kept if there is None else kept & there
        # What has no result has nothing to compare: let it agree.
        got = answer.bits if there is None and answered.all() else np.where(kept, answer.bits, expected.due)
        deviating = self._deviate(request, indices, got, expected)
        self._observed.add(request, indices, kept, got, expected, deviating)
        described, self._spots = self._spots, []
        for key, spot in described:
            self._counts[key].deviations[spot.latitude or spot.kind] = self.describe(spot)

    def _known(self, words: str, classes: Array) -> bool:
        """Whether it is known of each of some classes that memory is touched: results are compared again."""
        seen = [self._memory.setdefault(index, set()) for index in np.unique(classes).tolist()]
        known = bool(seen) and all(words in one for one in seen)
        for one in seen:
            one.add(words)
        return known

    def _fail(
        self, request: Request, row: int, failure: Failure, triples: tuple[Array, Array, Array]
    ) -> None:
        """Count a call without a usable result: for each class that it touches, and for C1 and C3."""
        entries, due, classes = triples
        touched = {self._ids[index]: int(n) for index, n in enumerate(np.bincount(classes)) if n}
        # A call without entries touches no class: what fails there counts for the constraints on its form.
        tags = failure.tags or (() if touched else TAGS)
        touched |= dict.fromkeys(tags, 1)
        if failure.blamed:
            touched = {self._ids[index]: 1 for index in failure.blamed}
        form = _form(request)
        raised = self._raised[form]
        if failure.raised and failure.blamed is None:
            raised.raised += 1
            raised.refusal = raised.refusal and failure.refusal
            raised.words = raised.words or failure.words
        for key, number in touched.items():
            column = self._first_column(key, classes)
            x, y = (int(part[column]) if len(part) else 0 for part in (entries, due))
            spot = Spot(*_among_alike(request, row), column, x, y, None, failure.words, None)
            if failure.blamed is not None:
                self._counts[key].died += number
                self._describe(key, replace(spot, kind="crashed"))
            elif failure.raised:
                count = raised.of.setdefault(key, Count(words=failure.words))
                count.raised += number
                self._raising.setdefault((form, key), replace(spot, kind="raises"))
            else:
                self._counts[key].violating += number
                self._describe(key, spot)

    def _describe(self, key: str, spot: Spot) -> None:
        self._counts[key].words = self._counts[key].words or spot.words
        kind = spot.latitude or spot.kind
        if self._is_new(key, kind):
            self._described.add((key, kind))
            self._spots.append((key, spot))

    def _is_new(self, key: str, kind: str) -> bool:
        """Whether neither this tally nor the first unit describes a deviation of the kind in a class."""
        return (key, kind) not in self._described

    def _first_column(self, key: str, classes: Array) -> int:
        found = classes == self._ids.index(key) if key in self._ids else np.zeros(1, bool)
        return int(found.argmax()) if len(found) else 0

    def _deviate(self, request: Request, indices: Array | None, got: Array, expected: Table) -> Array:
        """Count the entries whose bits are not expected; return where in the results some of them are."""
        places: list[Array] = [np.zeros(0, np.intp)]
        one_by_one = request.length >= _LONG  # less memory, and operands that need no copies
        for row in range(len(got)) if one_by_one else (0,):
            rows = slice(row, row + 1) if one_by_one else slice(None)
            some, due = got[rows], expected.due[rows]
            if same_bits(some, due):
                continue
            tensors = [
                np.broadcast_to(pool, some.shape) if indices is None else pool[indices[rows]]
                for pool in request.pools
            ]
            scalars = [scalar[rows] for scalar in request.scalars]
            found = compare(self.etype, some, due, (*tensors, *scalars), self._accepts)
            self._count(request, row, found, expected.rows(rows).classes, (tensors[0], due, some))
            kept = evenly(len(found.columns), KEPT)
            places.append((found.rows[kept] + row) * request.length + found.columns[kept])
        every = np.concatenate(places)
        return every[evenly(len(every), KEPT)]

    def _count(
        self, request: Request, first: int, found: Differences, classes: Array, bits: tuple[Array, ...]
    ) -> None:
        """Count some differences; `bits` are X, what is expected and the results, `first` is their call."""
        names: list[str | None] = [*self._accepts, None]
        of_each = entries_at(classes, found.rows, found.columns)
        keys = of_each.astype(np.int16) * len(names) + found.latitude % len(names)
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            id_, name, number = self._ids[key // len(names)], names[key % len(names)], int(numbers[key])
            count = self._counts[id_]
            if name is None:
                count.violating += number
            else:
                count.latitude[name] = count.latitude.get(name, 0) + number
            if self._is_new(id_, name or "violates"):
                at = int((keys == key).argmax())
                row, column = int(found.rows[at]), int(found.columns[at])
                x, y, answer = (int(part[row, column]) for part in bits)
                kind: _Kind = "acceptable" if name else "violates"
                where = _among_alike(request, first + row)
                self._describe(id_, Spot(*where, column, x, y, answer, None, name, kind))

    def state(self, *, refused: bool = True, answers: bool = True) -> Counts:
        """All that was counted, to be stored and to be added up with what other units have counted.

        Args:
            refused: whether calls that raised are described even where a form refuses all: in another unit
                it may serve some.
            answers: whether those are stored that are compared with the readings.
        """
        for (form, key), spot in self._raising.items():
            if refused or not self._raised[form].all:
                self._raised[form].of[key].deviations["raises"] = self.describe(spot)
        packed = self._observed.packed() if answers else ""
        return Counts(of=self._counts, raised=self._raised, answers=packed)


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
