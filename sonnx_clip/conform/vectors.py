"""Which triples are compared: all of an 8-bit type, all triples of special values, and random ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.conform.layouts import LAYOUTS, PLAIN
from sonnx_clip.conform.worker import Request
from sonnx_clip.errors import UserError
from sonnx_clip.oracle import load_oracle
from sonnx_clip.special import special_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.types import ElementType

_CALLS = 1024  # in one request; it bounds the memory and the wait for an answer
_TIMES = 4
_EXAMPLES = 200


@dataclass(frozen=True)
class Table:
    """What is due for every value of a pool under every pair of bounds.

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
    """The requests for an element type, each with the table of what is due for its calls."""
    if etype.width == 8:
        yield from _every_triple(etype)
    yield from _special(etype)
    yield from _random(etype)


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


def _pairs(values: Array) -> tuple[Array, Array]:
    return np.repeat(values, len(values)), np.tile(values, len(values))


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _CALLS) for start in range(0, count, _CALLS))


def _request(table: Table, layout: str, length: int) -> tuple[Request, Table]:
    """The calls for every pair of a table; short ones are made up to four times, elsewhere in the pool."""
    size, pairs = len(table.pool), len(table.lower)
    times = 1 if length in (0, size) else min(_TIMES, -(-size // length))
    calls = np.arange(pairs * times)
    # Knuth's multiplicative hash: a start that depends on no regularity of the pairs.
    starts = np.zeros_like(calls) if length == size else (calls * 2654435761 % 2**32) * size >> 32
    rows = np.tile(np.arange(pairs), times)
    parts = (table.lower, table.upper, table.due, table.classes)
    again = Table(table.pool, *(part[rows] for part in parts)) if times > 1 else table
    return Request(layout, length, table.pool, starts, again.lower, again.upper), again


@cache
def random_patterns(etype: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Values of X, and bounds pair by pair, as Hypothesis draws them, derandomized.

    Raises:
        UserError: Hypothesis is not installed.
    """
    try:
        from hypothesis import HealthCheck, Phase, given, settings

        from sonnx_clip.strategies import arrays_and_bounds
    except ImportError as error:
        todo = "install it: pip install 'sonnx-clip[hypothesis]'"
        raise UserError("random triples need Hypothesis, which is not installed", todo=todo) from error
    pool: dict[int, None] = {}
    bounds: dict[tuple[int, int], None] = {}

    @settings(
        derandomize=True,
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(arrays_and_bounds(etype, max_size=40))
    def collect(drawn: tuple[Array, Array, Array]) -> None:
        entries, lower, upper = (part.view(bits_type(etype)).tolist() for part in drawn)
        pool.update(dict.fromkeys(entries))
        bounds[lower, upper] = None

    collect()
    lowers, uppers = zip(*bounds, strict=True)
    return tuple(pool), lowers, uppers
