"""Compares the answers of a runtime with the oracle, and counts them by class.

Bits are compared first; the latitude is evaluated only where they differ. A sample of the answers is kept, to
find the readings of Clip that allow all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.accepted import Policy, accepted_by, latitudes
from sonnx_clip.conform.answer_sample import AnswerSample
from sonnx_clip.conform.causes import accepted_causes, causes
from sonnx_clip.conform.check_report import Count, Extent, ReadingMatch
from sonnx_clip.conform.compared_results import compared_results, expected_entries
from sonnx_clip.conform.describe import of_equal_length, recorded
from sonnx_clip.conform.matched_readings import matched_readings
from sonnx_clip.conform.places import Extremes
from sonnx_clip.conform.refusals import CallsOfLayout, RefusedCalls
from sonnx_clip.conform.units import Counts, Raised
from sonnx_clip.conform.verdicts import TAGS
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.conform.causes import Cause
    from sonnx_clip.conform.check_report import Deviation, DeviationKind, Refusal
    from sonnx_clip.conform.compared_results import ComparedResults
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.conform.session import Piece
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Answer, Failure, Request
    from sonnx_clip.runtimes.model_forms import ModelForm

_PLAIN = frozenset(layout.id for layout in LAYOUTS if layout.plain)
# Rejected calls after which only a sample of a layout is called. `_SAMPLED` of `form_plan` is as many: a
# form is given up after the sample of its bounds.
_ENOUGH = 64


class Tally:
    """Counts of one element type.

    Args:
        etype: the element type.
        policy: selects the latitudes.
        operator: the operator.
    """

    def __init__(self, etype: ElementType, policy: Policy, operator: Operator) -> None:
        self._etype = etype
        self._of = operator
        self._ids = operator.class_ids(etype.family)
        self._accepts = latitudes(etype, policy, operator)
        self._sample = AnswerSample(etype, self._accepts, operator)

        # What is counted, by class or tag, by layout, and by purpose.
        keys = (*self._ids, *TAGS)
        self._counts = {key: Count() for key in keys}
        self._raised: dict[str, Raised] = {}
        self._tried: dict[str, Extent] = {}

        # What explains deviations, crashes and refusals afterwards.
        self._memory_faults: set[tuple[int, str]] = set()  # class and words
        self._extremes: dict[int, Extremes] = {}  # by class
        self._calls: dict[str, CallsOfLayout] = {}
        self._form: ModelForm | None = None  # of the last request

    @property
    def counts(self) -> Counts:
        """All counts, to be added to those of other units, with the causes of deviations."""
        self._name_causes()
        return Counts(
            of=self._counts,
            raised=self._raised,
            tried=self._tried,
            only=self._refused_calls.only,
        )

    @property
    def readings(self) -> ReadingMatch | None:
        """The readings that allow every answer that was kept; None without answers or readings."""
        return matched_readings(self._of, self._sample.answers)

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
        of_layout = self._raised.get(_layout(request))
        if of_layout is not None and of_layout.all and of_layout.calls >= _ENOUGH:
            return True
        # Where all layouts so far are refused, the next one is not called at length, either.
        calls = 0
        for layout in self._raised.values():
            if not layout.all:
                return False
            calls += layout.calls
        return calls >= _ENOUGH

    def add_all(self, pieces: Iterable[Piece]) -> None:
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
        expected = expected_entries(request, table)
        # A call with a memory fault is compared, unless it is the first with this fault.
        failures = self._fail_all(request, table, expected, answer.failures)
        results = compared_results(request, expected, answer.bits, failures)

        layout = _layout(request)
        of_layout = self._calls.setdefault(layout, CallsOfLayout(self._etype))
        of_layout.add(request, answer.failures)
        returned = np.ones(request.count, bool)
        deaths = 0
        for row, failure in failures.items():
            if failure.raised:
                returned[row] = False
            if failure.blamed is not None:
                deaths += 1

        # A call that killed the runtime was not rejected: a layout in which it dies is not refused.
        raised = self._raised.setdefault(layout, Raised())
        raised.calls += request.count - deaths
        self._count_compared(results, returned)
        self._compare(results)

    def _count_compared(self, results: ComparedResults, returned: Array) -> None:
        """Count the calls that returned a result, and its entries by class."""
        request = results.request
        number = int(returned.sum())
        extent = self._tried.setdefault(request.purpose, Extent())
        extent.judged += number
        for tag in TAGS:
            self._counts[tag].compared += number

        is_inside = None
        if request.lengths is not None:
            lengths = request.lengths[returned, None]
            is_inside = np.arange(request.length) < lengths
        rows = slice(None) if returned.all() else returned  # a slice copies nothing
        of_class = results.expected.rows(rows).counts(is_inside)
        # The counts end with the last class that occurs.
        for id_, compared in zip(self._ids, of_class, strict=False):
            self._counts[id_].compared += compared

    # --- Calls without a usable result

    def _fail_all(
        self,
        request: Request,
        table: Table,
        expected: Table,
        failures: Mapping[int, Failure],
    ) -> dict[int, Failure]:
        """Count failed calls; returns those whose result is not compared.

        A memory fault is counted once for each class, and hides the result of that call alone: the results of
        later calls with the same fault are compared.
        """
        if not failures:
            return {}
        # A memory fault of a call without entries counts for the class of the first value of its pool.
        touched = expected.classes if request.length else table.classes[:, :1]
        counted = {}
        for row, failure in failures.items():
            length = request.length_of(row)
            classes = expected.classes[row, :length]
            if failure.memory:
                classes = touched[row]
                distinct = np.unique(classes).tolist()
                faults = {(index, failure.words) for index in distinct}
                if faults and faults <= self._memory_faults:
                    continue
                self._memory_faults |= faults
                if not length:
                    class_id = self._ids[classes[0]]
                    self._counts[class_id].compared += 1
            counted[row] = failure
            self._fail(request, row, failure, expected.results[row], classes)
        return counted

    def _fail(
        self,
        request: Request,
        row: int,
        failure: Failure,
        results: Array,
        classes: Array,
    ) -> None:
        """Count a call without a usable result, for each class of its entries and for C1 and C3."""
        layout = self._raised.setdefault(_layout(request), Raised())
        # Exceptions are counted by layout: whether they are refusals is known only at the end.
        if failure.raised and failure.blamed is None:
            layout.raised += 1
            layout.refusal = layout.refusal and failure.refusal
            layout.words = layout.words or failure.words
        for key, number in self._entries_of(failure, classes).items():
            column = self._first_of(key, classes)
            count = self._counts[key]
            kind: DeviationKind = "violates"
            if failure.blamed is not None:
                kind = "crashed"
                count.died += number
            elif failure.raised:
                kind = "raises"
                count = layout.of.setdefault(key, Count())
                count.raised += number
            else:
                count.violating += number
            count.words = count.words or failure.words
            # The first of a kind is recorded, as in `_count`.
            if not _has(count, kind):
                expected = int(results[column]) if len(results) else 0
                deviation = self._recorded(
                    request,
                    row,
                    column,
                    expected,
                    kind=kind,
                    words=failure.words,
                )
                count.deviations += (deviation,)

    def _entries_of(self, failure: Failure, classes: Array) -> dict[str, int]:
        """How many entries of a failed call count for each class, or for C1 and C3."""
        entries: dict[str, int] = {}
        if failure.blamed:
            for index in failure.blamed:
                entries[self._ids[index]] = 1
            return entries
        numbers = np.bincount(classes)
        for index in np.flatnonzero(numbers).tolist():
            entries[self._ids[index]] = int(numbers[index])
        # A call without entries has no class: it counts for the constraints on its result.
        tags = failure.tags
        if not tags and not entries:
            tags = TAGS
        return entries | dict.fromkeys(tags, 1)

    def _first_of(self, key: str, classes: Array) -> int:
        """The first entry of a class in a call; the first of all, if the key is C1 or C3."""
        if key not in self._ids or not len(classes):
            return 0
        is_of_class = classes == self._ids.index(key)
        return int(is_of_class.argmax())

    def _recorded(
        self,
        request: Request,
        row: int,
        column: int,
        expected: int,
        **details: Any,
    ) -> Deviation:
        """The record of the deviation of a call at an entry."""
        alike, place = of_equal_length(request, row)
        return recorded(alike, place, column, expected, self._etype, self._of, **details)

    # --- Results that differ

    def _compare(self, results: ComparedResults) -> None:
        """Count the results whose bits are not expected, and keep a sample of all."""
        places = []
        for deviations in results.deviations():
            latitude = accepted_by(self._etype, deviations.values, self._accepts)
            if deviations.is_whole_call:
                latitude = latitude[deviations.in_call]
            self._count(results, deviations.places, latitude)
            violations = deviations.places[latitude < 0]
            self._note_places(results, violations)
            places.append(deviations.places)
        # The sample is matched with readings and causes: without readings there are none.
        if self._of.spec.readings and results.got.size:
            self._sample.add(results, places)

    def _count(self, results: ComparedResults, flat: Array, latitude: Array) -> None:
        """Count deviations, given by their flat places, by class and latitude; record the first of each."""
        names: list[str | None] = [None, *self._accepts]
        classes = results.expected.classes.ravel()[flat].astype(np.intp)
        # A number for each class and latitude; a latitude of -1, that is none, comes first.
        keys = classes * len(names) + latitude + 1
        numbers = np.bincount(keys)
        for key in np.flatnonzero(numbers).tolist():
            index, place = divmod(key, len(names))
            class_id = self._ids[index]
            count = self._counts[class_id]
            name = names[place]
            number = int(numbers[key])
            kind: DeviationKind
            if name is None:
                kind = "violates"
                count.violating += number
            else:
                kind = "acceptable"
                count.latitude[name] = count.latitude.get(name, 0) + number
            # A report shows one deviation of a kind: the record of each would take most of the time.
            if _has(count, name or kind):
                continue

            first_of_key = (keys == key).argmax()
            first = int(flat[first_of_key])
            row, column = divmod(first, results.request.length)
            deviation = self._recorded(
                results.request,
                row,
                column,
                int(results.expected.results[row, column]),
                kind=kind,
                got=int(results.got[row, column]),
                latitude=name,
            )
            count.deviations += (deviation,)

    def _note_places(self, results: ComparedResults, flat: Array) -> None:
        """Note the places of the deviations that no latitude accepts, by class."""
        if not len(flat):
            return
        # Of every deviation, not of the sample: a place is named only if all deviations are there.
        rows, entries = np.divmod(flat, results.request.length)
        lengths = results.lengths(rows)
        all_classes = results.expected.classes.ravel()
        classes = all_classes[flat]
        layout = results.request.layout
        for index in np.unique(classes).tolist():
            of_class = classes == index
            extremes = self._extremes.setdefault(index, Extremes())
            extremes.add(layout, lengths[of_class], entries[of_class])

    # --- Causes

    def _name_causes(self) -> None:
        """Put the causes of deviations into those that were recorded."""
        answers = self._sample.answers
        if answers.deviating.any():
            self._explain("acceptable", accepted_causes(self._of, answers, self._form))
            self._explain("violates", causes(self._of, answers, self._extremes, self._form))

    def _explain(self, kind: DeviationKind, by_class: Mapping[int, Cause]) -> None:
        for index, cause in by_class.items():
            class_id = self._ids[index]
            count = self._counts[class_id]
            deviations = []
            for deviation in count.deviations:
                if deviation.kind == kind:
                    deviations.append(_with_cause(deviation, cause))
                else:
                    deviations.append(deviation)
            count.deviations = tuple(deviations)


def _with_cause(deviation: Deviation, cause: Cause) -> Deviation:
    """A deviation with its cause; one without a result has the words of the runtime."""
    if deviation.got is None:
        return deviation
    update = {"explanation": cause.words, "allowed_by": cause.readings}
    return deviation.model_copy(update=update)


def _has(count: Count, key: str) -> bool:
    return any(deviation.key == key for deviation in count.deviations)


def _layout(request: Request) -> str:
    """The layout of the calls of a request; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout
