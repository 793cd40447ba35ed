"""Counts the results of an element type while a run goes on, and makes its report: for `campaign`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.calls import Answer, Failure, Request, entry_indices
from sonnx_clip.conform.check_report import ClassReport, Deviation, TypeReport, Verdict
from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.compare import Differences, Policy, compare, latitude_ids
from sonnx_clip.conform.layouts import LAYOUTS, PLAIN
from sonnx_clip.conform.matching import Observed
from sonnx_clip.conform.verdicts import Count, verdict_of, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sonnx_clip.conform.chosen_triples import Table
    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.language.types import ElementType

    _Kind: TypeAlias = Literal["violates", "acceptable", "raises", "crashed"]
    Triples: TypeAlias = tuple[Array, Array, Array]  # entries of X, what is expected, classes; each (p, n)

_OPTIONAL = frozenset(layout.id for layout in LAYOUTS if layout.optional)
_FORMS = ("C1", "C3")  # shape and type of a result are judged call by call, with or without entries
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
        self._forms = {tag: Count() for tag in _FORMS}
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
        indices = entry_indices(request)
        rows = np.arange(request.count)[:, None]
        due, classes = table.due[rows, indices], table.classes[rows, indices]
        tensors = tuple(pool[indices] for pool in request.pools)
        entries = tensors[0]
        failures = {
            row: failure
            for row, failure in answer.failures.items()
            if not (failure.memory and self._told(failure.words, classes[row]))
        }
        raised = self._raised.setdefault(_form(request), _Raised())
        raised.calls += len(rows) - sum(failure.blamed is not None for failure in failures.values())
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
        found = self._deviate(request, got, (entries, due, classes), tensors)
        self._observed.add(request, indices, answered, (entries, classes, got), found)

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
        entries, due, classes = (part[row] for part in triples)
        touched: dict[int | str, int] = {index: int(n) for index, n in enumerate(np.bincount(classes)) if n}
        # A call without entries touches no class: what fails there counts for the constraints on its form.
        tags = failure.tags or (() if touched else _FORMS)
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
        self, request: Request, got: Array, triples: Triples, tensors: tuple[Array, ...]
    ) -> Differences:
        """Count the entries whose bits are not those that are expected, and return them."""
        entries, due, classes = triples
        found = compare(self.etype, got, due, (*tensors, *request.scalars), self.policy, self._of)
        if not len(found.rows):
            return found
        names = (*latitude_ids(self.policy, self._of), None)
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
                as_: _Kind = "acceptable" if name else "violates"
                spot = Spot(request, row, column, x, y, answer, None, name, as_)
                count.deviations[kind] = self.describe(spot)
        return found

    def report(self, stopped: tuple[Verdict, str] | None = None, remarks: Iterable[str] = ()) -> TypeReport:
        """The verdicts.

        Args:
            stopped: ``crashed`` or ``environment`` if the run ended early, and why, in words.
            remarks: what was noticed that is no result.
        """
        refused = {form: found for form, found in self._raised.items() if found.all}
        for form, found in self._raised.items():
            if form not in refused:
                for key, (number, spot) in found.of.items():
                    self._count(key).raised += number
                    self._describe(key, spot)
        self._refuse(refused)
        counts = [*self._classes, *self._forms.values()]
        served = any(count.compared for count in counts)
        ids, case_of = self._ids, self._of.oracle.CASE_OF_CLASS
        rows = [(id_, case_of[id_], count) for id_, count in zip(ids, self._classes, strict=True)]
        rows += [(tag, None, count) for tag, count in self._forms.items()]
        why = stopped[0] if stopped else None
        classes = tuple(
            _class_report(id_, case, count, verdict_of(count, stopped=why, served=served))
            for id_, case, count in rows
        )
        verdict = worst(found.verdict for found in classes)
        words = stopped[1] if stopped else None
        line: str | None = None
        crashes = [d for count in counts for kind, d in count.deviations.items() if kind == "crashed"]
        if crashes:
            words, line = words or crashes[0].words, crashes[0].reproduce
        elif verdict == "unsupported":
            words = next(found.words for found in classes if found.verdict == "unsupported")
        return TypeReport(
            type=self.etype.id,
            verdict=verdict,
            compared=sum(count.compared for count in self._classes),
            words=words,
            reproduce=line,
            refused_layouts={form: found.words for form, found in refused.items()} if served else {},
            remarks=tuple(remarks),
            calls=sum(found.calls for found in self._raised.values()),
            classes=classes,
            readings=self._observed.match(ids),
        )

    def _refuse(self, refused: dict[str, _Raised]) -> None:
        """Count what forms refuse as a whole: for C1 and C3, and for classes that no other form reached."""
        for form, found in refused.items():
            for count in self._forms.values():
                if form not in _OPTIONAL or count.compared == 0:
                    count.refused += found.raised
                    count.words = count.words or found.words
            for key, (number, _) in found.of.items():
                count = self._count(key)
                if not isinstance(key, str) and count.compared == 0:
                    count.refused += number
                    count.words = count.words or found.words
        served = any(count.compared or count.raised or count.died for count in self._classes)
        if refused and not served:  # of some classes nothing was asked, since all was refused
            words = next(iter(refused.values())).words
            for count in self._classes:
                count.refused, count.words = max(1, count.refused), count.words or words


def _form(request: Request) -> str:
    """The form of the calls of a request: a layout; the plain ones differ in their lengths alone."""
    return PLAIN.id if request.layout in _PLAIN else request.layout


def _class_report(id_: str, case: str | None, count: Count, verdict: Verdict) -> ClassReport:
    return ClassReport(
        id=id_,
        case=case,
        verdict=verdict,
        compared=count.compared,
        acceptable=count.latitude.total(),
        violating=count.violating,
        raised=count.raised,
        refused=count.refused,
        died=count.died,
        latitude=dict(count.latitude),
        words=count.words,
        deviations=() if verdict == "unsupported" else tuple(count.deviations.values()),
    )
