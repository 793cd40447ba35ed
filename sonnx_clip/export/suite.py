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

from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.chosen_bounds import chosen_bounds, covering_scalars, used_bounds
from sonnx_clip.conform.expected import Table, tabulate
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

_RANDOM, _SEED = 2048, 29
_EVERYDAY = 64
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
        return {
            "pool": self.pool, "min": self.scalars[0], "max": self.scalars[1], "expected": self.results,
            "class": self.classes, "also": self.also,
        }  # fmt: skip


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
        return tuple(np.array([int(v[name], 16) for v in self.vectors], bits) for name in OPERANDS)

    @property
    def also(self) -> Array:
        """The flags of all vectors, shape (n,)."""
        return flags(self.etype, *self.operands)

    def entries(self, call: SuiteCall) -> Array:
        """The place in the pool of each entry of X, shape (length,)."""
        size = len(self.tables[call.table].pool)
        return (call.start + np.arange(call.length) * (not call.layout.repeats)) % size


def suite(types: Sequence[str] = ()) -> list[TypeSuite]:
    """The suites of element types; of all that have bit patterns, if none is named.

    UserError for a type that is unknown or has no bit patterns, and for missing or stale vectors.
    """
    spec = load_spec()
    etypes = [spec.element_type(id_) for id_ in dict.fromkeys(types)]
    for etype in etypes:
        if etype.width is None:
            raise UserError(f"{etype.id} has no bit patterns, and therefore no vectors")
    return [_of_type(etype) for etype in etypes or spec.element_types if etype.width is not None]


def _of_type(etype: ElementType) -> TypeSuite:
    text = vectors_text(f"{etype.id}.json")
    document = json.loads(text)
    if {document["spec_sha256"]} != {load_spec().digest, load_oracle().SPEC_DIGEST}:
        raise UserError("generated/ is stale for spec/clip.yaml", todo="run: sonnx-clip generate")
    special = np.array(special_patterns(etype), bits_type(etype.id))
    used = used_bounds(etype, clip_operator())
    assert used is not None  # Clip has bounds in use
    tables = (
        _table(etype, special, *chosen_bounds(etype)),
        _table(etype, _wide_pool(etype), *covering_scalars(etype, _WIDE_BOUNDS)),
        _table(etype, used.table.pool, *used.table.scalars),
    )
    return TypeSuite(etype, text, document["vectors"], tables, tuple(_calls(etype, *tables)))


def vectors_text(name: str) -> str:
    """A file of generated/vectors; UserError if it cannot be read."""
    path = repo_file(VECTORS) / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        what = f"the vectors cannot be read: {error.strerror}"
        raise UserError(what, str(path), "run: sonnx-clip generate") from error


def _table(etype: ElementType, pool: Array, lower: Array, upper: Array) -> GrantedTable:
    found = tabulate(etype, [pool], (lower, upper))
    also = flags(etype, pool[None, :], lower[:, None], upper[:, None], found.results)
    return GrantedTable(found.pool, found.scalars, found.results, found.find_classes, also=also)


def _wide_pool(etype: ElementType) -> Array:
    """Every pattern of 8 bits; else special values, quarters or whole numbers about 0, and random ones."""
    bits = bits_type(etype.id)
    if etype.width == 8:
        return np.arange(256, dtype=bits)
    step = 4 if etype.family == "float" else 1
    lowest = 0 if etype.id.startswith("u") else -_EVERYDAY
    everyday = [int(encode(f"{n / step:g}", etype)) for n in range(lowest, _EVERYDAY + 1)]
    random = np.random.PCG64(_SEED).random_raw(_RANDOM).astype(bits)
    return np.array(
        list(dict.fromkeys([*special_patterns(etype), *everyday, *random.tolist()])), bits
    )


def _calls(
    etype: ElementType, special: GrantedTable, wide: GrantedTable, used: GrantedTable
) -> Iterator[SuiteCall]:
    """Every pair with the whole pool, every layout and every length with some pairs, and long calls."""
    size, pairs = len(special.pool), special.count
    for pair in range(pairs):
        yield SuiteCall(0, pair, PLAIN, size, 0)
    covering = range(len(covering_scalars(etype, 0)[0]))  # the first pairs of `chosen_bounds`
    mixed = [(pair, layout, layout.length or 0) for layout in LAYOUTS[1:] for pair in covering]
    mixed += [((len(mixed) + n + 1) % pairs, PLAIN, length) for n, length in enumerate(LENGTHS)]
    for number, (pair, layout, length) in enumerate(mixed, 1):
        # Knuth's multiplicative hash, as in the plan of the checker: no regularity of the pairs matters.
        yield SuiteCall(0, pair, layout, length, (number * 2654435761 % 2**32) * size >> 32)
    for pair in range(wide.count):
        yield SuiteCall(1, pair, PLAIN, LONG, 0)
    for pair in range(used.count):
        yield SuiteCall(2, pair, PLAIN, len(used.pool), 0)


@cache
def granted() -> tuple[Granted, ...]:
    """Every latitude with its flag and what it accepts: that of which spec/clip.yaml has an example."""
    spec = load_spec()
    etype = spec.element_type("float16")
    nan = {
        one.id: is_nan(encode(one.inhabited_by.texts()["A"], etype), etype) for one in spec.latitude
    }
    return tuple(
        Granted(1 << index, one.id, ANY_NAN if nan[one.id] else OTHER_ZERO, one.always, one.reason)
        for index, one in enumerate(spec.latitude)
    )


def flags(etype: ElementType, x: Array, lower: Array, upper: Array, due: Array) -> Array:
    """The flags of what else is acceptable; all arguments are bits, and broadcast to the shape of `due`."""
    also = np.zeros(due.shape, np.uint8)
    if etype.family != "float":
        return also
    dtype, sign = numpy_type(etype.id), due.dtype.type(1 << (8 * due.itemsize - 1))
    values = [part.view(dtype) for part in (x, lower, upper, due)]
    answers = {OTHER_ZERO: (due ^ sign).view(dtype), ANY_NAN: np.full(due.shape, np.nan, dtype)}
    for one in granted():
        with np.errstate(invalid="ignore"):
            accepted = load_oracle().LATITUDE["float"][one.id](*values, answers[one.accepts])
            accepted &= (values[3] == 0) | (one.accepts == ANY_NAN)
        also |= np.where(accepted, one.flag, 0).astype(np.uint8)
    return also
