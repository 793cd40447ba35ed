"""The plan of a check: the calls that are made in an element type, and what is expected of them.

All pairs of special bounds are in plain long calls. Every layout meets every class, and each special value as
each bound. Calls of many lengths are under bounds that together reach every class. Random draws share long
calls. The plan is cut into parts:

- ``quick`` is the part `FIRST`, with every triple of 8 bits and every X of 16 bits;
- ``standard`` adds more X under all pairs of special bounds, more random draws and every length;
- ``exhaustive`` adds every X of 16 bits under every min and every max, beside four others, and every X of
  32 bits under bounds that reach every class. It adds nothing for 8 and 64 bits.

The calls of a part follow from its name, and are the same on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import Table, key_type, range_table, tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode, integer_range
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import ModelForm

    Call: TypeAlias = tuple[Request, Table]
    Calls: TypeAlias = Iterator[Call]

Level: TypeAlias = Literal["quick", "standard", "exhaustive"]

FIRST = "chosen"
"""The first part of each element type: its result decides whether the others are judged."""
LONG = 2**16 + 1
"""So long that a loop may be split."""
EVERY_LENGTH, PAIRS_OF_A_LENGTH = 2048, 3
"""Above quick, calls of every length up to it are made, each under so many pairs of bounds."""
DRAWN, RANDOM_DRAWS, DRAWS_TOGETHER = 70_000, 64, 16
"""Of the level standard: X of more than 16 bits, random draws, and draws whose bounds meet each other's X."""
FEW_CALLS, FEW_OF_A_SHAPE = 100, 4
"""About how many calls are few, and how many of them have each shape."""
FEW_LENGTHS = (2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 1025)
"""Lengths of which one of the few calls is made, beside those of the layouts and `LONG`."""

_MORE = 2  # parts of the level standard
_BOUNDS, _STRETCHES = 256, 64  # in a part: bounds of 16 bits, 2 ** 16 X of 32
_EXHAUSTIVE = {  # by width: the kinds of parts that the level adds, and how many there are of each
    16: [("every-min", 2**16 // _BOUNDS), ("every-max", 2**16 // _BOUNDS)],
    32: [("every-x", 2**16 // _STRETCHES)],
}
_SIZES = {"more": 7_000, "every-min": 4 * _BOUNDS, "every-max": 4 * _BOUNDS, "every-x": 8 * _STRETCHES}
# The bounds beside each: the ends, which bound nothing, are those that why3/composition.mlw is about.
_BESIDE = {"int": ("lowest", "highest", "1", "2"), "float": ("-inf", "inf", "nan", "0")}
_SEED, _SEED_OF_MORE = 20, 22
_CALLS = 1024  # in one request; it bounds the memory and the wait for an answer
_RESULTS = 2**20  # of a request of long calls: what the caches of a processor hold
_RANGES = 2048  # values of a pool: ranges of X take less time then than every X
_FEW_BOUNDS, _MORE_BOUNDS = 8, 24  # pairs of bounds in calls of many lengths, and in long ones
_BY_MEMORY = frozenset(layout.id for layout in LAYOUTS if layout.by_memory)
_LENGTH_OF = {layout.id: layout.length for layout in LAYOUTS}


def kinds_of(etype: ElementType, level: Level) -> Sequence[tuple[str, int]]:
    """The kinds of parts that a level has beside `FIRST`, and how many of each there are."""
    found = [("more", _MORE)] if level != "quick" else []
    return [*found, *_EXHAUSTIVE.get(etype.width or 0, [])] if level == "exhaustive" else found


def size_of(etype: ElementType, part: str, *, few: bool = False) -> int:
    """About how many calls a part has."""
    if few or part == FIRST:
        return FEW_CALLS if few else 69_000 if etype.width == 8 else 7_000
    return _SIZES.get(part.rpartition("-")[0], FEW_CALLS)


def calls_of(etype: ElementType, part: str) -> Calls:
    """The requests of a part other than `FIRST`, each with what is expected; ValueError if there is none."""
    kind, _, number = part.rpartition("-")
    n = int(number)
    if kind == "more":
        yield from _more(etype, n)
    elif kind in ("every-min", "every-max"):
        yield from _long_calls(etype, [_every_x(etype)], some_bounds(etype, n, second=kind == "every-max"))
    elif kind == "every-x":
        for stretch in range(n * _STRETCHES, (n + 1) * _STRETCHES):
            pool = np.arange(stretch << 16, (stretch + 1) << 16).astype(bits_type(etype.id))
            yield from _long_calls(etype, [pool], covering_scalars(etype, _FEW_BOUNDS))
    else:
        raise ValueError(f"there is no part {part} of {etype.id}")


def cut(request: Request, table: Table, rows: Array) -> Call:
    """Some calls of a request, in the same memory."""
    return request.calls(rows), table.rows(rows)


def sample(request: Request, table: Table, count: int) -> Call:
    """At most `count` of the calls of a request, spread evenly."""
    return cut(request, table, np.unique(np.linspace(0, request.count - 1, count).astype(int)))


def as_taken(calls: Calls, *, strides: bool, entries: int | None) -> Calls:
    """The requests of a plan as a runtime can take them.

    Args:
        calls: requests, each with what is expected.
        strides: whether layouts that differ in memory alone are called.
        entries: the most entries of a call; longer calls are made in pieces that cover all of X.
    """
    for request, table in calls:
        if not strides and request.layout in _BY_MEMORY:
            continue
        if entries is None or request.length <= entries:
            yield request, table
            continue
        lengths = np.full(request.count, request.length) if request.lengths is None else request.lengths
        for length in np.unique(lengths).tolist():
            yield _in_pieces(*cut(request, table, np.flatnonzero(lengths == length)), entries)


def _in_pieces(request: Request, table: Table, entries: int) -> Call:
    firsts = np.arange(0, request.length, entries)
    rows = np.repeat(np.arange(request.count), len(firsts))
    starts = (request.starts[:, None] + firsts).reshape(-1) % len(request.pool)
    scalars = tuple(scalar[rows] for scalar in request.scalars)
    length = min(entries, request.length)
    pieces = replace(request, length=length, starts=starts, scalars=scalars, at_start=None)
    return pieces, table.rows(rows)


# --- The level quick ----------------------------------------------------------------------------------------


def chosen(etype: ElementType, of: CheckedOperator | None = None) -> Calls:
    """The requests of the part `FIRST`, each with what is expected for its calls."""
    of, bits = of or clip_operator(), bits_type(etype.id)
    every, rows = _special(etype, of), _covering_rows(etype, _FEW_BOUNDS, of)
    special = [every.pool, *every.beside]
    if etype.width == 8:
        patterns = np.arange(256, dtype=np.uint8)
        yield from _long_calls(etype, together(patterns, of.tensors), together(patterns, of.scalars), of)
    yield from _long_calls(etype, special, every.scalars, of)
    if etype.width != 8:
        seed = [_SEED, *etype.id.encode()]
        yield from _long_calls(etype, _random(seed, of.tensors, _CALLS, bits), every.scalars, of)
    yield from _layouts(every, rows, of)
    drawn = random_patterns(etype, of.tensors, of.scalars)
    yield from _long_calls(etype, [*drawn[0]], [*drawn[1]], of)
    yield from _of_lengths(every, np.repeat(LENGTHS, len(rows)), np.tile(rows, len(LENGTHS)))
    pools = _long_pools(etype, of)
    scalars = [np.tile(s, 1 + (len(pools[0]) > LONG)) for s in covering_scalars(etype, _MORE_BOUNDS, of)]
    yield from _long_calls(etype, pools, scalars, of, LONG)


def _random(seed: int | list[int], arrays: int, count: int, bits: np.dtype[np.generic]) -> list[Array]:
    """Random patterns. Of NumPy's random streams this one is promised never to change."""
    stream = np.random.PCG64(seed)
    return [stream.random_raw(count).astype(bits) for _ in range(arrays)]


LENGTHS = tuple(
    sorted({
        *range(2, 131), *(2**k + d for k in range(8, 12) for d in (-1, 0, 1)),
        *(131 + _random(_SEED, 1, 10, np.dtype(np.uint64))[0] % (2000 - 131)).tolist(),
    })
)  # fmt: skip
"""Every short length; powers of two and their neighbours; and some that nothing distinguishes."""


def _call(layout: str, length: int, table: Table, starts: Array, lengths: Array | None = None) -> Call:
    """Calls of a layout, one for each row of a table, beginning in its pool at `starts`."""
    request = Request(layout, length, table.pool, starts, table.scalars, beside=table.beside)
    return replace(request, lengths=lengths), table


def _every_entry(rows: Array, size: int, length: int) -> tuple[Array, Array]:
    """The rows and the starts of calls of a length, so that each value of a pool is in one under each row."""
    times = -(-size // length) if length else 1
    return np.repeat(rows, times), np.tile(np.arange(times) * length % size, len(rows))


def _layouts(every: Table, covering: Array, of: CheckedOperator) -> Calls:
    """Every layout but the plain one: every X under scalars that reach every class; and each special value as
    each scalar.
    """
    size = len(every.pool)
    for number, layout in enumerate(found for found in LAYOUTS if found.length is not None):
        length = layout.length or 0
        rows, starts = _every_entry(covering, size, 1 if layout.repeats else length)
        more = np.tile(crossed(every.count, of.scalars, number), min(2, len(rows) // len(covering)))
        starts = np.concatenate([starts, _scattered(len(more), size) * (length > 0)])
        yield _call(layout.id, length, every.rows(np.concatenate([rows, more])), starts)


def crossed(choices: int, scalars: int, number: int) -> Array:
    """Some of all choices of the scalars, others for each number, in which each value is each scalar.

    Of two scalars that share n values: about 2 * n of the n * n choices. Otherwise all choices.
    """
    if scalars != 2:
        return np.arange(choices)
    size = isqrt(choices)
    low, high = np.divmod(np.arange(choices), size)
    found: Array = np.flatnonzero((low + high + number) % (size // 2) == 0)
    return found


def _of_lengths(every: Table, lengths: Array, rows: Array) -> Calls:
    """Plain calls of these lengths, under these choices of the scalars."""
    starts = _scattered(len(rows), len(every.pool))
    for at in range(0, len(rows), _CALLS // 2):
        part = slice(at, at + _CALLS // 2)
        some = lengths[part]
        yield _call(PLAIN.id, int(some.max()), every.rows(rows[part]), starts[part], some)


def _long_pools(etype: ElementType, of: CheckedOperator) -> Sequence[Array]:
    """Every X of one tensor of 8 or 16 bits, else special and random ones."""
    width, bits = etype.width or 0, bits_type(etype.id)
    if width * of.tensors <= 16:
        return together(np.arange(2**width, dtype=bits), of.tensors)
    every = _special(etype, of)
    random = _random(_SEED, of.tensors, LONG, bits)
    return [np.concatenate(both) for both in zip((every.pool, *every.beside), random, strict=True)]


def _long_calls(
    etype: ElementType,
    pools: Sequence[Array],
    scalars: Sequence[Array],
    of: CheckedOperator | None = None,
    length: int | None = None,
) -> Calls:
    """One plain call with all of the pools, or of a length, under each choice of the scalars."""
    of, size = of or clip_operator(), len(pools[0])
    count, length = len(scalars[0]) if scalars else 1, length or size
    at_once = max(1, min(_CALLS, _RESULTS // length))
    for at in range(0, count, at_once):
        some = [scalar[at : at + at_once] for scalar in scalars]
        by_ranges = of.is_clip and size >= _RANGES
        table = range_table(etype, pools[0], some) if by_ranges else tabulate(etype, pools, some, of)
        yield _call(PLAIN.id, length, table, _scattered(table.count, size) * (length != size))


def _scattered(count: int, size: int) -> Array:
    """Where in a pool calls begin: Knuth's multiplicative hash, which no regularity of the calls meets."""
    return (np.arange(count) * 2654435761 % 2**32) * size >> 32


def together(values: Array, count: int) -> tuple[Array, ...]:
    """All choices of so many values: the last one runs first."""
    grids = np.meshgrid(*[values] * count, indexing="ij") if count else ()
    return tuple(np.ascontiguousarray(grid.ravel()) for grid in grids)


@cache
def _special(etype: ElementType, of: CheckedOperator) -> Table:
    """What is expected of all special values together."""
    values = np.array(special_patterns(etype), bits_type(etype.id))
    return tabulate(etype, together(values, of.tensors), together(values, of.scalars), of)


def covering_scalars(etype: ElementType, count: int, of: CheckedOperator | None = None) -> tuple[Array, ...]:
    """Special values of the scalars, shapes (count,), that reach every class which special ones do."""
    of = of or clip_operator()
    rows = _covering_rows(etype, count, of)
    return tuple(scalar[rows] for scalar in _special(etype, of).scalars)


@cache
def _covering_rows(etype: ElementType, count: int, of: CheckedOperator) -> Array:
    """The same, as rows of `_special`."""
    table = _special(etype, of)
    if not of.scalars:
        return np.zeros(1, int)
    ids = of.class_ids(etype.family)
    missing = np.stack([(table.classes == index).any(1) for index in range(len(ids))], 1)
    rows: list[int] = []
    while missing.any():
        rows.append(int(missing.sum(1).argmax()))
        missing[:, missing[rows[-1]]] = False
    least = len(rows)
    rows += (np.random.PCG64(_SEED).random_raw(count) % table.count).tolist()
    return np.array(list(dict.fromkeys(rows))[: max(count, least)])


# --- Random draws, the same on every machine ----------------------------------------------------------------

_PAIRS, _ENTRIES = 100, 150  # drawn bounds, and values of X beside the bounds themselves
_NEAR = 3  # how far from a special value its neighbours are


def random_patterns(
    etype: ElementType, tensors: int = 1, scalars: int = 2, number: int = 0
) -> tuple[Array, Array]:
    """Random bits of each tensor, shape (tensors, k), and of each scalar, shape (scalars, p).

    About a third are special values, a third neighbours of one, a third any pattern. Each fourth value of a
    scalar is one of the tensors too, since ties are where implementations differ. Each number has others.
    """
    special = np.array(special_patterns(etype), np.uint64)
    size = tensors * _ENTRIES + scalars * _PAIRS
    kind, word = _random([_SEED, *etype.id.encode(), number], 2, size, np.dtype(np.uint64))
    chosen = special[word % len(special)]
    near = chosen + word // len(special) % (2 * _NEAR + 1) - _NEAR  # cut off to the width of the type
    drawn = np.choose((kind % 3).astype(int), (chosen, near, word)).astype(bits_type(etype.id))
    bounds = drawn[: scalars * _PAIRS].reshape(scalars, _PAIRS)
    ties = np.tile(bounds[:, ::4].ravel(), (tensors, 1))
    return np.hstack([ties, drawn[scalars * _PAIRS :].reshape(tensors, _ENTRIES)]), bounds


# --- The levels above quick: every X of their long calls is sorted ------------------------------------------


def _more(etype: ElementType, n: int) -> Calls:
    """More X under all pairs of special bounds, more random draws, and every length: one part of `_MORE`."""
    of, bits = clip_operator(), bits_type(etype.id)
    every = _special(etype, of)
    if etype.width != 8:
        special = np.array(special_patterns(etype), bits)
        random = _random([_SEED_OF_MORE, n], 1, DRAWN - len(special), bits)
        pool = _every_x(etype) if etype.width == 16 else _sorted(etype, special, *random)
        yield from _long_calls(etype, [pool], [scalar[n::_MORE] for scalar in every.scalars])
    draws = RANDOM_DRAWS // _MORE
    for first in range(n * draws, (n + 1) * draws, DRAWS_TOGETHER):
        drawn = [random_patterns(etype, number=draw + 1) for draw in range(first, first + DRAWS_TOGETHER)]
        pool = _sorted(etype, *(tensors[0] for tensors, _ in drawn))
        yield from _long_calls(etype, [pool], [*np.hstack([scalars for _, scalars in drawn])])
    lengths = np.arange(2 + n, EVERY_LENGTH + 1, _MORE)
    rows = _covering_rows(etype, _FEW_BOUNDS, of)
    turns = 1 + (np.arange(1, PAIRS_OF_A_LENGTH) + PAIRS_OF_A_LENGTH * lengths[:, None]) % (len(rows) - 1)
    under = rows[np.hstack([np.zeros((len(lengths), 1), int), turns])]
    yield from _of_lengths(every, np.repeat(lengths, PAIRS_OF_A_LENGTH), under.ravel())


def _every_x(etype: ElementType) -> Array:
    return _sorted(etype, np.arange(2**16, dtype=bits_type(etype.id)))


def _sorted(etype: ElementType, *pools: Array) -> Array:
    """Pools in the order in which their expected results are slices: of integers, or of bits of floats."""
    pool = np.concatenate(pools)
    found: Array = np.sort(pool.view(key_type(etype))).view(pool.dtype)
    return found


def some_bounds(etype: ElementType, n: int, *, second: bool) -> list[Array]:
    """Bits of min and of max: bounds of 16 bits on one side, each beside a few on the other side."""
    others = np.array([int(encode(text, etype)) for text in _BESIDE[etype.family]], bits_type(etype.id))
    bounds = np.arange(n * _BOUNDS, (n + 1) * _BOUNDS).astype(others.dtype)
    varying, beside = np.repeat(bounds, len(others)), np.tile(others, _BOUNDS)
    return [beside, varying] if second else [varying, beside]


# --- Few calls, for a runtime that takes long for each; and calls of a form of a model ----------------------

_LAYOUT_OF_RANK = {0: "0-d", 1: PLAIN.id, 2: "rank-2", 4: "rank-4"}
_SAMPLED = 64  # calls after which a form is given up that refuses each of them
# Neighbours and bounds that int32 and int64 lose on a way through float32 and float64.
_THROUGH_FLOAT = ((2**24 + 1, 20_000_000), (-20_000_000, -(2**24) - 1), (2**53 + 1, 10**16))


def few_calls(etype: ElementType) -> Calls:
    """The requests of which each call may start a program: all X in a long call under each chosen pair."""
    of = clip_operator()
    for request, table in _long_calls(etype, _long_pools(etype, of), bounds_of(etype), of, LONG):
        yield replace(request, starts=np.zeros(table.count, int)), table
    every, turn = _special(etype, of).rows(_covering_rows(etype, FEW_OF_A_SHAPE, of)), 0
    shaped = [(layout.id, layout.length) for layout in LAYOUTS if layout.length is not None]
    shapes = [*((*shape, FEW_OF_A_SHAPE) for shape in shaped), *((PLAIN.id, n, 1) for n in FEW_LENGTHS)]
    for layout, length, count in shapes:
        turns = turn + np.arange(count)
        yield _call(layout, length, every.rows(turns % every.count), turns * 7 % len(every.pool))
        turn += count


def form_plan(
    etype: ElementType, form: ModelForm, *, few: bool = False, table: Table | None = None
) -> Iterator[tuple[Request, Table]]:
    """The requests for a form, each with what is expected; the first is a sample of all bounds.

    Args:
        etype: the element type.
        form: the form.
        few: whether bounds are fewer, which reach every class, and X of rank 0 is one of each class.
        table: what is expected, if that is not the specification's.
    """
    table = table or _table_of_forms(etype, few=few)
    layout = _LAYOUT_OF_RANK[form.rank]
    length = _LENGTH_OF[layout] or len(table.pool)
    rows, starts = _every_entry(np.arange(table.count), len(table.pool), length)
    if few and form.rank == 0:
        rows, starts = np.unravel_index(np.unique(table.classes, return_index=True)[1], table.classes.shape)
    first = np.unique(np.linspace(0, len(rows) - 1, _SAMPLED).astype(int))
    rest = np.setdiff1d(np.arange(len(rows)), first)
    for part in (first, *np.array_split(rest, -(-len(rest) // _CALLS) or 1)):
        if len(part):
            some = table.rows(rows[part])
            yield Request(layout, length, some.pool, starts[part], some.scalars, form=form), some


@cache
def _table_of_forms(etype: ElementType, *, few: bool) -> Table:
    """What is expected for every special value, and what `_THROUGH_FLOAT` adds, under the chosen bounds."""
    width = 1 << (etype.width or 0)
    around = [
        (bound + step) % width for pair in _through_float(etype) for bound in pair for step in (-1, 0, 1)
    ]
    pool = np.array(list(dict.fromkeys([*special_patterns(etype), *around])), bits_type(etype.id))
    return tabulate(etype, [pool], bounds_of(etype, few=few))


@cache
def bounds_of(etype: ElementType, *, few: bool = False) -> tuple[Array, ...]:
    """The pairs of bounds of calls that are few, or of forms: bits, each of shape (p,).

    They reach every class; integers of 32 and 64 bits that a float32 or a float64 does not hold are both; and
    unless they are few, each special value is a bound of one, in ordinary and inverted order by turns.
    """
    low, high = covering_scalars(etype, 0)
    special = special_patterns(etype)
    side_by_side = zip(special[::2], (*special[1::2], special[0]), strict=False)
    turned = [pair if at % 2 else pair[::-1] for at, pair in enumerate(side_by_side)]
    pairs = [*zip(low.tolist(), high.tolist(), strict=True), *([] if few else turned), *_through_float(etype)]
    return tuple(np.array(list(dict.fromkeys(pairs)), bits_type(etype.id)).T)


def _through_float(etype: ElementType) -> list[tuple[int, int]]:
    if etype.family != "int":
        return []
    low, high = integer_range(etype)
    width = 1 << (etype.width or 0)
    return [(a % width, b % width) for a, b in _THROUGH_FLOAT if low <= a and b <= high]
