"""Which triples are compared, and in calls of which lengths.

All triples of an 8-bit type; every X of a 16-bit type, under bounds that reach every class; all triples of
special values, in every layout; random triples; and calls of many lengths, since loops over short, odd and
very long arrays are different code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.calls import Request
from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.conform.layouts import LAYOUTS, PLAIN
from sonnx_clip.conform.random_triples import random_patterns
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType

_CALLS = 1024  # in one request; it bounds the memory and the wait for an answer
_TIMES = 4
_FEW_BOUNDS, _MORE_BOUNDS = 8, 20  # pairs for calls of many lengths and long ones; for every X of 16 bits
_ALL_X = 16  # bits of the types whose every X is in a long call
_SEED = 20

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}

LONG = 2**16 + 1


def _random_lengths(count: int) -> list[int]:
    return (131 + np.random.PCG64(_SEED).random_raw(count) % (2000 - 131)).tolist()  # type: ignore[no-any-return]


LENGTHS = tuple(
    sorted({*range(2, 131), *(2**k + d for k in range(8, 12) for d in (-1, 0, 1)), *_random_lengths(10)})
)
"""Every short length; powers of two and their neighbours; and some that nothing distinguishes."""


@dataclass(frozen=True)
class Table:
    """What is expected for every value of a pool under every pair of bounds.

    Args:
        pool: bits of the values of X, shape (k,).
        lower: bits of min, shape (p,).
        upper: bits of max, shape (p,).
        due: bits of the result, shape (p, k).
        classes: the class of each triple, as an index into the classes of the family, shape (p, k).
    """

    pool: Array
    lower: Array
    upper: Array
    due: Array
    classes: Array


def class_ids(family: str) -> tuple[str, ...]:
    """The classes of a family, in the order of the YAML."""
    return tuple(load_oracle().CLASSES[family])


def tabulate(etype: ElementType, pool: Array, lower: Array, upper: Array) -> Table:
    """The oracle's word on every value of a pool under every pair of bounds (bits)."""
    oracle, dtype = load_oracle(), numpy_type(etype.id)
    x, l, m = pool.view(dtype)[None, :], lower.view(dtype)[:, None], upper.view(dtype)[:, None]
    shape = (len(lower), len(pool))
    masks = [np.broadcast_to(holds(x, l, m), shape) for holds in oracle.CLASSES[etype.family].values()]
    if not np.all(sum(mask.astype(np.int8) for mask in masks) == 1):
        raise AssertionError(f"the classes of {etype.family} do not part the triples of {etype.id}")
    due = np.broadcast_to(oracle.clip(x, l, m), shape).view(bits_type(etype.id))
    classes = np.select(masks, [np.int8(i) for i in range(len(masks))]).astype(np.int8)
    return Table(pool, lower, upper, due, classes)


def plan(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    """The requests for an element type, each with the table of what is expected for its calls."""
    if etype.width == 8:
        yield from _every_triple(etype)
    yield from _special(etype)
    yield from _random(etype)
    yield from _lengths(etype)
    yield from _long(etype)


def _every_triple(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    every = np.arange(256, dtype=bits_type(etype.id))
    lower, upper = _pairs(every)
    for part in _parts(len(lower)):
        yield _request(tabulate(etype, every, lower[part], upper[part]), PLAIN.id, len(every))


def _special(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    pool = np.array(special_patterns(etype), bits_type(etype.id))
    lower, upper = _pairs(pool)
    tables = [tabulate(etype, pool, lower[part], upper[part]) for part in _parts(len(lower))]
    for layout in LAYOUTS:
        length = len(pool) if layout.length is None else layout.length
        for table in tables:
            yield _request(table, layout.id, length)


def _random(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    pool, lower, upper = (np.array(part, bits_type(etype.id)) for part in random_patterns(etype.id))
    yield _request(tabulate(etype, pool, lower, upper), PLAIN.id, len(pool))


def _lengths(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    """Calls of very many lengths, with few bounds."""
    pool = np.array(special_patterns(etype), bits_type(etype.id))
    table = tabulate(etype, pool, *covering_bounds(etype, _FEW_BOUNDS))
    for length in LENGTHS:
        yield _request(table, PLAIN.id, length, times=1)


def _long(etype: ElementType) -> Iterator[tuple[Request, Table]]:
    """Calls so long that a loop may be split; for types of 8 and 16 bits they hold every X."""
    assert etype.width is not None
    if etype.width <= _ALL_X:
        pool = np.arange(2**etype.width, dtype=bits_type(etype.id))
    else:
        # Of NumPy's random streams this one is promised never to change.
        random = np.random.PCG64(_SEED).random_raw(LONG).astype(bits_type(etype.id))
        pool = np.concatenate([np.array(special_patterns(etype), bits_type(etype.id)), random])
    bounds = covering_bounds(etype, _MORE_BOUNDS if etype.width == _ALL_X else _FEW_BOUNDS)
    yield _request(tabulate(etype, pool, *bounds), PLAIN.id, LONG)


@cache
def covering_bounds(etype: ElementType, count: int) -> tuple[Array, Array]:
    """Pairs of special bounds, shapes (count,), that together reach every class which special values do."""
    pool = np.array(special_patterns(etype), bits_type(etype.id))
    table = tabulate(etype, pool, *_pairs(pool))
    missing = np.stack([(table.classes == index).any(1) for index in range(len(class_ids(etype.family)))], 1)
    chosen: list[int] = []
    while missing.any():
        chosen.append(int(missing.sum(1).argmax()))
        missing[:, missing[chosen[-1]]] = False
    more = np.random.PCG64(_SEED).random_raw(count) % len(table.lower)
    rows = list(dict.fromkeys([*chosen, *more.tolist()]))[: max(count, len(chosen))]
    return table.lower[rows], table.upper[rows]


def _pairs(values: Array) -> tuple[Array, Array]:
    return np.repeat(values, len(values)), np.tile(values, len(values))


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _CALLS) for start in range(0, count, _CALLS))


def _request(table: Table, layout: str, length: int, times: int = _TIMES) -> tuple[Request, Table]:
    """The calls for every pair of a table; short ones are made several times, elsewhere in the pool."""
    size, pairs = len(table.pool), len(table.lower)
    distinct = 1 if _REPEATS[layout] else length
    times = 1 if length in (0, size) else min(times, -(-size // distinct))
    calls = np.arange(pairs * times)
    # Knuth's multiplicative hash: a start that depends on no regularity of the pairs.
    starts = np.zeros_like(calls) if length == size else (calls * 2654435761 % 2**32) * size >> 32
    rows = np.tile(np.arange(pairs), times)
    parts = (table.lower, table.upper, table.due, table.classes)
    again = Table(table.pool, *(part[rows] for part in parts)) if times > 1 else table
    return Request(layout, length, table.pool, starts, again.lower, again.upper), again
