"""The vectors, tables and calls of an element type, which every format holds.

- A *vector* is a triple in bits with its class and expected result, from generated/vectors.
- A *table* has a pool of values of X and pairs of bounds, and the expected result of each value under each
  pair.
- A *call* takes a pair of a table and ``length`` entries of its pool from ``start`` on, round and round:
  ``X[i] = pool[(start + i) % len(pool)]``, so ``Y[i] = expected[pair][(start + i) % len(pool)]``. Its layout
  places them in memory. All layouts and lengths of `sonnx-clip check` are there.

Where another answer is acceptable, `also` has a flag for it, see `Granted`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.chosen_bounds import chosen_bounds, covering_scalars, used_bounds
from sonnx_clip.conform.expected import Table, tabulate
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.plan import LENGTHS, LONG
from sonnx_clip.language import encode
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import is_nan
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN, Layout
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType

VECTORS = "generated/vectors"
OPERANDS = ("x", "min", "max", "expected")
TABLES = ("special", "wide", "used")
"""Special values under many bounds; these, everyday values and random patterns under fewer bounds; and the
values around the bounds in use under all of them."""

OTHER_ZERO = "the zero of the other sign"
ANY_NAN = "any NaN"

_RANDOM = 2048  # random patterns of the table "wide"
_SEED = 29
_EVERYDAY = 64  # the greatest of its whole numbers; in a float type, as many quarters
_WIDE_BOUNDS = 8


@dataclass(frozen=True)
class Granted:
    """A latitude as a flag: the bit of `also` for an answer that it accepts (`OTHER_ZERO` or `ANY_NAN`).

    `always` if the strict policy grants it, too.
    """

    flag: int
    id: str
    accepts: str
    always: bool
    reason: str


@dataclass(frozen=True)
class GrantedTable(Table):
    """A table, and the flags of what else is acceptable, shape (p, k)."""

    also: Array = field(kw_only=True)

    @property
    def parts(self) -> dict[str, Array]:
        """Its arrays as bits, by the names that they have in every format."""
        low, high = self.scalars
        return {
            "pool": self.pool,
            "min": low,
            "max": high,
            "expected": self.results,
            "class": self.classes,
            "also": self.also,
        }


@dataclass(frozen=True)
class SuiteCall:
    """A call; `table` is an index into `TABLES`, `pair` one of the pairs of bounds of that."""

    table: int
    pair: int
    layout: Layout
    length: int
    start: int


@dataclass(frozen=True)
class TypeSuite:
    """All of one element type; `text` is its file of generated/vectors, `vectors` those in it."""

    etype: ElementType
    text: str
    vectors: list[dict[str, Any]]
    tables: tuple[GrantedTable, ...]
    calls: tuple[SuiteCall, ...]

    @property
    def operands(self) -> tuple[Array, ...]:
        """x, min, max and expected of all vectors, as bits, each of shape (n,)."""
        bits = bits_type(self.etype.id)
        operands = []
        for name in OPERANDS:
            values = [int(vector[name], 16) for vector in self.vectors]
            operands.append(np.array(values, bits))
        return tuple(operands)

    @property
    def also(self) -> Array:
        """The flags of all vectors, shape (n,)."""
        return flags(self.etype, *self.operands)

    def entries(self, call: SuiteCall) -> Array:
        """The place in the pool of each entry of X, shape (length,)."""
        pool = self.tables[call.table].pool
        step = 0 if call.layout.repeats else 1
        places = call.start + step * np.arange(call.length)
        return places % len(pool)


def suite(types: Sequence[str] = ()) -> list[TypeSuite]:
    """The suites of element types; of all that have bit patterns, if none is named.

    UserError for a type that is unknown or has no bit patterns, and for missing or stale vectors.
    """
    spec = load_spec()
    etypes = [spec.element_type(id_) for id_ in dict.fromkeys(types)]
    for etype in etypes:
        if etype.width is None:
            raise UserError(f"{etype.id} has no bit patterns, and therefore no vectors")
    if not etypes:
        etypes = [etype for etype in spec.element_types if etype.width is not None]
    return [_of_type(etype) for etype in etypes]


def _of_type(etype: ElementType) -> TypeSuite:
    text = vectors_text(f"{etype.id}.json")
    document = json.loads(text)
    if load_spec().digest != load_oracle().SPEC_DIGEST:
        raise UserError("generated/ is stale for spec/clip.yaml", todo="run: sonnx-clip generate")
    special = np.array(special_patterns(etype), bits_type(etype.id))
    used = used_bounds(etype, clip_operator())
    assert used is not None  # Clip has bounds in use
    tables = (
        _table(etype, special, *chosen_bounds(etype, clip_operator())),
        _table(etype, _wide_pool(etype), *covering_scalars(etype, _WIDE_BOUNDS, clip_operator())),
        _table(etype, used.table.pool, *used.table.scalars),
    )
    calls = tuple(_calls(etype, *tables))
    return TypeSuite(etype, text, document["vectors"], tables, calls)


def vectors_text(name: str) -> str:
    """A file of generated/vectors; UserError if it cannot be read."""
    path = repo_file(VECTORS) / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"the vectors cannot be read: {error.strerror}"
        raise UserError(message, str(path), "run: sonnx-clip generate") from error


def _table(etype: ElementType, pool: Array, lower: Array, upper: Array) -> GrantedTable:
    table = tabulate(etype, [pool], (lower, upper), clip_operator())
    return GrantedTable(
        pool=table.pool,
        scalars=table.scalars,
        results=table.results,
        find_classes=table.find_classes,
        also=flags(etype, pool[None, :], lower[:, None], upper[:, None], table.results),
    )


def _wide_pool(etype: ElementType) -> Array:
    """Every pattern of 8 bits; else special values, quarters or whole numbers about 0, and random ones."""
    bits = bits_type(etype.id)
    if etype.width == 8:
        return np.arange(256, dtype=bits)
    divisor = 4 if etype.family == "float" else 1
    lowest = 0 if etype.id.startswith("u") else -_EVERYDAY
    everyday = []
    for n in range(lowest, _EVERYDAY + 1):
        text = f"{n / divisor:g}"
        everyday.append(int(encode(text, etype)))
    random = np.random.PCG64(_SEED).random_raw(_RANDOM).astype(bits)
    patterns = [*special_patterns(etype), *everyday, *random.tolist()]
    distinct = list(dict.fromkeys(patterns))
    return np.array(distinct, bits)


def _calls(
    etype: ElementType, special: GrantedTable, wide: GrantedTable, used: GrantedTable
) -> Iterator[SuiteCall]:
    """Every pair with the whole pool, every layout and every length with some pairs, and long calls."""
    size = len(special.pool)
    for pair in range(special.count):
        yield SuiteCall(0, pair, PLAIN, size, 0)
    covering = len(
        covering_scalars(etype, 0, clip_operator())[0]
    )  # they are the first pairs of `chosen_bounds`
    number = 0
    for layout in LAYOUTS[1:]:
        for pair in range(covering):
            number += 1
            yield SuiteCall(0, pair, layout, layout.length or 0, _start(number, size))
    for length in LENGTHS:
        number += 1
        yield SuiteCall(0, number % special.count, PLAIN, length, _start(number, size))
    for pair in range(wide.count):
        yield SuiteCall(1, pair, PLAIN, LONG, 0)
    for pair in range(used.count):
        yield SuiteCall(2, pair, PLAIN, len(used.pool), 0)


def _start(number: int, size: int) -> int:
    """Where in a pool a call begins.

    Knuth's multiplicative hash, as in the plan of the checker: no regularity of the pairs matters.
    """
    hash_ = number * 2654435761 % 2**32
    return hash_ * size >> 32


@cache
def granted() -> tuple[Granted, ...]:
    """Every latitude with its flag and what it accepts: that of which spec/clip.yaml has an example."""
    spec = load_spec()
    etype = spec.element_type("float16")
    latitudes = []
    for index, entry in enumerate(spec.latitude):
        answer = encode(entry.inhabited_by.texts()["A"], etype)
        accepts = ANY_NAN if is_nan(answer, etype) else OTHER_ZERO
        latitudes.append(Granted(1 << index, entry.id, accepts, entry.always, entry.reason))
    return tuple(latitudes)


def flags(etype: ElementType, x: Array, lower: Array, upper: Array, due: Array) -> Array:
    """The flags of what else is acceptable; all arguments are bits, and broadcast to the shape of `due`."""
    also = np.zeros(due.shape, np.uint8)
    if etype.family != "float":
        return also
    dtype = numpy_type(etype.id)
    sign = due.dtype.type(1 << (8 * due.itemsize - 1))
    operands = [part.view(dtype) for part in (x, lower, upper)]
    expected = due.view(dtype)
    answers = {
        OTHER_ZERO: (due ^ sign).view(dtype),
        ANY_NAN: np.full(due.shape, np.nan, dtype),
    }
    accepts = load_oracle().LATITUDE["float"]
    for latitude in granted():
        answer = answers[latitude.accepts]
        with np.errstate(invalid="ignore"):
            accepted = accepts[latitude.id](*operands, expected, answer)
            if latitude.accepts == OTHER_ZERO:
                accepted &= expected == 0
        also |= np.where(accepted, latitude.flag, 0).astype(np.uint8)
    return also
