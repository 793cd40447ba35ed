"""Which calls of a plan are made of a runtime that starts a program for each, takes long, stands behind a
pipe or has little memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.chosen_triples import LONG, covering_scalars
from sonnx_clip.conform.expected import Table, tabulate
from sonnx_clip.conform.judge_forms import bounds_of
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language.types import ElementType


FEW_CALLS = 100
"""About how many calls it is in all."""
FEW_OF_A_SHAPE = 4
"""Calls of each shape."""
FEW_LENGTHS = (2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 1025)
"""Lengths of which one call is made, beside those of the layouts and `LONG`."""

_ALL_X = 16  # bits of the types whose every X is in a call
_PAIRS = 8  # of bounds in a request: it bounds the memory
_SEED = 21


def few_calls(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    """The requests for an element type, each with what is expected for its calls."""
    yield from _long(etype)
    special = np.array(special_patterns(etype), bits_type(etype.id))
    table = tabulate(etype, [special], covering_scalars(etype, FEW_OF_A_SHAPE))
    turn = 0
    for layout in LAYOUTS:
        if layout.id != PLAIN.id and layout.length is not None:
            yield _request(table, layout.id, layout.length, turn, FEW_OF_A_SHAPE)
            turn += FEW_OF_A_SHAPE
    for length in FEW_LENGTHS:
        yield _request(table, PLAIN.id, length, turn, 1)
        turn += 1


def _long(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    """One call under each pair of bounds, of all values or of special and random ones."""
    assert etype.width is not None
    bits = bits_type(etype.id)
    if etype.width <= _ALL_X:
        pool = np.arange(2**etype.width, dtype=bits)
    else:
        special = np.array(special_patterns(etype), bits)
        random = np.random.PCG64(_SEED).random_raw(LONG - len(special)).astype(bits)
        pool = np.concatenate([special, random])
    bounds = bounds_of(etype)
    for start in range(0, len(bounds[0]), _PAIRS):
        table = tabulate(etype, [pool], tuple(bound[start : start + _PAIRS] for bound in bounds))
        yield _calls(table, PLAIN.id, LONG, np.zeros(table.count, int)), table


def _request(table: Table, layout: str, length: int, turn: int, count: int) -> tuple[Request, Table]:
    """So many calls, with the bounds whose turn it is, each with other entries of the pool."""
    turns = turn + np.arange(count)
    chosen = table.rows(turns % table.count)
    return _calls(chosen, layout, length, turns * 7 % len(table.pool)), chosen


def _calls(table: Table, layout: str, length: int, starts: Array) -> Request:
    return Request(layout, length, table.pool, starts, table.scalars)


# --- Which calls of a plan reach a runtime that stands behind a pipe or has little memory -------------------


STRIDED = "how X lies in memory: its entries were given one behind the other"
"""What is not seen of a runtime to which strides do not matter."""

_LONGEST = 65


def _same_as_plain() -> Iterator[str]:
    """The layouts that differ from another one in memory alone."""
    for layout in LAYOUTS:
        found = layout.arrange(np.zeros(_LONGEST if layout.length is None else layout.length))
        if not found.flags.c_contiguous or not found.flags.aligned or layout.id == "offset":
            yield layout.id


_STRIDED = frozenset(_same_as_plain())


def reaching(
    plan: Iterable[tuple[Request, Table]], *, strides: bool = True, entries: int | None = None
) -> Iterator[tuple[Request, Table]]:
    """The requests of a plan as they can be made.

    Args:
        plan: requests, each with what is expected.
        strides: whether layouts that differ in memory alone are asked.
        entries: the most entries of a call; longer calls are made in pieces that cover all of X.
    """
    for request, table in plan:
        if not strides and request.layout in _STRIDED:
            continue
        if entries is None or request.length <= entries:
            yield request, table
        else:
            yield _in_pieces(request, table, entries)


def _in_pieces(request: Request, table: Table, entries: int) -> tuple[Request, Table]:
    firsts = np.arange(0, request.length, entries)
    rows = np.repeat(np.arange(request.count), len(firsts))
    starts = (request.starts[:, None] + firsts).reshape(-1) % len(request.pool)
    scalars = tuple(scalar[rows] for scalar in request.scalars)
    return replace(request, length=entries, starts=starts, scalars=scalars), table.rows(rows)
