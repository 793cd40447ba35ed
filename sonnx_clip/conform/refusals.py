"""Calls that a runtime refuses although it serves others: under which condition, and the simplest of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from sonnx_clip.conform.bounds_conditions import exact_condition
from sonnx_clip.conform.check_report import Refusal
from sonnx_clip.conform.describe import of_equal_length, recorded
from sonnx_clip.conform.simplicity import complexity
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.runtimes.calls import entry_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Failure, Request

    Kind: TypeAlias = Callable[[Array], Array]

_SERVED_PAIRS = 3
_REFUSED_PAIRS = 16
"""A runtime serves only some bounds if it serves at most so many pairs, and refuses at least so many."""


class RefusedEntry(NamedTuple):
    """An entry of a call that was refused."""

    request: Request
    row: int
    entry: int


@dataclass
class CallsOfLayout:
    """The calls of one layout: which were refused, their bounds and lengths."""

    etype: ElementType
    bounds: list[tuple[Array, ...]] = field(default_factory=list)
    refused: list[Array] = field(default_factory=list)
    lengths: list[Array] = field(default_factory=list)
    requests: list[tuple[Request, Array]] = field(default_factory=list)  # those with a refused call
    # The kinds of entries that calls of the other requests had, of which nothing else is kept.
    served_kinds: set[str] = field(default_factory=set)
    words: str = ""
    is_refusal: bool = True

    def add(self, request: Request, failures: Mapping[int, Failure]) -> None:
        """Add the calls of a request with those that failed."""
        refused = np.zeros(request.count, bool)
        for row, failure in failures.items():
            # A death is no refusal: the runtime said nothing.
            if failure.raised and failure.blamed is None:
                refused[row] = True
                self.words = self.words or failure.words
                self.is_refusal = self.is_refusal and failure.refusal
        lengths = request.lengths
        if lengths is None:
            lengths = np.full(request.count, request.length)
        self.bounds.append(request.scalars)
        self.refused.append(refused)
        self.lengths.append(lengths)
        if refused.any():
            self.requests.append((request, refused))
            return
        for text, kind in _KINDS.items():
            # One call is enough: the pools of later requests need not be searched.
            if text not in self.served_kinds and _calls_with(request, self.etype, kind).any():
                self.served_kinds.add(text)


class RefusedCalls:
    """The calls of an element type in layouts that a runtime serves, as far as it refuses some."""

    def __init__(
        self,
        operator: Operator,
        etype: ElementType,
        layouts: Sequence[CallsOfLayout],
    ) -> None:
        self._of = operator
        self._etype = etype
        self._served_layouts: list[CallsOfLayout] = []
        refused: list[Array] = []
        lengths: list[Array] = []
        bounds: list[tuple[Array, ...]] = []
        for calls in layouts:
            # A layout that is refused as a whole is about the layout, not about bounds or entries.
            is_served = not all(mask.all() for mask in calls.refused)
            if is_served:
                self._served_layouts.append(calls)
                refused += calls.refused
                lengths += calls.lengths
                bounds += calls.bounds
        self._refused = _concatenated(refused)
        self._lengths = _concatenated(lengths)
        self._bounds = [_concatenated(column) for column in zip(*bounds, strict=True)]

    def describe(self) -> Refusal | None:
        """The condition and the simplest example; None if nothing was refused where others are served."""
        if not self._refused.any():
            return None
        condition, kind = self._condition()
        # Something was refused, so one of the layouts has words.
        words = next(calls.words for calls in self._served_layouts if calls.words)
        simplest = self._simplest(kind)
        alike, place = of_equal_length(simplest.request, simplest.row)
        example = recorded(
            alike,
            place,
            simplest.entry,
            self._expected(simplest),
            self._etype,
            self._of,
            kind="raises",
            words=words,
        )
        is_refusal = all(calls.is_refusal for calls in self._served_layouts)
        return Refusal(
            condition=condition,
            words=words,
            is_refusal=is_refusal,
            refused=int(self._refused.sum()),
            calls=len(self._refused),
            example=example,
        )

    def _expected(self, refused: RefusedEntry) -> int:
        """The bits of the expected result at an entry of a call; 0 if it has no entries."""
        request, row, entry = refused
        if not request.length_of(row):
            return 0
        indices = entry_indices(request, row)
        place = indices[entry : entry + 1]
        bits = request.operands_at(np.array([row]), place)
        dtype = numpy_type(self._etype.id)
        values = [operand.view(dtype) for operand in bits]
        result = np.asarray(self._of.result(*values))
        result_bits = result.view(bits[0].dtype)
        return int(result_bits[0])

    @property
    def only(self) -> dict[str, int]:
        """The condition of the only bounds that are served and the number of their calls, if they are few."""
        if not self._refused.any() or not self._bounds:
            return {}
        served = self._pairs(~self._refused)
        refused = self._pairs(self._refused)
        # Distinct pairs, since many calls have the same one.
        serves_few = len(set(served)) <= _SERVED_PAIRS
        refuses_many = len(set(refused)) >= _REFUSED_PAIRS
        if not (serves_few and refuses_many):
            return {}
        # Now the condition is on what is served: that is the exception.
        condition = self._condition_on_bounds(~self._refused)
        if condition is None:
            return {}
        return {condition: len(served)}

    # --- The condition

    def _condition(self) -> tuple[str | None, Kind | None]:
        """The condition, and the kind of the entries that it is about, if it is about these."""
        condition = None
        if self._bounds:
            condition = self._condition_on_bounds(self._refused)
        condition = condition or self._condition_on_length()
        if condition is not None:
            return condition, None
        for text, kind in _KINDS.items():
            is_served = any(text in calls.served_kinds for calls in self._served_layouts)
            if not is_served and self._is_refused_for(kind):
                return f"{text} for an entry of X", kind
        return None, None

    def _condition_on_bounds(self, inside: Array) -> str | None:
        """The condition that the bounds of these calls meet, and those of no other call."""
        bounds_inside = [bound[inside] for bound in self._bounds]
        bounds_outside = [bound[~inside] for bound in self._bounds]
        return exact_condition(
            self._of.spec,
            self._etype,
            _distinct(bounds_inside),
            _distinct(bounds_outside),
        )

    def _condition_on_length(self) -> str | None:
        """The condition that the lengths of the refused calls meet, and those of no other call."""
        refused = self._lengths[self._refused]
        served = self._lengths[~self._refused]
        if (refused == 0).all() and (served > 0).all():
            return "X has no entries"
        # Neither of both is empty: something was refused, in layouts that are served.
        if refused.min() > served.max():
            return f"X has more than {served.max():,} entries"
        if refused.max() < served.min():
            return f"X has less than {served.min():,} entries"
        return None

    def _is_refused_for(self, kind: Kind) -> bool:
        """Whether each refused call, and no other call of its request, has entries of a kind."""
        for calls in self._served_layouts:
            for request, refused in calls.requests:
                has_kind = _calls_with(request, self._etype, kind)
                if not np.array_equal(has_kind, refused):
                    return False
        return True

    def _pairs(self, mask: Array) -> list[tuple[int, ...]]:
        """The bounds of some calls, as bits, a tuple for each call."""
        columns = [bound[mask].tolist() for bound in self._bounds]
        return list(zip(*columns, strict=True))

    # --- The example

    def _simplest(self, kind: Kind | None) -> RefusedEntry:
        """The entry with the simplest operands, of a kind if one is given."""
        # By the bounds first: a reader looks at them before looking at X.
        least: tuple[float, float, int] | None = None
        simplest: RefusedEntry | None = None
        for calls in self._served_layouts:
            for request, refused in calls.requests:
                rows = np.flatnonzero(refused)
                row, complexity_of_bounds = self._simplest_call(request, rows)
                length = request.length_of(row)
                entry = 0
                complexity_of_x = np.inf  # a call without entries is the last choice: it shows no X
                if length:
                    entry, complexity_of_x = self._simplest_entry(request, row, kind)
                key = (complexity_of_bounds, complexity_of_x, length)
                if least is None or key < least:
                    least = key
                    simplest = RefusedEntry(request, row, entry)
        assert simplest is not None
        return simplest

    def _simplest_entry(self, request: Request, row: int, kind: Kind | None) -> tuple[int, float]:
        """The entry of a call with the simplest X, of a kind if one is given, and how complex it is."""
        indices = entry_indices(request, row)
        x = request.pool[indices]
        complexities = complexity(x, self._etype.id)
        if kind is not None:
            values = x.view(numpy_type(self._etype.id))
            is_of_kind = kind(values)
            complexities = np.where(is_of_kind, complexities, np.inf)
        entry = int(complexities.argmin())
        return entry, float(complexities[entry])

    def _simplest_call(self, request: Request, rows: Array) -> tuple[int, float]:
        """The call with the simplest bounds of some calls, and how complex these are."""
        complexities = np.zeros(len(rows))
        for scalar in request.scalars:
            complexities += complexity(scalar[rows], self._etype.id)
        simplest = complexities.argmin()
        return int(rows[simplest]), float(complexities[simplest])


_KINDS: dict[str, Kind] = {
    "is_nan(X)": np.isnan,
    "is_infinite(X)": np.isinf,
}
"""Kinds of entries for which a call may be refused, as the specification writes them."""


def _calls_with(request: Request, etype: ElementType, kind: Kind) -> Array:
    """Whether each call of a request has an entry of a kind."""
    values = request.pool.view(numpy_type(etype.id))
    values_of_kind = np.asarray(kind(values))
    # Integers are of no kind, nor are most random floats: the entries of calls need not be looked up then.
    if not values_of_kind.any():
        return np.zeros(request.count, bool)
    is_of_kind = values_of_kind[entry_indices(request)]
    if request.lengths is not None:
        lengths = request.lengths[:, None]
        is_inside = np.arange(request.length) < lengths
        is_of_kind = is_of_kind & is_inside
    has_kind = is_of_kind.any(axis=1)
    return np.asarray(has_kind)


def _concatenated(parts: Sequence[Array]) -> Array:
    """The parts behind each other; without parts a mask without entries."""
    if not parts:
        return np.zeros(0, bool)
    return np.concatenate(parts)


def _distinct(bounds: Sequence[Array]) -> list[Array]:
    """The distinct pairs of bounds."""
    all_pairs = np.stack(bounds, axis=1)  # a row for each call
    pairs = np.unique(all_pairs, axis=0)
    return [np.ascontiguousarray(column) for column in pairs.T]
