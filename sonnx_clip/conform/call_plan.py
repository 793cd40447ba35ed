"""The plan of a check: the calls of an element type with their expected results, cut into parts.

The bounds in use come first, plain and in every layout. Plain long calls have all pairs of special bounds.
Every layout is called with every class, and with each special value as each bound. Calls of many lengths have
bounds that together reach every class. Random draws share long calls. Each request names its purpose, from
which the report derives what was compared.

- ``quick`` is the part `FIRST`, with every triple of 8 bits and every X of 16 bits;
- ``standard`` adds more X under all pairs of special bounds, more random draws and every length;
- ``exhaustive`` adds every X of 16 bits under every min and every max, each beside four values of the other
  bound, and every X of 32 bits under bounds that reach every class. It adds nothing for 8 and 64 bits.

What has no scalars is called without: of two tensors, the level standard has more X beside each special value
of the other one, and the level exhaustive every pair of 16 bits.

The calls of a part are determined by its name, and are the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.chosen_bounds import (
    chosen_bounds,
    chosen_bounds_in_use,
    covering_rows,
    covering_scalars,
    table_of_special_values,
    together,
)
from sonnx_clip.conform.expected import Table, key_type, range_tables, tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType

    Call: TypeAlias = tuple[Request, Table]
    Calls: TypeAlias = Iterator[Call]

Level: TypeAlias = Literal["quick", "standard", "exhaustive"]

FIRST = "chosen"
"""The first part of each element type: its result decides whether the others are judged."""
LONG = 2**16 + 1
"""The length of long calls: implementations may split a loop of this length."""
EVERY_LENGTH = 2048
"""The longest of the calls of every length, of the level standard."""
PAIRS_OF_A_LENGTH = 3
"""The pairs of bounds of each of these lengths."""
DRAWN = 70_000
"""X of more than 16 bits, of the level standard: special and random ones."""
RANDOM_DRAWS = 64
"""Random draws of the level standard."""
DRAWS_TOGETHER = 16
"""Random draws that share X and bounds."""
FEW_CALLS = 100
"""About how many calls are made of a runtime that starts a program for each."""
FEW_OF_A_SHAPE = 4
"""Calls of such a runtime in each layout."""
FEW_LENGTHS = (2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 1025)
"""Of such a runtime: lengths of one call each, beside those of the layouts and `LONG`."""

_MORE = 2  # parts of the level standard
_BOUNDS = 256  # bounds of 16 bits in a part
_PARTS_OF_16_BITS = 2**16 // _BOUNDS
_STRETCHES = 64  # stretches of 2 ** 16 X of 32 bits in a part
_PARTS_OF_32_BITS = 2**16 // _STRETCHES
# About how many calls a part of each kind has; they are shown as progress, and decide nothing.
_SIZES = {"more": 7_000, "every-x": 8 * _STRETCHES}
_SIZE_OF_EVERY_BOUND = 4 * _BOUNDS
# The other bound of each; why3/composition.mlw is about the ends, which bound nothing.
_BESIDE = {
    "int": ("lowest", "highest", "1", "2"),
    "uint": ("lowest", "highest", "1", "2"),
    "float": ("-inf", "inf", "nan", "0"),
}
# Arbitrary, and fixed: the calls of a part are the same on every machine and in every run.
_SEED = 20
_SEED_OF_MORE = 22
_CALLS = 1024  # of one request, to limit memory and the time to an answer
_RESULTS = 2**20  # of a request of long calls, to fit the caches of a processor
_RANGES = 2048  # values of a pool above which tables by ranges of X are faster
WHOLE_BITS = 16  # bits of the tensors together up to which every value is tried
_FEW_BOUNDS = 8  # pairs of bounds in calls of many lengths
_MORE_BOUNDS = 24  # pairs of bounds in long calls
_BY_MEMORY = frozenset(layout.id for layout in LAYOUTS if layout.by_memory)


def kinds_of(etype: ElementType, operator: Operator, level: Level) -> Sequence[tuple[str, int]]:
    """The kinds of parts that a level adds to `FIRST`, and how many of each."""
    if level == "quick":
        return []
    kinds = [("more", _MORE)]
    if level == "exhaustive":
        kinds += _exhaustive_kinds(etype, operator)
    return kinds


def _exhaustive_kinds(etype: ElementType, operator: Operator) -> Sequence[tuple[str, int]]:
    bits_of_tensors = (etype.width or 0) * operator.tensors
    # X of 32 bits and pairs of 16 bits are equally many: about 4 billion of either can be tried.
    if bits_of_tensors == 2 * WHOLE_BITS:
        return [("every-x", _PARTS_OF_32_BITS)]
    # 8 bits need no such part, since `FIRST` has every choice; 64 bits are too many for any.
    if etype.width == WHOLE_BITS and operator.tensors == 1:
        return [(f"every-{name}", _PARTS_OF_16_BITS) for name in operator.scalar_names]
    return []


def size_of(etype: ElementType, part: str, *, few: bool = False) -> int:
    """Approximate number of calls of a part, for the report of progress."""
    if few:
        return FEW_CALLS
    # Of 8 bits, `FIRST` has a call under each of the 2 ** 16 pairs of bounds.
    if part == FIRST:
        return 69_000 if etype.width == 8 else 7_000
    kind, _, _ = part.rpartition("-")
    return _SIZES.get(kind, _SIZE_OF_EVERY_BOUND)


def planned_calls(etype: ElementType, operator: Operator, part: str) -> Calls:
    """The requests of a part other than `FIRST`, with expected results."""
    kind, _, number = part.rpartition("-")
    n = int(number)
    if kind == "more":
        yield from _more_x(etype, operator, n)
        yield from _more_draws(etype, operator, n)
        yield from _every_length(etype, operator, n)
    elif kind == "every-x":
        yield from _every_choice_of_32_bits(etype, operator, n)
    else:
        name = kind.removeprefix("every-")
        place = operator.scalar_names.index(name)
        bounds = some_bounds(etype, operator, n, place)
        pool = _every_x(etype)
        calls = _long_calls(etype, operator, [pool], bounds)
        yield from _with_purpose("every 16-bit X", calls)


def _every_choice_of_32_bits(etype: ElementType, operator: Operator, n: int) -> Calls:
    """Part n of every value of one tensor of 32 bits, or every pair of two of 16 bits."""
    covering = covering_scalars(etype, _FEW_BOUNDS, operator)
    bits = bits_type(etype.id)
    purpose = "every 32-bit X" if operator.tensors == 1 else "every pair of 16-bit values"
    first = n * _STRETCHES
    for stretch in range(first, first + _STRETCHES):
        lowest = stretch << 16
        patterns = np.arange(lowest, lowest + 2**16)
        pools = [patterns.astype(bits)]
        if operator.tensors == 2:
            # The first tensor has one value in a whole stretch, and the second all of them.
            high_half = (patterns >> 16).astype(bits)
            pools = [high_half, *pools]
        calls = _long_calls(etype, operator, pools, covering)
        yield from _with_purpose(purpose, calls)


def _with_purpose(purpose: str, calls: Calls) -> Calls:
    """The same requests, with their purpose."""
    for request, table in calls:
        yield replace(request, purpose=purpose), table


def cut(request: Request, table: Table, rows: Array) -> Call:
    """The calls of a request in these rows, in the same memory."""
    return request.calls(rows), table.rows(rows)


def evenly_spread(request: Request, table: Table, count: int) -> Call:
    """At most `count` of the calls of a request, spread evenly."""
    last = request.count - 1
    spread = np.linspace(0, last, count).astype(int)
    rows = np.unique(spread)
    return cut(request, table, rows)


def as_taken(calls: Calls, *, strides: bool, entries: int | None) -> Calls:
    """The requests of a plan as a runtime can take them.

    Args:
        calls: requests with expected results.
        strides: whether it takes layouts that differ in memory alone.
        entries: the most entries that it takes; longer calls are cut into pieces that cover all of X.
    """
    for request, table in calls:
        # A runtime that copies X sees the same operands in these layouts as in another one.
        if not strides and request.layout in _BY_MEMORY:
            continue
        if entries is None or request.length <= entries:
            yield request, table
            continue
        lengths = request.lengths
        if lengths is None:
            lengths = np.full(request.count, request.length)
        # The number of pieces depends on the length, so each length is a request of its own.
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            calls_of_length, expected = cut(request, table, rows)
            yield _in_pieces(calls_of_length, expected, entries)


def _in_pieces(request: Request, table: Table, entries: int) -> Call:
    """Calls of at most that many entries, which together have every entry of the calls of a request."""
    firsts = np.arange(0, request.length, entries)
    calls = np.arange(request.count)
    rows = np.repeat(calls, len(firsts))
    starts = request.starts[:, None] + firsts
    # Either `starts` or `indices` has the place of an entry: a piece goes on in the same way.
    indices = request.indices
    if indices is not None:
        places = np.arange(len(firsts) * entries)
        # The last piece begins again from the first entry, so that all pieces have one length.
        whole = places % request.length
        indices = indices[:, whole].reshape(-1, entries)
    # A new number of calls: which half has X at the start of its memory is decided anew.
    pieces = replace(
        request,
        length=entries,
        starts=starts.reshape(-1) % len(request.pool),
        scalars=tuple(scalar[rows] for scalar in request.scalars),
        indices=indices,
        at_start=None,
    )
    return pieces, table.rows(rows)


# --- The level quick ----------------------------------------------------------------------------------------


def chosen(etype: ElementType, operator: Operator) -> Calls:
    """The requests of the part `FIRST`, with expected results."""
    table = table_of_special_values(etype, operator)
    rows = covering_rows(etype, _FEW_BOUNDS, operator)

    # First: a runtime that serves only some bounds in use is not given up as one that refuses all calls.
    yield from _with_purpose("bounds in use", _calls_of_bounds_in_use(etype, operator))

    has_every_value = etype.width == 8 and 8 * operator.tensors <= WHOLE_BITS
    if has_every_value:
        patterns = np.arange(256, dtype=np.uint8)
        tensors = together(patterns, operator.tensors)
        scalars = together(patterns, operator.scalars)
        calls = _long_calls(etype, operator, tensors, scalars)
        yield from _with_purpose("every 8-bit value", calls)

    special = [table.pool, *table.beside]
    # With all pairs of special bounds, the answers of this request tell the readings apart.
    calls = _long_calls(etype, operator, special, table.scalars)
    yield from _with_purpose("special values", calls)

    if not has_every_value:
        seed = [_SEED, *etype.id.encode()]
        bits = bits_type(etype.id)
        random = _random(seed, operator.tensors, _CALLS, bits)
        calls = _long_calls(etype, operator, random, table.scalars)
        yield from _with_purpose("random X", calls)

    # SIMD loops, their tails and strided loops are different code of a runtime.
    yield from _with_purpose("layouts", _layouts(table, rows, operator))

    drawn, drawn_scalars = random_patterns(etype, operator)
    calls = _long_calls(etype, operator, list(drawn), list(drawn_scalars))
    yield from _with_purpose("random draws", calls)

    # Each length under each of a few pairs: the tail of a loop has its own length.
    lengths = np.repeat(LENGTHS, len(rows))
    rows_of_lengths = np.tile(rows, len(LENGTHS))
    calls = _of_lengths(table, lengths, rows_of_lengths)
    yield from _with_purpose("lengths", calls)

    pools = _long_pools(etype, operator)
    # Calls that have only a part of the pool begin elsewhere the second time.
    times = 2 if len(pools[0]) > LONG else 1
    covering = covering_scalars(etype, _MORE_BOUNDS, operator)
    more_bounds = [np.tile(scalar, times) for scalar in covering]
    calls = _long_calls(etype, operator, pools, more_bounds, LONG)
    yield from _with_purpose("long calls", calls)


def _calls_of_bounds_in_use(etype: ElementType, operator: Operator) -> Calls:
    """Calls under all bounds in use: a plain one with the values around all of them, then every layout."""
    used = chosen_bounds_in_use(etype, operator)
    if used is None:
        return
    yield from _long_calls(etype, operator, [used.table.pool], used.table.scalars)
    for layout in LAYOUTS:
        # Without entries no value is around a bound; the plain call is about as long as length-1000.
        if not layout.length or layout.id == "length-1000":
            continue
        yield used.calls(layout, layout.length)


def _random(
    seed: int | list[int],
    arrays: int,
    count: int,
    bits: np.dtype[np.generic],
) -> list[Array]:
    """Random patterns, from the one random stream that NumPy promises never to change."""
    stream = np.random.PCG64(seed)
    patterns: list[Array] = []
    for _ in range(arrays):
        words = stream.random_raw(count)
        patterns.append(words.astype(bits))
    return patterns


def _lengths() -> tuple[int, ...]:
    # Every remainder of a loop over vectors of up to 64 entries, after none, one or two of its turns.
    lengths = set(range(2, 131))
    for exponent in range(8, 12):
        power = 2**exponent
        lengths.update((power - 1, power, power + 1))
    # Random ones, since a fault may begin at a length that no rule would choose.
    (random,) = _random(_SEED, 1, 10, np.dtype(np.uint64))
    longer = 131 + random % (2000 - 131)
    lengths.update(longer.tolist())
    return tuple(sorted(lengths))


LENGTHS = _lengths()
"""Every short length, powers of two and their neighbours, and some random lengths."""


def _call(
    layout: str,
    length: int,
    table: Table,
    starts: Array,
    lengths: Array | None = None,
) -> Call:
    """Calls of a layout, one for each row of a table, whose entries begin in its pool at `starts`."""
    request = Request(
        layout=layout,
        length=length,
        pool=table.pool,
        starts=starts,
        scalars=table.scalars,
        beside=table.beside,
        lengths=lengths,
    )
    return request, table


def every_entry(rows: Array, size: int, length: int) -> tuple[Array, Array]:
    """Rows and starts of calls of a length that together have each value of a pool under each row."""
    times = ceil(size / length) if length else 1
    calls = np.arange(times)
    # The pool is cyclic: the last call of a row goes on with the first values.
    starts = calls * length % size
    return np.repeat(rows, times), np.tile(starts, len(rows))


def _layouts(table: Table, covering: Array, operator: Operator) -> Calls:
    """Calls of every layout but the plain one.

    They have every X under scalars that reach every class, and each special value as each scalar.
    """
    size = len(table.pool)
    layouts = [layout for layout in LAYOUTS if layout.length is not None]
    for number, layout in enumerate(layouts):
        length = layout.length or 0
        # A layout that repeats its entry needs a call for each value.
        distinct = 1 if layout.repeats else length
        rows, starts = every_entry(covering, size, distinct)

        crossings = crossed(table.count, operator.scalars, number)
        # Where several calls are needed to have every X, each choice of scalars has two.
        times = len(rows) // len(covering)
        more_rows = np.tile(crossings, min(2, times))
        more_starts = _scattered(len(more_rows), size)
        if length == 0:
            more_starts = np.zeros_like(more_starts)

        all_rows = np.concatenate([rows, more_rows])
        all_starts = np.concatenate([starts, more_starts])
        expected = table.rows(all_rows)
        yield _call(layout.id, length, expected, all_starts)


def crossed(choices: int, scalars: int, number: int) -> Array:
    """Choices of the scalars, different ones for each number, that have each value as each scalar.

    Of two scalars with the same n values: about 2 * n of the n * n choices. Otherwise all choices.
    """
    every = np.arange(choices)
    if scalars != 2:
        return every
    size = isqrt(choices)
    low, high = np.divmod(every, size)
    # Two diagonals of the square of all pairs: each of its rows and columns has an entry of both.
    diagonal = (low + high + number) % (size // 2)
    crossings: Array = np.flatnonzero(diagonal == 0)
    return crossings


def _of_lengths(table: Table, lengths: Array, rows: Array) -> Calls:
    """Plain calls of these lengths, under these choices of the scalars."""
    starts = _scattered(len(rows), len(table.pool))
    step = _CALLS // 2
    for at in range(0, len(rows), step):
        part = slice(at, at + step)
        lengths_of_part = lengths[part]
        longest = int(lengths_of_part.max())
        expected = table.rows(rows[part])
        yield _call(PLAIN.id, longest, expected, starts[part], lengths_of_part)


def _long_pools(etype: ElementType, operator: Operator) -> Sequence[Array]:
    """Every X of one tensor of 8 or 16 bits, else special and random ones."""
    width = etype.width or 0
    bits = bits_type(etype.id)
    if width * operator.tensors <= WHOLE_BITS:
        patterns = np.arange(2**width, dtype=bits)
        return together(patterns, operator.tensors)

    table = table_of_special_values(etype, operator)
    special = [table.pool, *table.beside]
    random = _random(_SEED, operator.tensors, LONG, bits)
    pools = []
    for special_values, random_values in zip(special, random, strict=True):
        pool = np.concatenate([special_values, random_values])
        pools.append(pool)
    return pools


def _long_calls(
    etype: ElementType,
    operator: Operator,
    pools: Sequence[Array],
    scalars: Sequence[Array],
    length: int | None = None,
) -> Calls:
    """One plain call with all of the pools, or of a length, under each choice of the scalars."""
    size = len(pools[0])
    length = length or size
    fitting = _RESULTS // length
    step = max(1, min(_CALLS, fitting))
    if operator.has_ranges and size >= _RANGES:
        tables = range_tables(etype, operator, pools[0], scalars, step)
    else:
        tables = _tables(etype, pools, scalars, operator, step)
    for table in tables:
        # Calls with the pool as it is are compared without looking up any entry.
        starts = np.zeros(table.count, int)
        if length != size:
            starts = _scattered(table.count, size)
        yield _call(PLAIN.id, length, table, starts)


def _tables(
    etype: ElementType,
    pools: Sequence[Array],
    scalars: Sequence[Array],
    operator: Operator,
    step: int,
) -> Iterator[Table]:
    """The expected results of any operator, of `step` choices of the scalars in each table."""
    count = len(scalars[0]) if scalars else 1
    for at in range(0, count, step):
        chunk = [scalar[at : at + step] for scalar in scalars]
        yield tabulate(etype, pools, chunk, operator)


def _scattered(count: int, size: int) -> Array:
    """Where in a pool calls begin: a multiplicative hash, so that no regularity of the calls matters."""
    calls = np.arange(count)
    hashes = calls * 2654435761 % 2**32  # Knuth's factor, 2 ** 32 / the golden ratio
    scaled = hashes * size
    return scaled >> 32


# --- Random draws, the same on every machine ----------------------------------------------------------------

_PAIRS = 100  # pairs of bounds of a draw
_ENTRIES = 150  # values of X of a draw, beside the bounds themselves
_NEAR = 3  # the greatest distance between a special value and its neighbours


def random_patterns(etype: ElementType, operator: Operator, number: int = 0) -> tuple[Array, Array]:
    """Random bits of each tensor, shape (tensors, k), and of each scalar, shape (scalars, p).

    About a third are special values, a third neighbours of one, a third any pattern. Each fourth value of a
    scalar is also a value of the tensors, since implementations differ in ties. Each number is another draw.
    """
    tensors = operator.tensors
    scalars = operator.scalars
    special = np.array(special_patterns(etype), np.uint64)
    bound_count = scalars * _PAIRS
    entry_count = tensors * _ENTRIES
    seed = [_SEED, *etype.id.encode(), number]
    kinds, words = _random(seed, 2, entry_count + bound_count, special.dtype)

    # A word decides both which special value is near, and how far it is away.
    quotients, places = np.divmod(words, len(special))
    nearby_special = special[places]
    distances = quotients % (2 * _NEAR + 1)
    neighbours = nearby_special + distances - _NEAR
    thirds = (kinds % 3).astype(int)
    patterns = np.choose(thirds, (nearby_special, neighbours, words))
    # Neighbours of the lowest and of the highest pattern are cut off to the width of the type.
    drawn = patterns.astype(bits_type(etype.id))

    drawn_bounds = drawn[:bound_count]
    drawn_entries = drawn[bound_count:]
    bounds = drawn_bounds.reshape(scalars, _PAIRS)
    entries = drawn_entries.reshape(tensors, _ENTRIES)
    fourth = bounds[:, ::4].ravel()
    ties = np.tile(fourth, (tensors, 1))
    return np.hstack([ties, entries]), bounds


# --- The levels above quick, whose long calls of one tensor have a sorted X ---------------------------------


def _more_x(etype: ElementType, operator: Operator, n: int) -> Calls:
    """Part n of `standard`: more X under all choices of special values of the other operands."""
    if _has_every_choice(etype, operator):
        return
    if etype.width == 16:
        values = _every_x(etype)
    else:
        bits = bits_type(etype.id)
        special = np.array(special_patterns(etype), bits)
        count = DRAWN - len(special)
        random = _random([_SEED_OF_MORE, n], 1, count, bits)
        values = _sorted(etype, special, *random)
    table = table_of_special_values(etype, operator)
    # The parts share the bounds, so that together they have each of them once.
    scalars = [scalar[n::_MORE] for scalar in table.scalars]
    for pools in _beside_special_values(etype, operator, values, n):
        calls = _long_calls(etype, operator, pools, scalars)
        yield from _with_purpose("more X", calls)


def _has_every_choice(etype: ElementType, operator: Operator) -> bool:
    """Whether `FIRST` has every choice of the operands."""
    width = etype.width or 0
    is_small = width * operator.tensors <= WHOLE_BITS
    return is_small and (width == 8 or not operator.scalars)


def _beside_special_values(
    etype: ElementType,
    operator: Operator,
    values: Array,
    n: int,
) -> Iterator[Sequence[Array]]:
    """The values as each tensor in turn, beside part n of the special values of the others."""
    if operator.tensors == 1:
        yield [values]
        return
    special = np.array(special_patterns(etype), values.dtype)
    special_of_part = special[n::_MORE]
    columns = together(special_of_part, operator.tensors - 1)
    others = np.stack(columns, axis=1)
    for place in range(operator.tensors):
        for row in others:
            pools = [np.full_like(values, value) for value in row]
            pools.insert(place, values)
            yield pools


def _more_draws(etype: ElementType, operator: Operator, n: int) -> Calls:
    """Part n of `standard`: random draws, of which several share X and bounds."""
    draws = RANDOM_DRAWS // _MORE
    begin = n * draws
    for first in range(begin, begin + draws, DRAWS_TOGETHER):
        tensors = []
        scalars = []
        for draw in range(first, first + DRAWS_TOGETHER):
            # Draw 0 is in `FIRST`.
            drawn, drawn_scalars = random_patterns(etype, operator, draw + 1)
            tensors.append(drawn)
            scalars.append(drawn_scalars)
        pools = list(np.hstack(tensors))
        # A sorted pool is faster; the entries of several tensors belong together, as they were drawn.
        if len(pools) == 1:
            pools = [_sorted(etype, *pools)]
        bounds = list(np.hstack(scalars))
        calls = _long_calls(etype, operator, pools, bounds)
        yield from _with_purpose("more draws", calls)


def _every_length(etype: ElementType, operator: Operator, n: int) -> Calls:
    """Part n of `standard`: plain calls of every length."""
    lengths = np.arange(2 + n, EVERY_LENGTH + 1, _MORE)
    covering = covering_rows(etype, _FEW_BOUNDS, operator)
    rows = _rows_of_lengths(covering, lengths)
    lengths_of_calls = np.repeat(lengths, PAIRS_OF_A_LENGTH)
    table = table_of_special_values(etype, operator)
    calls = _of_lengths(table, lengths_of_calls, rows.ravel())
    yield from _with_purpose("every length", calls)


def _rows_of_lengths(rows: Array, lengths: Array) -> Array:
    """The choices of the scalars for calls of each length, shape (lengths, `PAIRS_OF_A_LENGTH`).

    Every length has the first choice, which reaches the most classes. The others take turns, so that
    neighbouring lengths have different ones.
    """
    first = rows[0]
    others = rows[1:] if len(rows) > 1 else rows
    step = np.arange(1, PAIRS_OF_A_LENGTH)
    offsets = PAIRS_OF_A_LENGTH * lengths[:, None]
    turns = (offsets + step) % len(others)
    first_of_each = np.full((len(lengths), 1), first)
    return np.hstack([first_of_each, others[turns]])


def _every_x(etype: ElementType) -> Array:
    patterns = np.arange(2**16, dtype=bits_type(etype.id))
    return _sorted(etype, patterns)


def _sorted(etype: ElementType, *pools: Array) -> Array:
    """All values of the pools, sorted by `key_type`: their expected results are slices then."""
    pool = np.concatenate(pools)
    keys = np.sort(pool.view(key_type(etype)))
    ordered: Array = keys.view(pool.dtype)
    return ordered


def some_bounds(etype: ElementType, operator: Operator, n: int, place: int) -> list[Array]:
    """Bits of the scalars: part n of all values of 16 bits as the one at a place, beside a few others."""
    bits = bits_type(etype.id)
    patterns: list[int] = []
    for text in _BESIDE[etype.family]:
        patterns.append(int(encode(text, etype)))
    values_beside = np.array(patterns, bits)
    others = together(values_beside, operator.scalars - 1)
    choices_of_others = len(others[0]) if others else 1

    first = n * _BOUNDS
    values = np.arange(first, first + _BOUNDS).astype(bits)
    # Each value meets each choice of the others: these recur, while a value is repeated.
    bounds = [np.tile(other, _BOUNDS) for other in others]
    repeated_values = np.repeat(values, choices_of_others)
    bounds.insert(place, repeated_values)
    return bounds


# --- Few calls, for a runtime that starts a program for each ------------------------------------------------


@dataclass(frozen=True)
class _Shape:
    """Calls of one layout and length, each under another choice of the scalars."""

    purpose: str
    layout: str
    length: int
    calls: int


def _few_shapes() -> Iterator[_Shape]:
    for layout in LAYOUTS:
        if layout.length is not None:
            yield _Shape("few shapes", layout.id, layout.length, FEW_OF_A_SHAPE)
    for length in FEW_LENGTHS:
        yield _Shape("few lengths", PLAIN.id, length, 1)


def few_calls(etype: ElementType, operator: Operator) -> Calls:
    """The requests of a runtime that starts a program for each call."""
    # First, as in `chosen`: it may serve no other bounds.
    used = chosen_bounds_in_use(etype, operator)
    if used is not None:
        calls = _long_calls(etype, operator, [used.table.pool], used.table.scalars)
        yield from _with_purpose("bounds in use", calls)

    pools = _long_pools(etype, operator)
    bounds = chosen_bounds(etype, operator)
    for request, table in _long_calls(etype, operator, pools, bounds, LONG):
        # From the first value on: of a longer pool, that is where the special values are.
        starts = np.zeros(table.count, int)
        yield replace(request, starts=starts, purpose="few long calls"), table

    covering = covering_rows(etype, FEW_OF_A_SHAPE, operator)
    special = table_of_special_values(etype, operator).rows(covering)
    made = 0
    for shape in _few_shapes():
        turns = made + np.arange(shape.calls)
        # 7 apart, so that few calls have values of every kind.
        starts = turns * 7 % len(special.pool)
        rows = turns % special.count
        expected = special.rows(rows)
        request, table = _call(shape.layout, shape.length, expected, starts)
        yield replace(request, purpose=shape.purpose), table
        made += shape.calls
