"""Keeps a sample of the answers of a runtime: some of each request, and some of those that deviate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.accepted import accepted_by
from sonnx_clip.conform.answers import Answers, joined
from sonnx_clip.conform.chosen_bounds import together
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.runtimes.layouts import NUMBER_OF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.accepted import Accepts
    from sonnx_clip.conform.compared_results import ComparedResults
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array

_KEPT = 256  # answers of a request that are kept, and as many that deviate


class AnswerSample:
    """The answers that are kept of one element type.

    Args:
        etype: the element type.
        accepts: the latitudes, as from `latitudes`.
        operator: the operator, which may take several tensors.
    """

    def __init__(self, etype: ElementType, accepts: Accepts, operator: Operator) -> None:
        self._etype = etype
        self._accepts = accepts
        values = np.array(special_patterns(etype), bits_type(etype.id))
        self._special_pools = together(values, operator.tensors)
        self._parts: list[Answers] = []

    @property
    def answers(self) -> Answers:
        """All answers that were kept."""
        return joined(self._etype, self._parts)

    def add(self, results: ComparedResults, deviating: Sequence[Array]) -> None:
        """Keep some answers, spread evenly, and some of those that deviate.

        Args:
            results: of a request.
            deviating: flat places of results that deviate, in parts.
        """
        request = results.request
        size = results.got.size
        places = [_evenly(size)]
        # All answers to the special values are kept: readings differ there.
        pools = zip(request.pools, self._special_pools, strict=True)
        has_special_values = all(np.array_equal(pool, special) for pool, special in pools)
        if results.indices is None and has_special_values:
            places = [np.arange(size)]
        if deviating:
            deviations = np.concatenate(deviating)
            places.append(_sampled(deviations, results.expected))

        all_places = np.concatenate(places)
        rows, columns = np.divmod(all_places, request.length)
        # Where a call gave no result, the expected one stands in its place: that is no answer.
        usable = results.usable[rows, columns]
        self._parts.append(self._answers_at(results, rows[usable], columns[usable]))

    def _answers_at(self, results: ComparedResults, rows: Array, columns: Array) -> Answers:
        """The answers at some entries of the results."""
        request = results.request
        table = results.expected
        places = results.pool_places(rows, columns)
        operands = request.operands_at(rows, places)
        got = results.got[rows, columns]
        expected = table.results[rows, columns]
        latitude = accepted_by(self._etype, (*operands, expected, got), self._accepts)
        return Answers(
            etype=self._etype,
            operands=operands,
            got=got,
            expected=expected,
            classes=table.classes[rows, columns].astype(int),
            violating=np.not_equal(got, expected) & (latitude < 0),
            layouts=np.full(len(rows), NUMBER_OF[request.layout]),
            lengths=results.lengths(rows),
            entries=columns,
        )


def _evenly(number: int) -> Array:
    """At most `_KEPT` of the indices below a number, spread evenly."""
    if number <= _KEPT:
        return np.arange(number)
    return np.arange(_KEPT) * number // _KEPT


def _sampled(places: Array, table: Table) -> Array:
    """Some flat places of results, spread evenly, and the first one of each class."""
    # A rare class may have few deviations among many: its first one is kept in any case.
    classes = table.classes.ravel()[places]
    _, firsts = np.unique(classes, return_index=True)
    chosen: Array = places[np.union1d(_evenly(len(places)), firsts)]
    return chosen
