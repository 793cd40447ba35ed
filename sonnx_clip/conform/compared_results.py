"""The results of a request beside the expected ones, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import same_bits
from sonnx_clip.runtimes.calls import entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Request

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}
_LONG = 4096  # entries of calls that are compared one by one: this takes less memory


@dataclass(frozen=True)
class Deviations:
    """Results that are not the expected ones: a few calls of a request.

    Args:
        places: flat places in the results of the whole request, shape (d,).
        values: bits of each operand, of the expected result and of the result. They are of the deviations
            alone, of shape (d,) or (1,); or of the whole call, of shape (n,), if `is_whole_call`.
        is_whole_call: whether `values` are those of every entry of the only call.
        in_call: the places in the only call, shape (d,).
    """

    places: Array
    values: tuple[Array, ...]
    is_whole_call: bool
    in_call: Array


@dataclass(frozen=True)
class ComparedResults:
    """The results of the calls of a request, with the expected results.

    Args:
        request: the calls.
        expected: the expected results, a row for each call and a column for each entry.
        got: bits of the results, of the same shape; where there is none, the expected result.
        usable: whether there is a result, of the same shape.
        indices: the place of each entry in the pool; None if each call has the pool as it is.
    """

    request: Request
    expected: Table
    got: Array
    usable: Array
    indices: Array | None

    def lengths(self, rows: Array) -> Array:
        """The number of entries of some calls."""
        if self.request.lengths is None:
            return np.full(len(rows), self.request.length)
        lengths: Array = self.request.lengths[rows]
        return lengths

    def pool_places(self, rows: Array, columns: Array) -> Array:
        """The places in the pool of some entries."""
        if self.indices is None:
            return columns
        places: Array = self.indices[rows, columns]
        return places

    def deviations(self) -> Iterator[Deviations]:
        """The results that differ, long calls one by one."""
        step = 1 if self.request.length >= _LONG else max(1, len(self.got))
        for first in range(0, len(self.got), step):
            rows = slice(first, first + step)
            # Bytes first: nearly all calls are right, and then no entry is looked at.
            if not same_bits(self.got[rows], self.expected.results[rows]):
                yield self._deviations_of(first, rows)

    def _deviations_of(self, first: int, rows: slice) -> Deviations:
        """The results that differ in some calls, of which `first` is the first."""
        results = self.got[rows]
        expected = self.expected.results[rows]
        flat = np.flatnonzero(results != expected)
        is_single = len(results) == 1
        # Where most of a call deviates, the whole call is taken: this copies no operands.
        is_whole = is_single and 2 * len(flat) > results.size

        in_pool: Array | slice = slice(None)
        in_results: Array | slice = slice(None)
        calls: Array | slice = rows
        if not is_whole:
            row_numbers, columns = np.divmod(flat, self.request.length)
            in_pool = self.pool_places(first + row_numbers, columns)
            in_results = flat
            if not is_single:
                calls = first + row_numbers
        elif self.indices is not None:
            in_pool = self.indices[first]
        # A scalar has one value for the whole call, which is broadcast.
        values = [pool[in_pool] for pool in self.request.pools]
        values += [scalar[calls] for scalar in self.request.scalars]
        all_expected = expected.ravel()
        all_results = results.ravel()
        values += [all_expected[in_results], all_results[in_results]]
        places = flat + first * self.request.length
        return Deviations(places, tuple(values), is_whole, flat)


def expected_entries(request: Request, table: Table) -> Table:
    """The expected results of the entries of each call, from those of every value of the pool."""
    if is_whole_pool(request):
        return table
    return table.pick(entry_indices(request))


def compared_results(
    request: Request,
    expected: Table,
    bits: Array,
    without_result: Iterable[int],
) -> ComparedResults:
    """The results of a request beside the expected ones.

    Args:
        request: the calls.
        expected: the expected results, as from `expected_entries`.
        bits: bits of the results, a row for each call.
        without_result: the calls whose results cannot be compared.
    """
    indices = None if is_whole_pool(request) else entry_indices(request)
    has_result = np.ones(request.count, bool)
    failed = list(without_result)
    has_result[failed] = False
    usable = np.broadcast_to(has_result[:, None], bits.shape)
    # Rows are as long as the longest call: what is behind a shorter one is no result.
    if request.lengths is not None:
        lengths = request.lengths[:, None]
        is_inside = np.arange(request.length) < lengths
        usable = usable & is_inside

    got = bits  # no copy, where every result is usable
    if request.lengths is not None or not has_result.all():
        got = np.where(usable, bits, expected.results)
    return ComparedResults(request, expected, got, usable, indices)


def is_whole_pool(request: Request) -> bool:
    """Whether each call has the pool as it is, from its first value to its last."""
    as_long = request.indices is None and request.length == len(request.pool)
    return as_long and not request.starts.any() and not _REPEATS[request.layout]
