"""How much is asked at each level, and how that is cut into units.

``quick`` is what `chosen_triples` chooses: one unit for each element type. ``standard`` adds all pairs of
special bounds over 70,000 X (of 16 bits all that there are); random triples; and every length up to 2,048.
``exhaustive`` adds every triple of 8 bits in other layouts; every X of 16 bits under every min and under
every max, beside four others; and every X of 32 bits under bounds that reach every class. No level is
exhaustive in 64 bits.

A part has a name, from which its calls follow: a unit is judged wherever its name is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.conform.chosen_triples import covering_scalars, random_patterns, request_of, together
from sonnx_clip.conform.expected import range_table, tabulate
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType

    Calls = Iterator[tuple[Request, Table]]

Level: TypeAlias = Literal["quick", "standard", "exhaustive"]

EVERY_LENGTH = 2048
"""Up to it, calls of every length are made at levels above quick."""

_ENTRIES = 2**16  # of the long calls
_DRAWN = 70_000  # special and random X of more than 16 bits
_BLOCK = 2**22  # results in a request of long calls: it bounds the memory
_PAIRS = 640  # of special bounds in a unit
_DRAWS, _JOINED, _RANDOM = 32, 16, 2  # draws of random triples in a unit; draws that share X; units
LENGTHS_OF_A_PART, _UNDER = 1024, 3  # and pairs of bounds for each
_TURNS = 2**15  # pairs of 8 bits in a unit of a layout
_BOUNDS = 64  # of 16 bits: bounds in a unit
# The bounds beside each: the ends, which bound nothing, are those that why3/composition.mlw is about.
_BESIDE = {"int": ("lowest", "highest", "1", "2"), "float": ("-inf", "inf", "nan", "0")}
_OTHERS = 4
_STRETCHES, _COVER = 64, 8  # of 32 bits: stretches of X in a unit, and pairs of bounds
_SEED = 22
_STRIDED = tuple(
    found.id for found in LAYOUTS
    if found.id in ("length-64", "every-second", "reversed", "offset", "unaligned", "rank-3")
)  # fmt: skip


def kinds_of(etype: ElementType, level: Level) -> Sequence[tuple[str, int]]:
    """The kinds of parts that a level adds, and how many of each there are."""
    width, special = etype.width, len(special_patterns(etype))
    found: list[tuple[str, int]] = []
    if level != "quick":
        found += [("special", -(-(special**2) // _PAIRS))] if width != 8 else []
        found += [("random", _RANDOM), ("lengths", EVERY_LENGTH // LENGTHS_OF_A_PART)]
    if level == "exhaustive" and width == 8:
        found += [(layout, 2**16 // _TURNS) for layout in _STRIDED]
    if level == "exhaustive" and width == 16:
        found += [("every-min", 2**16 // _BOUNDS), ("every-max", 2**16 // _BOUNDS)]
    if level == "exhaustive" and width == 32:
        found += [("every-x", 2**32 // _ENTRIES // _STRETCHES)]
    return found


def size_of(etype: ElementType, part: str) -> int:
    """About how many calls a part has."""
    kind = part.rpartition("-")[0]
    sizes = {"special": _PAIRS, "every-min": _BOUNDS * _OTHERS, "every-max": _BOUNDS * _OTHERS}
    sizes |= {"every-x": _STRETCHES * _COVER, "random": _DRAWS * 100, "lengths": LENGTHS_OF_A_PART * _UNDER}
    sizes |= dict.fromkeys(_STRIDED, 4 * _TURNS)
    return sizes.get(kind, 69_000 if etype.width == 8 else 7_000)


def calls_of(etype: ElementType, part: str, lengths: int = LENGTHS_OF_A_PART) -> Calls:
    """The requests of a part that is no unit of its element type alone, each with what is expected.

    Args:
        etype: the element type.
        part: as `units_of` names it.
        lengths: how many lengths a part of them has.

    Raises:
        ValueError: there is no such part.
    """
    kind, _, number = part.rpartition("-")
    n = int(number)
    if kind in _STRIDED:
        return _every_triple(etype, kind, n)
    match kind:
        case "special":
            return _special(etype, n)
        case "random":
            return _random(etype, n)
        case "lengths":
            return _lengths(etype, n, lengths)
        case "every-min" | "every-max":
            return _every_bound(etype, n, second=kind == "every-max")
        case "every-x":
            return _every_x(etype, n)
    raise ValueError(f"there is no part {part} of {etype.id}")


def _every_triple(etype: ElementType, layout: str, n: int) -> Calls:
    """Every X of 8 bits under some pairs of bounds, in calls of a layout."""
    for request in _triples(etype, layout, n):
        yield request, tabulate(etype, [request.pool], request.scalars)


def _triples(etype: ElementType, layout: str, n: int) -> Iterator[Request]:
    every = np.arange(256, dtype=bits_type(etype.id))
    scalars = [part[n * _TURNS : (n + 1) * _TURNS] for part in together(every, 2)]
    length = next(found.length for found in LAYOUTS if found.id == layout)
    assert length
    times = -(-len(every) // length)  # of calls for a pair of bounds, until each X was in one
    for at in range(0, _TURNS, 1024 // times):
        rows = np.repeat(np.arange(at, min(at + 1024 // times, _TURNS)), times)
        starts = np.tile(np.arange(times) * length, len(rows) // times) % len(every)
        yield Request(layout, length, every, starts, tuple(scalar[rows] for scalar in scalars))


def _special(etype: ElementType, n: int) -> Calls:
    """Long calls, of 16 bits of every X, else of special and random ones, under pairs of special bounds."""
    special = np.array(special_patterns(etype), bits_type(etype.id))
    scalars = [part[n * _PAIRS : (n + 1) * _PAIRS] for part in together(special, 2)]
    if etype.width == 16:
        pool = np.arange(2**16, dtype=special.dtype)
    else:
        random = np.random.PCG64([_SEED, n]).random_raw(_DRAWN - len(special)).astype(special.dtype)
        pool = np.concatenate([special, random])
    yield from _long_calls(etype, pool, scalars)


def _random(etype: ElementType, n: int) -> Calls:
    """The bounds of some draws, each beside the X of all of them."""
    bits = bits_type(etype.id)
    for first in range(n * _DRAWS, (n + 1) * _DRAWS, _JOINED):
        drawn = [random_patterns(etype, number=draw + 1) for draw in range(first, first + _JOINED)]
        pool = np.concatenate([np.array(tensors[0], bits) for tensors, _ in drawn])
        scalars = [np.concatenate([np.array(part[k], bits) for _, part in drawn]) for k in range(2)]
        yield from _long_calls(etype, pool, scalars)


def _lengths(etype: ElementType, n: int, number: int) -> Calls:
    """Calls of so many lengths: under the first pair of bounds, and under those whose turn it is."""
    pool = np.array(special_patterns(etype), bits_type(etype.id))
    table = tabulate(etype, [pool], covering_scalars(etype, _COVER))
    for length in range(max(2, n * number + 1), (n + 1) * number + 1):
        turns = 1 + (np.arange(1, _UNDER) + _UNDER * length) % (table.count - 1)
        rows = np.concatenate([[0], turns])
        yield request_of(table.rows(rows), PLAIN.id, length, times=1)


def _every_bound(etype: ElementType, n: int, *, second: bool) -> Calls:
    """Every X of 16 bits under some bounds on one side, each beside a few on the other side."""
    scalars = _some_bounds(etype, n, second=second)
    yield from _long_calls(etype, np.arange(2**16, dtype=scalars[0].dtype), scalars)


def _some_bounds(etype: ElementType, n: int, *, second: bool) -> list[Array]:
    """Bits of min and of max, each of shape (k,)."""
    others = np.array([int(encode(text, etype)) for text in _BESIDE[etype.family]], bits_type(etype.id))
    bounds = np.arange(n * _BOUNDS, (n + 1) * _BOUNDS).astype(others.dtype)
    varying, beside = np.repeat(bounds, _OTHERS), np.tile(others, _BOUNDS)
    return [beside, varying] if second else [varying, beside]


def _every_x(etype: ElementType, n: int) -> Calls:
    """Some stretches of all X of 32 bits, under bounds that reach every class."""
    scalars = covering_scalars(etype, _COVER)
    for pool in _stretches(etype, n):
        yield from _long_calls(etype, pool, scalars)


def _stretches(etype: ElementType, n: int) -> Iterator[Array]:
    """Bits of X, each time of shape (k,)."""
    for stretch in range(n * _STRETCHES, (n + 1) * _STRETCHES):
        yield np.arange(stretch * _ENTRIES, (stretch + 1) * _ENTRIES).astype(bits_type(etype.id))


def _long_calls(etype: ElementType, pool: Array, scalars: Sequence[Array]) -> Calls:
    """One call with all of a pool under each pair of bounds."""
    at_once = max(1, _BLOCK // len(pool))
    for at in range(0, len(scalars[0]), at_once):
        part = [scalar[at : at + at_once] for scalar in scalars]
        yield request_of(range_table(etype, pool, part), PLAIN.id, len(pool))


def more_words(level: Level, bits: set[str]) -> list[str]:
    """What a level adds to what is compared, in words.

    Args:
        level: the level.
        bits: the widths of the element types, as text.
    """
    if level == "quick":
        return []
    found = [
        f"the bounds of {_RANDOM * _DRAWS} more random draws, each beside the X of {_JOINED} draws",
        f"calls of every length up to {EVERY_LENGTH:,}, each under {_UNDER} pairs of bounds",
    ]
    if "16" in bits:
        found.append("every X of 16 bits under all pairs of special bounds")
    if bits & {"32", "64"}:
        found.append(f"{_DRAWN:,} special and random X under all pairs of special bounds")
    if level == "exhaustive" and "8" in bits:
        found.append(f"every triple of 8 bits in the layouts {', '.join(_STRIDED)}")
    if level == "exhaustive" and "16" in bits:
        found.append("every X of 16 bits under every min and under every max, beside four others")
    if level == "exhaustive" and "32" in bits:
        found.append("every X of 32 bits under bounds that reach every class")
    return found
