"""The plan of a check: the calls of an element type with their expected results, cut into parts.

Plain long calls have all pairs of special bounds. Every layout is called with every class, and with each
special value as each bound. Calls of many lengths have bounds that together reach every class. Random draws
share long calls.

- ``quick`` is the part `FIRST`, with every triple of 8 bits and every X of 16 bits;
- ``standard`` adds more X under all pairs of special bounds, more random draws and every length;
- ``exhaustive`` adds every X of 16 bits under every min and every max, each beside four values of the other
  bound, and every X of 32 bits under bounds that reach every class. It adds nothing for 8 and 64 bits.

The calls of a part are determined by its name, and are the same on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.checked_operator import CheckedOperator, clip_operator
from sonnx_clip.conform.expected import Table, key_type, range_tables, tabulate
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
_SIZES = {"more": 7_000, "every-min": 4 * _BOUNDS, "every-max": 4 * _BOUNDS, "every-x": 8 * _STRETCHES}
# The other bound of each; why3/composition.mlw is about the ends, which bound nothing.
_BESIDE = {"int": ("lowest", "highest", "1", "2"), "float": ("-inf", "inf", "nan", "0")}
_SEED, _SEED_OF_MORE = 20, 22
_CALLS = 1024  # of one request, to limit memory and the time to an answer
_RESULTS = 2**20  # of a request of long calls, to fit the caches of a processor
_RANGES = 2048  # values of a pool above which tables by ranges of X are faster
_FEW_BOUNDS, _MORE_BOUNDS = 8, 24  # pairs of bounds in calls of many lengths, and in long calls
_BY_MEMORY = frozenset(layout.id for layout in LAYOUTS if layout.by_memory)
_LENGTH_OF = {layout.id: layout.length for layout in LAYOUTS}


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
        yield from _long_calls(etype, [_every_x(etype)], some_bounds(etype, n, second=kind == "every-max"))
    else:
        for stretch in range(n * _STRETCHES, (n + 1) * _STRETCHES):
            pool = np.arange(stretch << 16, (stretch + 1) << 16).astype(bits_type(etype.id))
            yield from _long_calls(etype, [pool], covering_scalars(etype, _FEW_BOUNDS))


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
    """The requests of the part `FIRST`, with expected results."""
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


def _call(layout: str, length: int, table: Table, starts: Array, lengths: Array | None = None) -> Call:
    """Calls of a layout, one for each row of a table, whose entries begin in its pool at `starts`."""
    request = Request(layout, length, table.pool, starts, table.scalars, beside=table.beside)
    return replace(request, lengths=lengths), table


def _every_entry(rows: Array, size: int, length: int) -> tuple[Array, Array]:
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
        rows, starts = _every_entry(covering, size, 1 if layout.repeats else length)
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


def together(values: Array, count: int) -> tuple[Array, ...]:
    """All choices of `count` values: the last one varies fastest."""
    grids = np.meshgrid(*[values] * count, indexing="ij") if count else ()
    return tuple(np.ascontiguousarray(grid.ravel()) for grid in grids)


@cache
def _special(etype: ElementType, of: CheckedOperator) -> Table:
    """The expected results of all combinations of special values."""
    values = np.array(special_patterns(etype), bits_type(etype.id))
    return tabulate(etype, together(values, of.tensors), together(values, of.scalars), of)


def covering_scalars(etype: ElementType, count: int, of: CheckedOperator | None = None) -> tuple[Array, ...]:
    """Special values of the scalars, shapes (count,), that reach every class that special values reach."""
    of = of or clip_operator()
    rows = _covering_rows(etype, count, of)
    return tuple(scalar[rows] for scalar in _special(etype, of).scalars)


@cache
def _covering_rows(etype: ElementType, count: int, of: CheckedOperator) -> Array:
    """The rows of `_special` of `covering_scalars`: a greedy cover of the classes, and random rows."""
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

_PAIRS, _ENTRIES = 100, 150  # pairs of bounds of a draw, and values of X beside the bounds themselves
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
    near = chosen + word // len(special) % (2 * _NEAR + 1) - _NEAR  # cut off to the width of the type
    drawn = np.choose((kind % 3).astype(int), (chosen, near, word)).astype(bits_type(etype.id))
    bounds = drawn[: scalars * _PAIRS].reshape(scalars, _PAIRS)
    ties = np.tile(bounds[:, ::4].ravel(), (tensors, 1))
    return np.hstack([ties, drawn[scalars * _PAIRS :].reshape(tensors, _ENTRIES)]), bounds


# --- The levels above quick, whose long calls have a sorted X -----------------------------------------------


def _more(etype: ElementType, n: int) -> Calls:
    """Part n of `standard`: more X under all pairs of special bounds, random draws, every length."""
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
    """All values of some pools, sorted by `key_type`: their expected results are slices then."""
    pool = np.concatenate(pools)
    found: Array = np.sort(pool.view(key_type(etype))).view(pool.dtype)
    return found


def some_bounds(etype: ElementType, n: int, *, second: bool) -> list[Array]:
    """Bits of min and of max: part n of all values of 16 bits as one bound, each beside a few others."""
    others = np.array([int(encode(text, etype)) for text in _BESIDE[etype.family]], bits_type(etype.id))
    bounds = np.arange(n * _BOUNDS, (n + 1) * _BOUNDS).astype(others.dtype)
    varying, beside = np.repeat(bounds, len(others)), np.tile(others, _BOUNDS)
    return [beside, varying] if second else [varying, beside]


# --- Few calls, for a runtime that starts a program for each; and calls of a form of a model ----------------

_LAYOUT_OF_RANK = {0: "0-d", 1: PLAIN.id, 2: "rank-2", 4: "rank-4"}
_SAMPLED = 64  # calls that decide whether a form is refused
# Bounds of int32 and int64, neighbours of which are lost in a conversion through float32 or float64.
_THROUGH_FLOAT = ((2**24 + 1, 20_000_000), (-20_000_000, -(2**24) - 1), (2**53 + 1, 10**16))


def few_calls(etype: ElementType) -> Calls:
    """The requests of a runtime that starts a program for each call."""
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


def form_plan(etype: ElementType, form: ModelForm, *, few: bool = False, table: Table | None = None) -> Calls:
    """The requests of a form, with expected results; the first one is a sample of all bounds.

    Args:
        etype: the element type.
        form: the form.
        few: whether there are few calls: fewer bounds, and one X of rank 0 for each class.
        table: the expected results, if not those of the specification.
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
    """The expected results of special values, and of those around `_THROUGH_FLOAT`."""
    width = 1 << (etype.width or 0)
    around = [
        (bound + step) % width for pair in _through_float(etype) for bound in pair for step in (-1, 0, 1)
    ]
    pool = np.array(list(dict.fromkeys([*special_patterns(etype), *around])), bits_type(etype.id))
    return tabulate(etype, [pool], bounds_of(etype, few=few))


@cache
def bounds_of(etype: ElementType, *, few: bool = False) -> tuple[Array, ...]:
    """The pairs of bounds of few calls, and of forms of a model: bits, each of shape (p,).

    They reach every class, and include integers that a float32 or a float64 does not hold. Unless they are
    few, each special value is a bound of one pair, in ordinary and inverted order by turns.
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
