"""The calls that are made in each form of a model: the same X and bounds in all of them.

Where bounds are constants each pair of them is a model of its own, so pairs are chosen, see `bounds_of`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.chosen_triples import Table, covering_scalars, tabulate
from sonnx_clip.conform.dtypes import Array, bits_type
from sonnx_clip.conform.layouts import LAYOUTS, PLAIN
from sonnx_clip.conform.model_forms.form_caller import FormRequest
from sonnx_clip.conform.session import cut
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import integer_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.conform.model_forms.axes import ModelForm
    from sonnx_clip.language.types import ElementType

_LAYOUTS = {0: "0-d", 1: PLAIN.id, 2: "rank-2", 4: "rank-4"}
_LENGTHS = {layout.id: layout.length for layout in LAYOUTS}
_CALLS = 1024
_FIRST = 64  # calls after which a form is given up that refuses each of them
# Neighbours and bounds that int32 and int64 lose on a way through float32 and float64.
_THROUGH_FLOAT = ((2**24 + 1, 20_000_000), (-20_000_000, -(2**24) - 1), (2**53 + 1, 10**16))


def form_plan(
    etype: ElementType, form: ModelForm, *, few: bool = False
) -> Iterator[tuple[FormRequest, Table]]:
    """The requests for a form, each with what is expected; the first is a sample of all bounds.

    Args:
        etype: the element type.
        form: the form.
        few: whether bounds are fewer, which reach every class, and X of rank 0 is one of each class.
    """
    table = _table(etype, few=few)
    size, layout = len(table.pool), _LAYOUTS[form.rank]
    length = _LENGTHS[layout] or size
    times = -(-size // length)  # of calls for a pair of bounds, until each X was in one
    rows = np.repeat(np.arange(table.count), times)
    starts = np.tile(np.arange(times) * length % size, table.count)
    if few and form.rank == 0:
        rows, starts = np.unravel_index(np.unique(table.classes, return_index=True)[1], table.classes.shape)
    every = table.rows(rows)
    request = FormRequest(layout, length, table.pool, starts, every.scalars, form=form)
    calls = np.arange(len(rows))
    first = np.unique(np.linspace(0, len(calls) - 1, _FIRST).astype(int))
    rest = np.setdiff1d(calls, first)
    for part in (first, *np.array_split(rest, -(-len(rest) // _CALLS) or 1)):
        if len(part):
            yield cut(request, every, part)  # type: ignore[misc]


@cache
def _table(etype: ElementType, *, few: bool) -> Table:
    """What is expected for every special value, and what `_THROUGH_FLOAT` adds, under the chosen bounds."""
    bounds = few_bounds(etype) if few else bounds_of(etype)
    pool = np.array(list(dict.fromkeys([*special_patterns(etype), *_around(etype)])), bits_type(etype.id))
    return tabulate(etype, [pool], bounds)


@cache
def bounds_of(etype: ElementType) -> tuple[Array, ...]:
    """The pairs of bounds, as bits, each of shape (p,).

    They reach every class; each special value is a bound of one, in ordinary and in inverted order by turns;
    and integers of 32 and 64 bits that a float32 or a float64 does not hold are both.
    """
    low, high = covering_scalars(etype, 0)
    special = special_patterns(etype)
    side_by_side = zip(special[::2], (*special[1::2], special[0]), strict=False)
    turned = [pair if at % 2 else pair[::-1] for at, pair in enumerate(side_by_side)]
    pairs = [*zip(low.tolist(), high.tolist(), strict=True), *turned, *_through_float(etype)]
    return _columns(pairs, etype)


def _columns(pairs: Iterable[tuple[int, int]], etype: ElementType) -> tuple[Array, ...]:
    return tuple(np.array(list(dict.fromkeys(pairs)), bits_type(etype.id)).T)


def few_bounds(etype: ElementType) -> tuple[Array, ...]:
    """The pairs of `bounds_of` that reach every class, and those that a float does not hold."""
    low, high = covering_scalars(etype, 0)
    pairs = [*zip(low.tolist(), high.tolist(), strict=True), *_through_float(etype)]
    return _columns(pairs, etype)


def _through_float(etype: ElementType) -> Iterator[tuple[int, int]]:
    if etype.family != "int":
        return
    assert etype.width is not None
    low, high = integer_range(etype)
    for first, second in _THROUGH_FLOAT:
        if low <= first and second <= high:
            yield first % (1 << etype.width), second % (1 << etype.width)


def _around(etype: ElementType) -> Iterator[int]:
    """The bounds of `_through_float`, and the values beside them."""
    for pair in _through_float(etype):
        for bound in pair:
            assert etype.width is not None
            yield from (near % (1 << etype.width) for near in (bound - 1, bound, bound + 1))
