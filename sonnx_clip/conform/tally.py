"""Compares the answers of a runtime with the oracle, and counts them by class.

Bits are compared first; the latitude is evaluated only where they differ. A sample of the answers is kept, to
find the readings of Clip that allow all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.answers import Answers, joined
from sonnx_clip.conform.causes import accepted_causes, causes, explains_all
from sonnx_clip.conform.check_report import Count, Extent, ReadingMatch
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.describe import of_equal_length, recorded
from sonnx_clip.conform.places import Extremes
from sonnx_clip.conform.refusals import CallsOfLayout, RefusedCalls
from sonnx_clip.conform.units import Counts, Raised
from sonnx_clip.conform.verdicts import TAGS
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import bits_type, numpy_type, same_bits
from sonnx_clip.runtimes.calls import entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import DeviationKind, Refusal
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer, Failure, Request
    from sonnx_clip.runtimes.model_forms import ModelForm

    Accepts: TypeAlias = Mapping[str, Callable[..., Array]]

Policy: TypeAlias = Literal["default", "strict"]

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}
_PLAIN = frozenset(layout.id for layout in LAYOUTS if layout.plain)
_NUMBER = {layout.id: number for number, layout in enumerate(LAYOUTS)}
_LONG = 4096  # entries of calls that are compared one by one: this takes less memory
_ENOUGH = 64  # rejected calls after which only a sample of a layout is called
_SAMPLE = 256  # answers of a request that are kept, and as many that deviate


def latitudes(etype: ElementType, policy: Policy, of: CheckedOperator | None = None) -> Accepts:
    """The latitudes of a policy: functions of operands, expected results and results."""
    oracle = (of or clip_operator()).oracle
    found: Accepts = oracle.LATITUDE[etype.family]
    return {
        id_: accepts
        for id_, accepts in found.items()
        if policy == "default" or id_ in oracle.ALWAYS
    }


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
    """Counts of one element type.

    Args:
        etype: the element type.
        policy: selects the latitudes.
        of: the operator; Clip by default.
    """

    def __init__(
        self, etype: ElementType, policy: Policy, of: CheckedOperator | None = None
    ) -> None:
        self._etype, self._of = etype, of or clip_operator()
        self._ids, self._accepts = (
            self._of.class_ids(etype.family),
            latitudes(etype, policy, self._of),
        )
        self._counts = {key: Count() for key in (*self._ids, *TAGS)}
        self._raised: dict[str, Raised] = {}
        self._tried: dict[str, Extent] = {}
        self._memory_faults: set[tuple[int, str]] = set()  # class and words
        self._special = np.array(special_patterns(etype), bits_type(etype.id))
        self._answers: list[Answers] = []
        self._extremes: dict[int, Extremes] = {}  # by class
        self._calls: dict[str, CallsOfLayout] = {}
        self._form: ModelForm | None = None  # of the last request

    @property
    def counts(self) -> Counts:
        """All counts, to be added to those of other units, with the causes of deviations."""
        self._name_causes()
        return Counts(
            of=self._counts, raised=self._raised, tried=self._tried, only=self._refused_calls.only
        )

    @property
    def refusal(self) -> Refusal | None:
        """The calls that were refused in layouts that are served."""
        return self._refused_calls.describe()

    @property
    def _refused_calls(self) -> RefusedCalls:
        return RefusedCalls(self._of, self._etype, list(self._calls.values()))

    def plan(self, request: Request) -> None:
        """Count the calls of a request as planned, whether they are made or not."""
        self._tried.setdefault(request.purpose, Extent()).planned += request.count

    def refuses(self, request: Request) -> bool:
        """Whether many calls of the layout, or of all layouts so far, were made and all were rejected."""
        found, every = self._raised.get(_layout(request)), self._raised.values()
        if found is not None and found.all and found.calls >= _ENOUGH:
            return True
        return all(one.all for one in every) and sum(one.calls for one in every) >= _ENOUGH

    def add_all(self, pieces: Iterable[tuple[Request, Table, Answer]]) -> None:
        """Count answers, each before the next request is made."""
        for request, table, answer in pieces:
            self.add(request, table, answer)

    def add(self, request: Request, table: Table, answer: Answer) -> None:
        """Count the answers to a request.

        Args:
            request: the calls.
            table: the expected results, a row for each call.
            answer: the results.
        """
        self._form = request.form
        indices = None if _is_whole_pool(request) else entry_indices(request)
        expected = table if indices is None else table.pick(indices)
        failures = (
            self._fail_all(request, table, expected, answer.failures) if answer.failures else {}
        )
        self._calls.setdefault(_layout(request), CallsOfLayout()).add(request, answer.failures)
        found = self._raised.setdefault(_layout(request), Raised())
        found.calls += request.count - sum(
            failure.blamed is not None for failure in failures.values()
        )
        comparable, returned = np.ones(request.count, bool), np.ones(request.count, bool)
        comparable[list(failures)] = False
        returned[[row for row, failure in failures.items() if failure.raised]] = False
        self._tried.setdefault(request.purpose, Extent()).judged += int(returned.sum())

        for tag in TAGS:
            self._counts[tag].compared += int(returned.sum())
        there = (
            None
            if request.lengths is None
            else np.arange(request.length) < request.lengths[:, None]
        )
        some = slice(None) if returned.all() else returned
        of_class = expected.rows(some).counts(None if there is None else there[some])
        for id_, number in zip(self._ids, of_class, strict=False):
            self._counts[id_].compared += number

        kept = np.broadcast_to(comparable[:, None], answer.bits.shape)
        kept = kept if there is None else kept & there
        everything = there is None and comparable.all()
        got = answer.bits if everything else np.where(kept, answer.bits, expected.results)
        deviating = self._compare(request, indices, got, expected)
        if self._of.is_clip and got.size:
            self._keep(request, indices, got, expected, kept, deviating)

    def _keep(
        self, request: Request, indices: Array | None, got: Array, expected: Table, kept: Array,
        deviating: Array,
    ) -> None:  # fmt: skip
        """Keep a sample of the answers to a request, and of those that deviate.

        Args:
            request: the calls.
            indices: the places of their entries in the pool; None if each call has the whole pool.
            got: the answers, a row for each call.
            expected: the expected results.
            kept: whether each answer can be compared.
            deviating: the flat places of a sample of answers that deviate.
        """
        in_order = indices is None and np.array_equal(request.pool, self._special)
        places = np.concatenate([np.arange(got.size) if in_order else _evenly(got.size), deviating])
        rows, columns = np.divmod(places, request.length)
        usable = kept[rows, columns]
        rows, columns = rows[usable], columns[usable]
        entries = columns if indices is None else indices[rows, columns]
        operands = request.operands_at(rows, entries)
        answers, results = got[rows, columns], expected.results[rows, columns]
        latitude = accepted_by(self._etype, (*operands, results, answers), self._accepts)
        lengths = (
            np.full(len(rows), request.length) if request.lengths is None else request.lengths[rows]
        )
        self._answers.append(
            Answers(
                etype=self._etype,
                operands=operands,
                got=answers,
                expected=results,
                classes=expected.classes[rows, columns].astype(int),
                violating=np.not_equal(answers, results) & (latitude < 0),
                layouts=np.full(len(rows), _NUMBER[request.layout]),
                lengths=lengths,
                entries=columns,
            )
        )

    # --- Calls without a usable result

    def _fail_all(
        self, request: Request, table: Table, expected: Table, failures: Mapping[int, Failure]
    ) -> dict[int, Failure]:
        """Count failed calls; returns those whose result is not compared.

        A memory fault is counted once for each class, and hides the result of that call alone: the results of
        later calls with the same fault are compared.
        """
        # A memory fault of a call without entries counts for the class of the first value of its pool.
        touched = expected.classes if request.length else table.classes[:, :1]
        counted = {}
        for row, failure in failures.items():
            length = request.length_of(row)
            classes = touched[row] if failure.memory else expected.classes[row, :length]
            if failure.memory:
                faults = {(index, failure.words) for index in np.unique(classes).tolist()}
                if faults and faults <= self._memory_faults:
                    continue
                self._memory_faults |= faults
                if not length:
                    self._counts[self._ids[classes[0]]].compared += 1
            counted[row] = failure
            self._fail(request, row, failure, expected.results[row], classes)
        return counted

    def _fail(
        self, request: Request, row: int, failure: Failure, results: Array, classes: Array
    ) -> None:
        """Count a call without a usable result, for each class of its entries and for C1 and C3."""
        entries = {self._ids[index]: int(n) for index, n in enumerate(np.bincount(classes)) if n}
        if failure.blamed:
            entries = {self._ids[index]: 1 for index in failure.blamed}
        else:  # a call without entries has no class: it counts for the constraints on its result
            entries |= dict.fromkeys(failure.tags or (() if entries else TAGS), 1)
        layout = self._raised.setdefault(_layout(request), Raised())
        if failure.raised and failure.blamed is None:
            layout.raised += 1
            layout.refusal = layout.refusal and failure.refusal
            layout.words = layout.words or failure.words
        for key, number in entries.items():
            of_key = classes == self._ids.index(key) if key in self._ids else np.zeros(1, bool)
            column = int(of_key.argmax()) if len(of_key) else 0
            count = self._counts[key]
            kind: DeviationKind = "violates"
            if failure.blamed is not None:
                count.died += number
                kind = "crashed"
            elif failure.raised:
                count, kind = layout.of.setdefault(key, Count()), "raises"
                count.raised += number
            else:
                count.violating += number
            expected = int(results[column]) if len(results) else 0
            self._record(count, request, (row, column), expected, kind, words=failure.words)

    def _record(
        self, count: Count, request: Request, at: tuple[int, int], expected: int, kind: DeviationKind,
        **found: Any,
    ) -> None:  # fmt: skip
        """Record the deviation of a call and an entry, unless the class has one of its kind."""
        count.words = count.words or found.get("words")
        if not _has(count, found.get("latitude") or kind):
            request, row = of_equal_length(request, at[0])
            one = recorded(request, row, at[1], expected, self._etype, self._of, kind=kind, **found)
            count.deviations += (one,)

    # --- Results that differ

    def _compare(self, request: Request, indices: Array | None, got: Array, table: Table) -> Array:
        """Count the results whose bits are not expected; the flat places of a sample of them."""
        places: list[Array] = [np.zeros(0, np.intp)]
        step = 1 if request.length >= _LONG else max(1, len(got))
        for first in range(0, len(got), step):
            rows = slice(first, first + step)
            some, expected = got[rows], table.results[rows]
            if same_bits(some, expected):
                continue
            flat = np.flatnonzero(some != expected)
            # Where most of a row deviates, the latitude of the whole row needs no copies of operands.
            whole = len(some) == 1 and 2 * len(flat) > some.size
            at = slice(None) if whole else flat
            row, column = (0, at) if len(some) == 1 else np.divmod(flat, request.length)
            entries = column if indices is None else indices[rows][row, column]
            tensors = [pool[entries] for pool in request.pools]
            scalars = [
                scalar[rows] if len(some) == 1 else scalar[row] for scalar in request.scalars
            ]
            values = *tensors, *scalars, expected.ravel()[at], some.ravel()[at]
            latitude = accepted_by(self._etype, values, self._accepts)
            latitude = latitude[flat] if whole else latitude
            deviating = flat + first * request.length
            self._count(request, deviating, latitude, got, table)
            self._note_places(request, deviating[latitude < 0], table)
            places.append(_sampled(deviating, table))
        return _sampled(np.concatenate(places), table)

    def _count(
        self, request: Request, flat: Array, latitude: Array, got: Array, table: Table
    ) -> None:
        """Count deviations, given by their flat places, by class and latitude; record the first of each."""
        names: list[str | None] = [None, *self._accepts]
        keys = table.classes.ravel()[flat].astype(np.intp)
        keys *= len(names)
        keys += latitude
        keys += 1
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            name, number = names[key % len(names)], int(numbers[key])
            count = self._counts[self._ids[key // len(names)]]
            if name is None:
                count.violating += number
            else:
                count.latitude[name] = count.latitude.get(name, 0) + number
            kind: DeviationKind = "acceptable" if name else "violates"
            if not _has(count, name or kind):
                at = divmod(int(flat[(keys == key).argmax()]), request.length)
                bits = int(table.results[at]), int(got[at])
                self._record(count, request, at, bits[0], kind, got=bits[1], latitude=name)

    def _note_places(self, request: Request, flat: Array, table: Table) -> None:
        """Note the places of the deviations that no latitude accepts, by class."""
        if not len(flat):
            return
        rows, entries = np.divmod(flat, request.length)
        lengths = (
            np.full(len(flat), request.length) if request.lengths is None else request.lengths[rows]
        )
        classes = table.classes.ravel()[flat]
        for index in np.unique(classes).tolist():
            of_class = classes == index
            extremes = self._extremes.setdefault(index, Extremes())
            extremes.add(request.layout, lengths[of_class], entries[of_class])

    # --- Causes and readings

    def _name_causes(self) -> None:
        """Put the causes of deviations into those that were recorded."""
        answers = joined(self._etype, self._answers)
        if not answers.deviating.any():
            return
        accepted = accepted_causes(self._of, answers, self._form)
        violating = causes(self._of, answers, self._extremes, self._form)
        for kind, by_class in (("acceptable", accepted), ("violates", violating)):
            for index, cause in by_class.items():
                count = self._counts[self._ids[index]]
                update = {"explanation": cause.words, "allowed_by": cause.readings}
                count.deviations = tuple(
                    one.model_copy(update=update)
                    if one.kind == kind and one.got is not None
                    else one
                    for one in count.deviations
                )

    @property
    def readings(self) -> ReadingMatch | None:
        """The readings that allow every answer that was kept; None without answers or readings."""
        of, etype, bits = self._of, self._etype, self._special.dtype
        readings, ids = of.oracle.READINGS[etype.family], of.class_ids(etype.family)
        answers = joined(etype, self._answers)
        if not len(answers) or not readings:
            return None
        operands, got = answers.values, answers.result
        allowed = {id_: np.asarray(allows(*operands, got)) for id_, allows in readings.items()}
        if allows_all := tuple(id_ for id_, where in allowed.items() if where.all()):
            nans = [int(encode(text, etype)) for text in ("nan", "-nan") if etype.family == "float"]
            others = [*operands, *(np.full(len(got), nan, bits).view(got.dtype) for nan in nans)]
            differ = [(y, y.view(bits) != answers.got) for y in others]
            exactly = tuple(
                id_ for id_ in allows_all
                if not any(np.any(readings[id_](*operands, y) & other) for y, other in differ)
            )  # fmt: skip
            return ReadingMatch(answers=len(got), allowed_by=allows_all, exactly=exactly)
        nearest = max(allowed, key=lambda id_: int(allowed[id_].sum()))
        left = ~allowed[nearest]
        return ReadingMatch(
            answers=len(got), allowed_by=(), exactly=(), nearest=nearest, left=int(left.sum()),
            left_in=tuple(ids[index] for index in np.unique(answers.classes[left]).tolist()),
            explained_by=explains_all(of, answers),
        )  # fmt: skip


def _has(count: Count, key: str) -> bool:
    return any(one.key == key for one in count.deviations)


def _evenly(number: int) -> Array:
    """At most `_SAMPLE` of the indices below a number, spread evenly."""
    return np.arange(number) if number <= _SAMPLE else np.arange(_SAMPLE) * number // _SAMPLE


def _sampled(places: Array, table: Table) -> Array:
    """Some flat places of results, spread evenly, and the first one of each class."""
    _, firsts = np.unique(table.classes.ravel()[places], return_index=True)
    chosen: Array = places[np.union1d(_evenly(len(places)), firsts)]
    return chosen


def _is_whole_pool(request: Request) -> bool:
    """Whether each call has the pool as it is, from its first value to its last."""
    alike = (
        request.indices is None and request.length == len(request.pool) and not request.starts.any()
    )
    return alike and not _REPEATS[request.layout]


def _layout(request: Request) -> str:
    """The layout of the calls of a request; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout
