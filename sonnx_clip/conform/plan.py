"""The plan of a check: the calls of an element type with their expected results, cut into parts.

The bounds in use come first, plain and in every layout. Plain long calls have all pairs of special bounds.
Every layout is called with every class, and with each special value as each bound. Calls of many lengths have
bounds that together reach every class. Random draws share long calls. Each request names its purpose, from
which the report derives what was compared.

- ``quick`` is the part `FIRST`, with every triple of 8 bits and every X of 16 bits;
- ``standard`` adds more X under all pairs of special bounds, more random draws and every length;
- ``exhaustive`` adds every X of 16 bits under every min and every max, each beside four values of the other
  bound, and every X of 32 bits under bounds that reach every class. It adds nothing for 8 and 64 bits.

The calls of a part are determined by its name, and are the same on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.chosen_bounds import (
    chosen_bounds,
    covering_rows,
    covering_scalars,
    special_table,
    together,
    used_bounds,
)
from sonnx_clip.conform.expected import Table, key_type, range_tables, tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType

    Call: TypeAlias = tuple[Request, Table]
    Calls: TypeAlias = Iterator[Call]

Level: TypeAlias = Literal["quick", "standard", "exhaustive"]

FIRST = "chosen"
"""The first part of each element type: its result decides whether the others are judged."""
LONG = 2**16 + 1
"""The length of long calls: implementations may split a loop of this length."""
EVERY_LENGTH, PAIRS_OF_A_LENGTH = 2048, 3
"""Of the level standard: the longest of the calls of every length, and the pairs of bounds of each length."""
DRAWN, RANDOM_DRAWS, DRAWS_TOGETHER = 70_000, 64, 16
"""Of the level standard: X of more than 16 bits, random draws, and draws that share X and bounds."""
FEW_CALLS, FEW_OF_A_SHAPE = 100, 4
"""Of a runtime that starts a program for each call: about how many calls in all, and calls of each shape."""
FEW_LENGTHS = (2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 1025)
"""Of such a runtime: lengths of one call each, beside those of the layouts and `LONG`."""

_MORE = 2  # parts of the level standard
_BOUNDS, _STRETCHES = 256, 64  # in a part: bounds of 16 bits, 2 ** 16 X of 32
_EXHAUSTIVE = {  # by width: the kinds of parts of the level, and how many of each
    16: [("every-min", 2**16 // _BOUNDS), ("every-max", 2**16 // _BOUNDS)],
    32: [("every-x", 2**16 // _STRETCHES)],
}
_SIZES = {
    "more": 7_000,
    "every-min": 4 * _BOUNDS,
    "every-max": 4 * _BOUNDS,
    "every-x": 8 * _STRETCHES,
}
# The other bound of each; why3/composition.mlw is about the ends, which bound nothing.
_BESIDE = {"int": ("lowest", "highest", "1", "2"), "float": ("-inf", "inf", "nan", "0")}
_SEED, _SEED_OF_MORE = 20, 22
_CALLS = 1024  # of one request, to limit memory and the time to an answer
_RESULTS = 2**20  # of a request of long calls, to fit the caches of a processor
_RANGES = 2048  # values of a pool above which tables by ranges of X are faster
_FEW_BOUNDS, _MORE_BOUNDS = 8, 24  # pairs of bounds in calls of many lengths, and in long calls
_BY_MEMORY = frozenset(layout.id for layout in LAYOUTS if layout.by_memory)


def kinds_of(etype: ElementType, level: Level) -> Sequence[tuple[str, int]]:
    """The kinds of parts that a level adds to `FIRST`, and how many of each."""
    found = [("more", _MORE)] if level != "quick" else []
    return [*found, *_EXHAUSTIVE.get(etype.width or 0, [])] if level == "exhaustive" else found


def size_of(etype: ElementType, part: str, *, few: bool = False) -> int:
    """Approximate number of calls of a part, for the report of progress."""
    if few or part == FIRST:
        return FEW_CALLS if few else 69_000 if etype.width == 8 else 7_000
    return _SIZES.get(part.rpartition("-")[0], FEW_CALLS)


def calls_of(etype: ElementType, part: str) -> Calls:
    """The requests of a part other than `FIRST`, with expected results."""
    kind, _, number = part.rpartition("-")
    n = int(number)
    if kind == "more":
        yield from _more(etype, n)
    elif kind in ("every-min", "every-max"):
        bounds = some_bounds(etype, n, second=kind == "every-max")
        yield from _for("every 16-bit X", _long_calls(etype, [_every_x(etype)], bounds))
    else:
        for stretch in range(n * _STRETCHES, (n + 1) * _STRETCHES):
            pool = np.arange(stretch << 16, (stretch + 1) << 16).astype(bits_type(etype.id))
            covering = covering_scalars(etype, _FEW_BOUNDS)
            yield from _for("every 32-bit X", _long_calls(etype, [pool], covering))


def _for(purpose: str, calls: Calls) -> Calls:
    """The same requests, with their purpose."""
    for request, table in calls:
        yield replace(request, purpose=purpose), table


def cut(request: Request, table: Table, rows: Array) -> Call:
    """Some calls of a request, in the same memory."""
    return request.calls(rows), table.rows(rows)


def sample(request: Request, table: Table, count: int) -> Call:
    """At most `count` of the calls of a request, spread evenly."""
    return cut(request, table, np.unique(np.linspace(0, request.count - 1, count).astype(int)))


def as_taken(calls: Calls, *, strides: bool, entries: int | None) -> Calls:
    """The requests of a plan as a runtime can take them.

    Args:
        calls: requests with expected results.
        strides: whether it takes layouts that differ in memory alone.
        entries: the most entries that it takes; longer calls are cut into pieces that cover all of X.
    """
    for request, table in calls:
        if not strides and request.layout in _BY_MEMORY:
            continue
        if entries is None or request.length <= entries:
            yield request, table
            continue
        lengths = (
            np.full(request.count, request.length) if request.lengths is None else request.lengths
        )
        for length in np.unique(lengths).tolist():
            yield _in_pieces(*cut(request, table, np.flatnonzero(lengths == length)), entries)


def _in_pieces(request: Request, table: Table, entries: int) -> Call:
    """Calls of at most that many entries, which together have every entry of the calls of a request."""
    firsts = np.arange(0, request.length, entries)
    rows = np.repeat(np.arange(request.count), len(firsts))
    starts = (request.starts[:, None] + firsts).reshape(-1) % len(request.pool)
    indices = request.indices
    if indices is not None:
        whole = np.arange(len(firsts) * entries) % request.length  # the last piece begins again
        indices = indices[:, whole].reshape(-1, entries)
    scalars = tuple(scalar[rows] for scalar in request.scalars)
    pieces = replace(
        request, length=entries, starts=starts, scalars=scalars, indices=indices, at_start=None
    )
    return pieces, table.rows(rows)


# --- The level quick ----------------------------------------------------------------------------------------


def chosen(etype: ElementType, of: CheckedOperator | None = None) -> Calls:
    """The requests of the part `FIRST`, with expected results."""
    of, bits = of or clip_operator(), bits_type(etype.id)
    every, rows = special_table(etype, of), covering_rows(etype, _FEW_BOUNDS, of)
    special = [every.pool, *every.beside]
    # First: a runtime that serves some bounds in use alone is not given up as one that refuses all calls.
    yield from _for("bounds in use", _calls_of_bounds_in_use(etype, of))
    if etype.width == 8:
        patterns = np.arange(256, dtype=np.uint8)
        triples = together(patterns, of.tensors), together(patterns, of.scalars)
        yield from _for("every 8-bit value", _long_calls(etype, *triples, of))
    yield from _for("special values", _long_calls(etype, special, every.scalars, of))
    if etype.width != 8:
        seed = [_SEED, *etype.id.encode()]
        random = _random(seed, of.tensors, _CALLS, bits)
        yield from _for("random X", _long_calls(etype, random, every.scalars, of))
    yield from _for("layouts", _layouts(every, rows, of))
    tensors, scalars = random_patterns(etype, of.tensors, of.scalars)
    yield from _for("random draws", _long_calls(etype, [*tensors], [*scalars], of))
    lengths = np.repeat(LENGTHS, len(rows)), np.tile(rows, len(LENGTHS))
    yield from _for("lengths", _of_lengths(every, *lengths))
    pools = _long_pools(etype, of)
    turns = 1 + (len(pools[0]) > LONG)
    more_bounds = [np.tile(scalar, turns) for scalar in covering_scalars(etype, _MORE_BOUNDS, of)]
    yield from _for("long calls", _long_calls(etype, pools, more_bounds, of, LONG))


def _calls_of_bounds_in_use(etype: ElementType, of: CheckedOperator) -> Calls:
    """Calls under all bounds in use: a plain one with the values around all of them, then every layout."""
    used = used_bounds(etype, of)
    if used is None:
        return
    yield from _long_calls(etype, [used.table.pool], used.table.scalars, of)
    for layout in LAYOUTS:
        if layout.length and layout.id != "length-1000":  # the plain call is of such a length
            yield used.calls(layout, layout.length)


def _random(
    seed: int | list[int], arrays: int, count: int, bits: np.dtype[np.generic]
) -> list[Array]:
    """Random patterns, from the one random stream that NumPy promises never to change."""
    stream = np.random.PCG64(seed)
    return [stream.random_raw(count).astype(bits) for _ in range(arrays)]


LENGTHS = tuple(
    sorted({
        *range(2, 131), *(2**k + d for k in range(8, 12) for d in (-1, 0, 1)),
        *(131 + _random(_SEED, 1, 10, np.dtype(np.uint64))[0] % (2000 - 131)).tolist(),
    })
)  # fmt: skip
"""Every short length, powers of two and their neighbours, and some random lengths."""


def _call(
    layout: str, length: int, table: Table, starts: Array, lengths: Array | None = None
) -> Call:
    """Calls of a layout, one for each row of a table, whose entries begin in its pool at `starts`."""
    request = Request(layout, length, table.pool, starts, table.scalars, beside=table.beside)
    return replace(request, lengths=lengths), table


def every_entry(rows: Array, size: int, length: int) -> tuple[Array, Array]:
    """Rows and starts of calls of a length that together have each value of a pool under each row."""
    times = -(-size // length) if length else 1
    return np.repeat(rows, times), np.tile(np.arange(times) * length % size, len(rows))


def _layouts(every: Table, covering: Array, of: CheckedOperator) -> Calls:
    """Calls of every layout but the plain one.

    They have every X under scalars that reach every class, and each special value as each scalar.
    """
    size = len(every.pool)
    for number, layout in enumerate(found for found in LAYOUTS if found.length is not None):
        length = layout.length or 0
        rows, starts = every_entry(covering, size, 1 if layout.repeats else length)
        more = np.tile(crossed(every.count, of.scalars, number), min(2, len(rows) // len(covering)))
        starts = np.concatenate([starts, _scattered(len(more), size) * (length > 0)])
        yield _call(layout.id, length, every.rows(np.concatenate([rows, more])), starts)


def crossed(choices: int, scalars: int, number: int) -> Array:
    """Choices of the scalars, different ones for each number, that have each value as each scalar.

    Of two scalars with the same n values: about 2 * n of the n * n choices. Otherwise all choices.
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
    every = special_table(etype, of)
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
    step = max(1, min(_CALLS, _RESULTS // length))
    if of.is_clip and size >= _RANGES:
        tables = range_tables(etype, pools[0], scalars, step)
    else:
        chunks = ([scalar[at : at + step] for scalar in scalars] for at in range(0, count, step))
        tables = (tabulate(etype, pools, chunk, of) for chunk in chunks)
    for table in tables:
        yield _call(PLAIN.id, length, table, _scattered(table.count, size) * (length != size))


def _scattered(count: int, size: int) -> Array:
    """Where in a pool calls begin: a multiplicative hash, so that no regularity of the calls matters."""
    return (np.arange(count) * 2654435761 % 2**32) * size >> 32


# --- Random draws, the same on every machine ----------------------------------------------------------------

_PAIRS, _ENTRIES = (
    100,
    150,
)  # pairs of bounds of a draw, and values of X beside the bounds themselves
_NEAR = 3  # the greatest distance between a special value and its neighbours


def random_patterns(
    etype: ElementType, tensors: int = 1, scalars: int = 2, number: int = 0
) -> tuple[Array, Array]:
    """Random bits of each tensor, shape (tensors, k), and of each scalar, shape (scalars, p).

    About a third are special values, a third neighbours of one, a third any pattern. Each fourth value of a
    scalar is also a value of the tensors, since implementations differ in ties. Each number is another draw.
    """
    special = np.array(special_patterns(etype), np.uint64)
    size = tensors * _ENTRIES + scalars * _PAIRS
    kind, word = _random([_SEED, *etype.id.encode(), number], 2, size, np.dtype(np.uint64))
    chosen = special[word % len(special)]
    near = (
        chosen + word // len(special) % (2 * _NEAR + 1) - _NEAR
    )  # cut off to the width of the type
    drawn = np.choose((kind % 3).astype(int), (chosen, near, word)).astype(bits_type(etype.id))
    bounds = drawn[: scalars * _PAIRS].reshape(scalars, _PAIRS)
    ties = np.tile(bounds[:, ::4].ravel(), (tensors, 1))
    return np.hstack([ties, drawn[scalars * _PAIRS :].reshape(tensors, _ENTRIES)]), bounds


# --- The levels above quick, whose long calls have a sorted X -----------------------------------------------


def _more(etype: ElementType, n: int) -> Calls:
    """Part n of `standard`: more X under all pairs of special bounds, random draws, every length."""
    of, bits = clip_operator(), bits_type(etype.id)
    every = special_table(etype, of)
    if etype.width != 8:
        special = np.array(special_patterns(etype), bits)
        random = _random([_SEED_OF_MORE, n], 1, DRAWN - len(special), bits)
        pool = _every_x(etype) if etype.width == 16 else _sorted(etype, special, *random)
        part = [scalar[n::_MORE] for scalar in every.scalars]
        yield from _for("more X", _long_calls(etype, [pool], part))
    draws = RANDOM_DRAWS // _MORE
    for first in range(n * draws, (n + 1) * draws, DRAWS_TOGETHER):
        drawn = [
            random_patterns(etype, number=draw + 1) for draw in range(first, first + DRAWS_TOGETHER)
        ]
        pool = _sorted(etype, *(tensors[0] for tensors, _ in drawn))
        bounds = np.hstack([scalars for _, scalars in drawn])
        yield from _for("more draws", _long_calls(etype, [pool], [*bounds]))
    lengths = np.arange(2 + n, EVERY_LENGTH + 1, _MORE)
    rows = _rows_of_lengths(covering_rows(etype, _FEW_BOUNDS, of), lengths)
    repeated = np.repeat(lengths, PAIRS_OF_A_LENGTH)
    yield from _for("every length", _of_lengths(every, repeated, rows.ravel()))


def _rows_of_lengths(rows: Array, lengths: Array) -> Array:
    """The choices of the scalars for calls of each length, shape (lengths, `PAIRS_OF_A_LENGTH`).

    Every length has the first choice, which reaches the most classes. The others take turns, so that
    neighbouring lengths have different ones.
    """
    first, others = rows[0], rows[1:]
    step = np.arange(1, PAIRS_OF_A_LENGTH)
    turns = (step + PAIRS_OF_A_LENGTH * lengths[:, None]) % len(others)
    return np.hstack([np.full((len(lengths), 1), first), others[turns]])


def _every_x(etype: ElementType) -> Array:
    return _sorted(etype, np.arange(2**16, dtype=bits_type(etype.id)))


def _sorted(etype: ElementType, *pools: Array) -> Array:
    """All values of some pools, sorted by `key_type`: their expected results are slices then."""
    pool = np.concatenate(pools)
    found: Array = np.sort(pool.view(key_type(etype))).view(pool.dtype)
    return found


def some_bounds(etype: ElementType, n: int, *, second: bool) -> list[Array]:
    """Bits of min and of max: part n of all values of 16 bits as one bound, each beside a few others."""
    others = np.array(
        [int(encode(text, etype)) for text in _BESIDE[etype.family]], bits_type(etype.id)
    )
    bounds = np.arange(n * _BOUNDS, (n + 1) * _BOUNDS).astype(others.dtype)
    varying, beside = np.repeat(bounds, len(others)), np.tile(others, _BOUNDS)
    return [beside, varying] if second else [varying, beside]


# --- Few calls, for a runtime that starts a program for each ------------------------------------------------


def few_calls(etype: ElementType) -> Calls:
    """The requests of a runtime that starts a program for each call."""
    of = clip_operator()
    if (used := used_bounds(etype, of)) is not None:
        yield from _for(
            "bounds in use", _long_calls(etype, [used.table.pool], used.table.scalars, of)
        )
    for request, table in _long_calls(
        etype, _long_pools(etype, of), chosen_bounds(etype), of, LONG
    ):
        yield replace(request, starts=np.zeros(table.count, int), purpose="few long calls"), table
    every, turn = special_table(etype, of).rows(covering_rows(etype, FEW_OF_A_SHAPE, of)), 0
    shaped = [(layout.id, layout.length) for layout in LAYOUTS if layout.length is not None]
    shapes = [("few shapes", *shape, FEW_OF_A_SHAPE) for shape in shaped]
    shapes += [("few lengths", PLAIN.id, length, 1) for length in FEW_LENGTHS]
    for purpose, layout, length, count in shapes:
        turns = turn + np.arange(count)
        starts = turns * 7 % len(every.pool)
        yield from _for(
            purpose, iter([_call(layout, length, every.rows(turns % every.count), starts)])
        )
        turn += count
