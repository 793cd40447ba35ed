"""Counts the results of a unit while it goes on: for `campaign`. `merging` makes reports of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.compare import Differences, Policy, compare, latitude_ids
from sonnx_clip.conform.expected import RangeTable
from sonnx_clip.conform.matching import Observed
from sonnx_clip.conform.tally_state import CountState, RaisedState, TallyState
from sonnx_clip.conform.verdicts import Count
from sonnx_clip.runtimes.calls import Answer, Failure, Request, entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array

    _Kind: TypeAlias = Literal["violates", "acceptable", "raises", "crashed"]
    ClassAt: TypeAlias = Callable[[Array, Array], Array]  # the classes of some of them, by row and column

FORM_TAGS = ("C1", "C3")  # shape and type of a result are judged call by call, with or without entries
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


@dataclass
class _Raised:
    """Calls of one form that raised: a refusal if all did. By class or tag: how many, and the first."""

    calls: int = 0
    raised: int = 0
    refusal: bool = True
    words: str = ""
    of: dict[int | str, list[Any]] = field(default_factory=dict)

    @property
    def all(self) -> bool:
        """Whether every call refused."""
        return self.refusal and 0 < self.raised == self.calls


class Tally:
    """The count of one element type.

    Args:
        etype: the element type.
        policy: which latitudes count.
        describe: writes the first deviation of each kind in each class.
        of: the operator; Clip by default.
    """

    def __init__(
        self,
        etype: ElementType,
        policy: Policy,
        describe: Callable[[Spot], Deviation],
        of: CheckedOperator | None = None,
    ) -> None:
        self.etype = etype
        self._of = of or clip_operator()
        self._ids = self._of.class_ids(etype.family)
        self.policy = policy
        self.describe = describe
        self._classes = [Count() for _ in self._ids]
        self._forms = {tag: Count() for tag in FORM_TAGS}
        self._raised: dict[str, _Raised] = {}
        self._observed = Observed(etype, self._of)
        self._seen: dict[int, set[str]] = {}  # by class, what is known of memory that is touched

    def refuses(self, request: Request) -> bool:
        """Whether many calls of the form of a request, or of all forms yet, were made, and all refused."""
        found = self._raised.get(_form(request))
        if found is not None and found.all and found.calls >= _ENOUGH:
            return True
        every = self._raised.values()
        return all(one.all for one in every) and sum(one.calls for one in every) >= _ENOUGH

    def add(self, request: Request, table: Table, answer: Answer) -> None:
        """Count the answer to a request."""
        if not answer.failures and isinstance(table, RangeTable) and _whole(request):
            self._add_long(request, table, answer)
            return
        indices = None if _whole(request) else entry_indices(request)
        due, classes = table.due, table.classes
        if indices is None:
            tensors = tuple(np.broadcast_to(pool, due.shape) for pool in request.pools)
        else:
            rows = np.arange(request.count)[:, None]
            due, classes = due[rows, indices], classes[rows, indices]
            tensors = tuple(pool[indices] for pool in request.pools)
        # A call without entries has the class of the first value of its pool: what it does to its operands
        # counts there, and not for the shape or the type of its result.
        touched = classes if request.length else table.classes[:, :1]
        failures = {
            row: failure
            for row, failure in answer.failures.items()
            if not (failure.memory and self._told(failure.words, touched[row]))
        }
        self._called(request, request.count - sum(f.blamed is not None for f in failures.values()))
        for row, failure in failures.items():
            of_call = touched[row] if failure.memory else classes[row]
            if failure.memory and not request.length:
                self._classes[int(of_call[0])].compared += 1
            self._fail(request, row, failure, (tensors[0][row], due[row], of_call))
        answered = np.ones(request.count, bool)
        answered[list(failures)] = False
        judged = answered.copy()
        judged[[row for row, failure in failures.items() if not failure.raised]] = True
        for form in self._forms.values():
            form.compared += int(judged.sum())
        of_judged = classes if judged.all() else classes[judged]
        for index, count in enumerate(self._classes):
            count.compared += int(np.count_nonzero(of_judged == index))
        # A call without result has nothing to compare: let it agree.
        got = answer.bits if answered.all() else np.where(answered[:, None], answer.bits, due)
        found = self._deviate(request, (got, due), tensors, lambda *at: classes[at])
        self._observed.add(request, indices, answered, (tensors[0], got), lambda *at: classes[at], found)

    def _add_long(self, request: Request, table: RangeTable, answer: Answer) -> None:
        """Count the answer to long calls that all gave a result."""
        self._called(request, request.count)
        for form in self._forms.values():
            form.compared += request.count
        for count, compared in zip(self._classes, table.counts, strict=True):
            count.compared += compared
        tensors = (np.broadcast_to(request.pool, table.due.shape),)
        found = self._deviate(request, (answer.bits, table.due), tensors, table.classes_at)
        answered = np.ones(request.count, bool)
        self._observed.add(request, None, answered, (tensors[0], answer.bits), table.classes_at, found)

    def _called(self, request: Request, count: int) -> None:
        self._raised.setdefault(_form(request), _Raised()).calls += count

    def _told(self, words: str, classes: Array) -> bool:
        """Whether it is known of each of some classes that memory is touched: results are compared again."""
        seen = [self._seen.setdefault(index, set()) for index in np.unique(classes).tolist()]
        known = bool(seen) and all(words in one for one in seen)
        for one in seen:
            one.add(words)
        return known

    def _fail(
        self, request: Request, row: int, failure: Failure, triples: tuple[Array, Array, Array]
    ) -> None:
        """Count a call without a usable result: for each class that it touches, and for C1 and C3."""
        entries, due, classes = triples
        touched: dict[int | str, int] = {index: int(n) for index, n in enumerate(np.bincount(classes)) if n}
        # A call without entries touches no class: what fails there counts for the constraints on its form.
        tags = failure.tags or (() if touched else FORM_TAGS)
        touched |= dict.fromkeys(tags, 1)
        if failure.blamed:
            touched = dict.fromkeys(failure.blamed, 1)
        raised = self._raised[_form(request)]
        if failure.raised and failure.blamed is None:
            raised.raised += 1
            raised.refusal = raised.refusal and failure.refusal
            raised.words = raised.words or failure.words
        for key, number in touched.items():
            column = self._first_column(key, classes)
            x, y = (int(part[column]) if len(part) else 0 for part in (entries, due))
            spot = Spot(request, row, column, x, y, None, failure.words, None)
            if failure.blamed is not None:
                self._count(key).died += number
                self._describe(key, replace(spot, kind="crashed"))
            elif failure.raised:
                raised.of.setdefault(key, [0, replace(spot, kind="raises")])[0] += number
            else:
                self._count(key).violating += number
                self._describe(key, spot)

    def _count(self, key: int | str) -> Count:
        return self._forms[key] if isinstance(key, str) else self._classes[key]

    def _describe(self, key: int | str, spot: Spot) -> None:
        count = self._count(key)
        count.words = count.words or spot.words
        if spot.kind not in count.deviations:
            count.deviations[spot.kind] = self.describe(spot)

    def _first_column(self, key: int | str, classes: Array) -> int:
        found: list[int] = np.flatnonzero(classes == key).tolist() if isinstance(key, int) else []
        return found[0] if found else 0

    def _deviate(
        self, request: Request, results: tuple[Array, Array], tensors: tuple[Array, ...], class_at: ClassAt
    ) -> Differences:
        """Count the entries whose bits are not those that are expected, and return them."""
        got, due = results
        found = compare(self.etype, got, due, (*tensors, *request.scalars), self.policy, self._of)
        if not len(found.rows):
            return found
        names = (*latitude_ids(self.policy, self._of), None)
        keys = class_at(found.rows, found.columns).astype(np.int16) * len(names) + found.latitude % len(names)
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            index, latitude = divmod(key, len(names))
            count, name = self._classes[index], names[latitude]
            if name is None:
                count.violating += int(numbers[key])
            else:
                count.latitude[name] += int(numbers[key])
            kind = name or "violates"
            if kind not in count.deviations:
                first = int((keys == key).argmax())
                row, column = int(found.rows[first]), int(found.columns[first])
                x, y, answer = (int(part[row, column]) for part in (tensors[0], due, got))
                as_: _Kind = "acceptable" if name else "violates"
                spot = Spot(request, row, column, x, y, answer, None, name, as_)
                count.deviations[kind] = self.describe(spot)
        return found

    def state(self, *, refused: bool = True, answers: bool = True) -> TallyState:
        """All that was counted, to be stored and to be added up with what other units have counted.

        Args:
            refused: whether calls that raised are described even where a form refuses all: in another unit
                it may serve some.
            answers: whether those are stored that are compared with the readings.
        """
        raised = {
            form: RaisedState(
                calls=found.calls,
                raised=found.raised,
                refusal=found.refusal,
                words=found.words,
                of={
                    str(key): (number, self.describe(spot) if refused or not found.all else None, spot.words)
                    for key, (number, spot) in found.of.items()
                },
            )
            for form, found in self._raised.items()
        }
        return TallyState(
            classes=tuple(map(_stored, self._classes)),
            forms={tag: _stored(count) for tag, count in self._forms.items()},
            raised=raised,
            answers=self._observed.packed() if answers else "",
        )


def _whole(request: Request) -> bool:
    """Whether each call has the pool as it stands."""
    alike = request.indices is None and request.length == len(request.pool) and not request.starts.any()
    return alike and not _REPEATS[request.layout]


def _form(request: Request) -> str:
    """The form of the calls of a request: a layout; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout


def _stored(count: Count) -> CountState:
    return CountState(
        compared=count.compared,
        violating=count.violating,
        latitude=dict(count.latitude),
        died=count.died,
        words=count.words,
        deviations=dict(count.deviations),
    )
