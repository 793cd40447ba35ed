"""Which triples are compared, special ones and random ones, the same on every machine, and in calls of which
lengths.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import Table, tabulate, whole_table
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.layouts import Layout

    Patterns = tuple[tuple[int, ...], ...]
    Pools = Sequence[Array]  # of the tensors, each of shape (k,)


_SEED = 20
_PAIRS = 100  # of bounds
_ENTRIES = 150  # values of X that are drawn, beside the bounds themselves
_NEAR = 3  # how far from a special value `near` may lie
_LONGEST = 64  # bits


@cache
def random_patterns(
    etype: ElementType, tensors: int = 1, scalars: int = 2, number: int = 0
) -> tuple[Patterns, Patterns]:
    """Values of each tensor, entry by entry, and of each scalar, call by call; each choice once.

    A third of the values are special ones, a third their neighbours, a third any pattern. Where there is one
    tensor, it is each scalar of every fourth call besides, since ties are where implementations differ. Each
    number has other values.
    """
    draw = _Draw(etype, number)
    calls = list(dict.fromkeys(draw.patterns(scalars) for _ in range(_PAIRS)))
    ties = [(scalar,) * tensors for call in calls[::4] for scalar in call]
    pool = dict.fromkeys([*ties, *(draw.patterns(tensors) for _ in range(_ENTRIES))])
    return tuple(zip(*pool, strict=True)), tuple(zip(*calls, strict=True))


class _Draw:
    """Draws patterns of an element type, in an order that depends on the type and the number alone."""

    def __init__(self, etype: ElementType, number: int) -> None:
        assert etype.width is not None
        self._special = special_patterns(etype)
        self._width = etype.width
        self._stream = np.random.PCG64([_SEED, *etype.id.encode(), *([number] if number else [])])

    def pattern(self) -> int:
        """A special value, a neighbour of one, or any pattern: as likely as one another."""
        match self._below(3):
            case 0:
                return self._one_special()
            case 1:
                distance = self._below(2 * _NEAR + 1) - _NEAR
                return (self._one_special() + distance) % (1 << self._width)
            case _:
                return int(self._stream.random_raw()) >> (_LONGEST - self._width)

    def patterns(self, count: int) -> tuple[int, ...]:
        """So many of them."""
        return tuple(self.pattern() for _ in range(count))

    def _one_special(self) -> int:
        return int(self._special[self._below(len(self._special))])

    def _below(self, count: int) -> int:
        """A number below a small count: 64 random bits times the count, without the lower 64 bits."""
        return int(self._stream.random_raw()) * count >> _LONGEST


# --- The calls of the level quick ---------------------------------------------------------------------------
#
# All triples of an 8-bit type; every X of a 16-bit type, under bounds that reach every class; all triples of
# special values; all pairs of special bounds in longer calls; every layout under bounds in which each special
# value is each bound; random triples; and calls of many lengths, since loops over short, odd and very long
# arrays are different code.


_CALLS = 1024  # in one request; it bounds the memory and the wait for an answer
_TIMES = 4
_FEW_BOUNDS, _MORE_BOUNDS = 8, 24  # pairs of bounds in calls of many lengths, and in long ones
_MANY = 1024  # values of X beside each pair of special bounds
_ALL_X = 16  # bits of the types whose every X is in a long call

_REPEATS = {layout.id: layout.repeats for layout in LAYOUTS}

LONG = 2**16 + 1


def _random_lengths(count: int) -> list[int]:
    return (131 + np.random.PCG64(_SEED).random_raw(count) % (2000 - 131)).tolist()  # type: ignore[no-any-return]


LENGTHS = tuple(
    sorted({*range(2, 131), *(2**k + d for k in range(8, 12) for d in (-1, 0, 1)), *_random_lengths(10)})
)
"""Every short length; powers of two and their neighbours; and some that nothing distinguishes."""


def plan(etype: ElementType, of: CheckedOperator | None = None) -> Iterator[tuple[Request, Table]]:
    """The requests for an element type, each with the table of what is expected for its calls."""
    of = of or clip_operator()
    if etype.width == 8:
        yield from _everything(etype, of)
    yield from _special(etype, of)
    if etype.width != 8:
        yield from _every_pair(etype, of)
    yield from _layouts(etype, of)
    yield from _random(etype, of)
    yield from _lengths(etype, of)
    yield from _long(etype, of)


def _everything(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Every triple of 8 bits."""
    every = np.arange(256, dtype=bits_type(etype.id))
    yield from _beside_each(etype, together(every, of.tensors), every, of)


def _special(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Every triple of special values."""
    values = np.array(special_patterns(etype), bits_type(etype.id))
    yield from _beside_each(etype, together(values, of.tensors), values, of)


def _every_pair(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Every choice of special scalars, beside random values of the tensors."""
    values = np.array(special_patterns(etype), bits_type(etype.id))
    stream = np.random.PCG64([_SEED, *etype.id.encode()])
    pools = [stream.random_raw(_MANY).astype(values.dtype) for _ in range(of.tensors)]
    yield from _beside_each(etype, pools, values, of)


def _beside_each(
    etype: ElementType, pools: Pools, values: Array, of: CheckedOperator
) -> Iterator[tuple[Request, Table]]:
    """One call of the pools under each choice of the scalars from some values."""
    scalars = together(values, of.scalars)
    for part in parts_of(len(scalars[0]) if scalars else 1):
        table = whole_table(etype, pools, [scalar[part] for scalar in scalars], of)
        yield request_of(table, PLAIN.id, len(pools[0]))


def _layouts(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Every layout but the plain one: every X under scalars that reach every class; and each special value as
    each scalar.
    """
    values = np.array(special_patterns(etype), bits_type(etype.id))
    pools, every = together(values, of.tensors), together(values, of.scalars)
    covering = tabulate(etype, pools, covering_scalars(etype, _FEW_BOUNDS, of), of)
    for number, layout in enumerate(found for found in LAYOUTS if found.length is not None):
        assert layout.length is not None
        yield _each_entry(covering, layout)
        rows = crossed(len(values), of.scalars, number)
        table = tabulate(etype, pools, [scalar[rows] for scalar in every], of)
        yield request_of(table, layout.id, layout.length, times=2)


def _each_entry(table: Table, layout: Layout) -> tuple[Request, Table]:
    """As many calls for every row of a table as it takes until each value of the pool was in one."""
    size, length = len(table.pool), layout.length or 0
    distinct = 1 if layout.repeats else max(1, length)
    times = -(-size // distinct) if length else 1
    rows = np.repeat(np.arange(table.count), times)
    starts = np.tile(np.arange(times) * distinct % size, table.count)
    each = table.rows(rows)
    return Request(layout.id, length, table.pool, starts, each.scalars, beside=table.beside), each


def crossed(size: int, scalars: int, number: int) -> Array:
    """Some choices of the scalars, others for each number, in which each of `size` values is each scalar.

    Two scalars: about 2 * size of the size * size choices. Fewer scalars: all choices.
    """
    if scalars != 2:
        return np.arange(size**scalars)
    low, high = np.divmod(np.arange(size**2), size)
    found: Array = np.flatnonzero((low + high + number) % (size // 2) == 0)
    return found


def _random(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    drawn = random_patterns(etype, of.tensors, of.scalars)
    pools, scalars = ([np.array(part, bits_type(etype.id)) for part in parts] for parts in drawn)
    yield request_of(tabulate(etype, pools, scalars, of), PLAIN.id, len(pools[0]))


def _lengths(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Calls of very many lengths, with few choices of the scalars."""
    pools = together(np.array(special_patterns(etype), bits_type(etype.id)), of.tensors)
    table = tabulate(etype, pools, covering_scalars(etype, _FEW_BOUNDS, of), of)
    for length in LENGTHS:
        yield request_of(table, PLAIN.id, length, times=1)


def _long(etype: ElementType, of: CheckedOperator) -> Iterator[tuple[Request, Table]]:
    """Calls so long that a loop may be split; for types of 8 and 16 bits they hold every X of one tensor."""
    assert etype.width is not None
    if etype.width * of.tensors <= _ALL_X:
        pools = together(np.arange(2**etype.width, dtype=bits_type(etype.id)), of.tensors)
    else:
        # Of NumPy's random streams this one is promised never to change.
        special = together(np.array(special_patterns(etype), bits_type(etype.id)), of.tensors)
        stream = np.random.PCG64(_SEED)
        random = [stream.random_raw(LONG).astype(bits_type(etype.id)) for _ in special]
        pools = tuple(np.concatenate(both) for both in zip(special, random, strict=True))
    scalars = covering_scalars(etype, _MORE_BOUNDS, of)
    yield request_of(whole_table(etype, pools, scalars, of), PLAIN.id, LONG)


@cache
def covering_scalars(etype: ElementType, count: int, of: CheckedOperator | None = None) -> tuple[Array, ...]:
    """Special values of the scalars, shapes (count,), that reach every class which special ones do."""
    of = of or clip_operator()
    if not of.scalars:
        return ()
    values = np.array(special_patterns(etype), bits_type(etype.id))
    table = tabulate(etype, together(values, of.tensors), together(values, of.scalars), of)
    ids = of.class_ids(etype.family)
    missing = np.stack([(table.classes == index).any(1) for index in range(len(ids))], 1)
    chosen: list[int] = []
    while missing.any():
        chosen.append(int(missing.sum(1).argmax()))
        missing[:, missing[chosen[-1]]] = False
    more = np.random.PCG64(_SEED).random_raw(count) % table.count
    rows = list(dict.fromkeys([*chosen, *more.tolist()]))[: max(count, len(chosen))]
    return tuple(scalar[rows] for scalar in table.scalars)


def together(values: Array, count: int) -> tuple[Array, ...]:
    """All choices of so many values: the last one runs first."""
    grids = np.meshgrid(*[values] * count, indexing="ij") if count else ()
    return tuple(np.ascontiguousarray(grid.ravel()) for grid in grids)


def parts_of(count: int) -> Iterator[slice]:
    """So many rows, cut into requests."""
    return (slice(start, start + _CALLS) for start in range(0, count, _CALLS))


def request_of(table: Table, layout: str, length: int, times: int = _TIMES) -> tuple[Request, Table]:
    """The calls for every row of a table; short ones are made several times, elsewhere in the pool."""
    size, pairs = len(table.pool), table.count
    distinct = 1 if _REPEATS[layout] else length
    times = 1 if length in (0, size) else min(times, -(-size // distinct))
    calls = np.arange(pairs * times)
    # Knuth's multiplicative hash: a start that depends on no regularity of the pairs.
    starts = np.zeros_like(calls) if length == size else (calls * 2654435761 % 2**32) * size >> 32
    again = table.rows(np.tile(np.arange(pairs), times)) if times > 1 else table
    return Request(layout, length, table.pool, starts, again.scalars, beside=table.beside), again
