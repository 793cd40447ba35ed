"""Counts the results of an element type while a run goes on, and makes its report: for `campaign`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sonnx_clip.conform.calls import Answer, Failure, Request, entry_indices
from sonnx_clip.conform.compare import Differences, Policy, compare, latitude_ids
from sonnx_clip.conform.layouts import LAYOUTS
from sonnx_clip.conform.matching import Observed
from sonnx_clip.conform.report import ClassReport, Deviation, TypeReport, Verdict
from sonnx_clip.conform.vectors import class_ids
from sonnx_clip.conform.verdicts import Count, verdict_of, worst
from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.conform.vectors import Table
    from sonnx_clip.spec.types import ElementType

    Triples: TypeAlias = tuple[Array, Array, Array]  # entries of X, what is expected, classes; each (p, n)

_OPTIONAL = frozenset(layout.id for layout in LAYOUTS if layout.optional)
_FORMS = ("C1", "C3")  # shape and type of a result are judged call by call, with or without entries


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


class Tally:
    """The count of one element type.

    Args:
        etype: the element type.
        policy: which latitudes count.
        describe: writes the first deviation of each kind in each class.
    """

    def __init__(self, etype: ElementType, policy: Policy, describe: Callable[[Spot], Deviation]) -> None:
        self.etype = etype
        self.policy = policy
        self.describe = describe
        self.refused: dict[str, str] = {}
        self._classes = [Count() for _ in class_ids(etype.family)]
        self._forms = {tag: Count() for tag in _FORMS}
        self._raised_calls = 0
        self._raised_words: str | None = None
        self._observed = Observed(etype)

    def add(self, request: Request, table: Table, answer: Answer) -> None:
        """Count the answer to a request."""
        failures = answer.failures
        if request.layout in _OPTIONAL and _all_raised(failures, len(request.lower)):
            self.refused.setdefault(request.layout, failures[0].words)
            return
        indices = entry_indices(request)
        rows = np.arange(len(request.lower))[:, None]
        due, classes = table.due[rows, indices], table.classes[rows, indices]
        entries = request.pool[indices]
        for row, failure in failures.items():
            self._fail(request, row, failure, (entries, due, classes))
        answered = np.ones(len(rows), bool)
        answered[list(failures)] = False
        judged = answered.copy()
        judged[[row for row, failure in failures.items() if not failure.raised]] = True
        for form in self._forms.values():
            form.compared += int(judged.sum())
        for index, compared in enumerate(np.bincount(classes[judged].ravel())):
            self._classes[index].compared += int(compared)
        # A call without result has nothing to compare: let it agree.
        got = np.where(answered[:, None], answer.bits, due)
        found = self._deviate(request, got, (entries, due, classes))
        self._observed.add(request, answered, (entries, classes, got), found)

    def _fail(
        self, request: Request, row: int, failure: Failure, triples: tuple[Array, Array, Array]
    ) -> None:
        """Count a call without a usable result: for each class that it touches, and for C1 and C3."""
        entries, due, classes = (part[row] for part in triples)
        counts = [(self._classes[index], int(n)) for index, n in enumerate(np.bincount(classes)) if n]
        # A call without entries touches no class: what fails there counts for the constraints on its form.
        tags = failure.tags or (() if counts else _FORMS)
        counts += [(self._forms[tag], 1) for tag in tags]
        if failure.raised:
            self._raised_calls += 1
            self._raised_words = self._raised_words or failure.words
        for count, touched in counts:
            if failure.raised:
                count.raised += touched
            else:
                count.violating += touched
            count.words = count.words or failure.words
            if "violates" not in count.deviations:
                column = self._first_column(count, classes)
                x, y = (int(part[column]) if len(part) else 0 for part in (entries, due))
                spot = Spot(request, row, column, x, y, None, failure.words, None)
                count.deviations["violates"] = self.describe(spot)

    def _first_column(self, count: Count, classes: Array) -> int:
        for column, index in enumerate(classes.tolist()):
            if self._classes[index] is count:
                return column
        return 0

    def _deviate(self, request: Request, got: Array, triples: Triples) -> Differences:
        """Count the entries whose bits are not those that are expected, and return them."""
        entries, due, classes = triples
        found = compare(self.etype, got, due, (entries, request.lower, request.upper), self.policy)
        if not len(found.rows):
            return found
        names = (*latitude_ids(self.policy), None)
        keys = classes[found.rows, found.columns].astype(int) * len(names) + found.latitude % len(names)
        for key, first, number in zip(*np.unique(keys, return_index=True, return_counts=True), strict=True):
            index, latitude = divmod(int(key), len(names))
            count, name = self._classes[index], names[latitude]
            if name is None:
                count.violating += int(number)
            else:
                count.latitude[name] += int(number)
            kind = name or "violates"
            if kind not in count.deviations:
                row, column = int(found.rows[first]), int(found.columns[first])
                x, y, answer = (int(part[row, column]) for part in (entries, due, got))
                count.deviations[kind] = self.describe(Spot(request, row, column, x, y, answer, None, name))
        return found

    def report(self, crash: tuple[str, str] | None = None) -> TypeReport:
        """The verdicts. `crash` has the last words of a runtime that died, and the line that repeats it."""
        case_of = load_oracle().CASE_OF_CLASS
        for form in self._forms.values():
            if form.compared == 0:  # else the classes say what raised: there was a form to judge
                form.raised, form.words = self._raised_calls, self._raised_words
        served = any(count.compared for count in (*self._classes, *self._forms.values()))
        ids = class_ids(self.etype.family)
        rows = [(id_, case_of[id_], count) for id_, count in zip(ids, self._classes, strict=True)]
        rows += [(tag, None, count) for tag, count in self._forms.items()]
        crashed = crash is not None
        classes = tuple(
            _class_report(id_, case, count, verdict_of(count, crashed=crashed, served=served))
            for id_, case, count in rows
        )
        words, line = crash or (None, None)
        verdict = worst(found.verdict for found in classes)
        if verdict == "unsupported":
            words = next(found.words for found in classes if found.verdict == "unsupported")
        return TypeReport(
            type=self.etype.id,
            verdict=verdict,
            compared=sum(count.compared for count in self._classes),
            words=words,
            reproduce=line,
            refused_layouts=self.refused,
            classes=classes,
            readings=None if crashed else self._observed.match(ids),
        )


def _class_report(id_: str, case: str | None, count: Count, verdict: Verdict) -> ClassReport:
    return ClassReport(
        id=id_,
        case=case,
        verdict=verdict,
        compared=count.compared,
        acceptable=count.latitude.total(),
        violating=count.violating,
        raised=count.raised,
        latitude=dict(count.latitude),
        words=count.words,
        deviations=() if verdict == "unsupported" else tuple(count.deviations.values()),
    )


def _all_raised(failures: dict[int, Failure], calls: int) -> bool:
    return calls > 0 and len(failures) == calls and all(f.raised for f in failures.values())
