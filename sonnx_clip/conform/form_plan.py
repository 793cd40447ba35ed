"""The calls of one form of a model: every form is called under the same bounds, but for constant ones.

Bounds that are constants have more pairs, since converters decide by their values what a Clip becomes. Two
tensors have all combinations of special values; a scalar that a model broadcasts takes the place of a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.call_plan import cut, every_entry
from sonnx_clip.conform.chosen_bounds import (
    ChosenBounds,
    bounds_with_values,
    chosen_bounds,
    chosen_bounds_in_use,
    pairs_with_zero,
    table_of_special_values,
    through_float,
    together,
)
from sonnx_clip.conform.expected import tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import BY_ID, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.call_plan import Call, Calls
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.layouts import Layout
    from sonnx_clip.runtimes.model_forms import ModelForm

# By the rank of X; forms have these ranks alone.
_LAYOUT_OF_RANK = {0: "0-d", 1: PLAIN.id, 2: "rank-2", 4: "rank-4"}
_SAMPLED = 64  # calls that decide whether a form is refused
_CALLS = 1024  # of one request


@dataclass(frozen=True)
class FormBounds:
    """The bounds of the calls of a form, with expected results.

    Args:
        special: special values of X under pairs that reach every class.
        used: the bounds in use; None if there are none.
        with_zero: pairs of which one bound is zero; None for bounds that are inputs.
    """

    special: Table
    used: ChosenBounds | None
    with_zero: ChosenBounds | None = None


def form_plan(
    etype: ElementType,
    operator: Operator,
    form: ModelForm,
    *,
    few: bool = False,
    bounds: FormBounds | None = None,
) -> Calls:
    """The requests of a form, with expected results; the first ones are a sample of all bounds.

    Args:
        etype: the element type.
        operator: the operator.
        form: the form.
        few: whether there are few calls: fewer bounds, and one X of rank 0 for each class.
        bounds: the bounds, if not those of the specification.
    """
    bounds = bounds or bounds_of_form(etype, operator, form, few=few)
    # A model has one rank, so all of its calls have one layout.
    layout = BY_ID[_LAYOUT_OF_RANK[form.rank]]
    later: list[Call] = []
    if bounds.used is not None:
        # Some runtimes serve bounds in use alone: one call under each pair comes before a form is given up.
        request, table = _of_used(bounds.used, layout)
        calls_of_a_pair = request.count // bounds.used.table.count
        firsts = np.arange(0, request.count, calls_of_a_pair)
        yield from _in_form(form, "bounds in use", [cut(request, table, firsts)])
        others = np.setdiff1d(np.arange(request.count), firsts)
        later += _in_form(form, "bounds in use", _cut_into_parts(request, table, others))

    # A sample of all bounds comes next: a form that refuses it is given up before the many calls.
    request, table = _of_special(bounds.special, layout, few=few)
    spread = np.linspace(0, request.count - 1, _SAMPLED).astype(int)
    sampled = np.unique(spread)
    yield from _in_form(form, "special values", [cut(request, table, sampled)])
    others = np.setdiff1d(np.arange(request.count), sampled)
    later += _in_form(form, "special values", _cut_into_parts(request, table, others))

    if bounds.with_zero is not None:
        length = layout.length or bounds.with_zero.around.shape[1]
        request, table = bounds.with_zero.calls(layout, length)
        parts = _cut_into_parts(request, table, np.arange(request.count))
        later += _in_form(form, "bounds with zero", parts)
    yield from later


def _of_used(used: ChosenBounds, layout: Layout) -> Call:
    return used.calls_of_every_value(layout, layout.length or used.around.shape[1])


def _of_special(table: Table, layout: Layout, *, few: bool) -> Call:
    """Calls with every special X under every pair; at rank 0 of few calls, one for each class."""
    length = layout.length or len(table.pool)
    pairs = np.arange(table.count)
    rows, starts = every_entry(pairs, len(table.pool), length)
    # X of rank 0 has one entry, so that every X would be thousands of calls.
    if few and length == 1:
        _, first_of_class = np.unique(table.classes, return_index=True)
        rows, starts = np.unravel_index(first_of_class, table.classes.shape)
    expected = table.rows(rows)
    request = Request(
        layout=layout.id,
        length=length,
        pool=expected.pool,
        starts=starts,
        scalars=expected.scalars,
        beside=expected.beside,
    )
    return request, expected


def _cut_into_parts(request: Request, table: Table, rows: Array) -> Iterator[Call]:
    if not len(rows):
        return
    parts = ceil(len(rows) / _CALLS)
    for part in np.array_split(rows, parts):
        yield cut(request, table, part)


def _in_form(form: ModelForm, purpose: str, calls: Calls | list[Call]) -> Calls:
    for request, table in calls:
        yield replace(request, form=form, purpose=purpose), table


def bounds_of_form(
    etype: ElementType,
    operator: Operator,
    form: ModelForm,
    *,
    few: bool = False,
) -> FormBounds:
    """The bounds of a form of an operator, or the operands in their place."""
    if form.has_scalar:
        return FormBounds(_broadcast_table(etype, operator), used=None)
    return _bounds_of(etype, operator, are_constant=form.bounds != "inputs", few=few)


@cache  # there are dozens of forms, and only these traits of them matter
def _bounds_of(
    etype: ElementType,
    operator: Operator,
    *,
    are_constant: bool,
    few: bool,
) -> FormBounds:
    with_zero = None
    # Bounds that are inputs are not known when a converter decides what a Clip becomes.
    if are_constant and not few and operator.scalars == 2:
        pairs = pairs_with_zero(etype)
        with_zero = bounds_with_values(etype, pairs, operator)
    return FormBounds(
        special=_special_table(etype, operator, few=few),
        used=chosen_bounds_in_use(etype, operator),
        with_zero=with_zero,
    )


@cache
def _broadcast_table(etype: ElementType, operator: Operator) -> Table:
    """The expected results of special values of X, under special values of the other operands as scalars."""
    special = np.array(special_patterns(etype), bits_type(etype.id))
    others = together(special, operator.tensors + operator.scalars - 1)
    return tabulate(etype, [special], others, operator)


@cache
def _special_table(etype: ElementType, operator: Operator, *, few: bool) -> Table:
    """The expected results of special values, and of those around bounds that a float does not hold."""
    if operator.tensors > 1 or not operator.scalars:
        return table_of_special_values(etype, operator)
    patterns = list(special_patterns(etype))
    modulus = 1 << (etype.width or 0)
    for pair in through_float(etype):
        for bound in pair:
            # A bound that is rounded to a float moves by one, and only its neighbours show it.
            patterns += [(bound + step) % modulus for step in (-1, 0, 1)]
    distinct = list(dict.fromkeys(patterns))
    pool = np.array(distinct, bits_type(etype.id))
    scalars = chosen_bounds(etype, operator, few=few)
    return tabulate(etype, [pool], scalars, operator)
