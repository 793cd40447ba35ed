"""Counts the results of a unit while it goes on: for `campaign`. `merging` makes reports of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.compare import Differences, Policy, compare, latitudes
from sonnx_clip.conform.matching import Observed
from sonnx_clip.conform.results import Count, Counts, Known, Raised
from sonnx_clip.conform.verdicts import TAGS
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
        self.etype, self._known_kinds = etype, known
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
        """Count the answer to a request."""
        indices = None if _whole(request) else entry_indices(request)
        expected = table if indices is None else table.pick(indices)
        tensors = tuple(
            np.broadcast_to(pool, expected.due.shape) if indices is None else pool[indices]
            for pool in request.pools
        )
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
                classes = touched[row] if failure.memory else expected.classes[row]
                if failure.memory and not request.length:
                    self._counts[self._ids[classes[0]]].compared += 1
                self._fail(request, row, failure, (tensors[0][row], expected.due[row], classes))
            answered[list(failures)] = False
            judged = answered.copy()
            judged[[row for row, failure in failures.items() if not failure.raised]] = True
        for tag in TAGS:
            self._counts[tag].compared += int(judged.sum())
        compared = (expected if judged.all() else expected.rows(judged)).counts
        for id_, number in zip(self._ids, compared, strict=False):
            self._counts[id_].compared += number
        # A call without result has nothing to compare: let it agree.
        got = answer.bits if answered.all() else np.where(answered[:, None], answer.bits, expected.due)
        found = self._deviate(request, got, expected, tensors)
        self._observed.add(request, indices, answered, (tensors[0], got), expected, found)

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
            spot = Spot(request, row, column, x, y, None, failure.words, None)
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
        count = self._counts[key]
        count.words = count.words or spot.words
        kind = spot.latitude or spot.kind
        if self._is_new(key, kind):
            count.deviations[kind] = self.describe(spot)

    def _is_new(self, key: str, kind: str) -> bool:
        """Whether neither this tally nor the first unit describes a deviation of the kind in a class."""
        return kind not in self._counts[key].deviations and (key, kind) not in self._known_kinds

    def _first_column(self, key: str, classes: Array) -> int:
        found = classes == self._ids.index(key) if key in self._ids else np.zeros(1, bool)
        return int(found.argmax()) if len(found) else 0

    def _deviate(
        self, request: Request, got: Array, expected: Table, tensors: tuple[Array, ...]
    ) -> Differences:
        """Count the entries whose bits are not those that are expected, and return them."""
        operands = (*tensors, *request.scalars)
        found = compare(self.etype, got, expected.due, operands, self._accepts)
        if not len(found.rows):
            return found
        names: list[str | None] = [*self._accepts, None]
        classes = expected.classes[found.rows, found.columns]
        keys = classes.astype(np.int16) * len(names) + found.latitude % len(names)
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            id_, name, number = self._ids[key // len(names)], names[key % len(names)], int(numbers[key])
            count = self._counts[id_]
            if name is None:
                count.violating += number
            else:
                count.latitude[name] = count.latitude.get(name, 0) + number
            if self._is_new(id_, name or "violates"):
                first = int((keys == key).argmax())
                row, column = int(found.rows[first]), int(found.columns[first])
                x, y, answer = (int(part[row, column]) for part in (tensors[0], expected.due, got))
                kind: _Kind = "acceptable" if name else "violates"
                self._describe(id_, Spot(request, row, column, x, y, answer, None, name, kind))
        return found

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


def _form(request: Request) -> str:
    """The form of the calls of a request: a layout; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout
