"""The vectors, tables and calls of an operator in an element type, which every format holds.

- A *vector* has the operands in bits with its class and expected result.
- A *table* has a pool of values of the tensors and choices of the scalars (of Clip: pairs of bounds), and the
  expected result of each value under each choice.
- A *call* takes a choice of a table and ``length`` entries of its pool from ``start`` on, round and round:
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

from sonnx_clip.backends.vectors import SCHEMA_PATH, schema_text, type_text
from sonnx_clip.conform.call_plan import LENGTHS, LONG
from sonnx_clip.conform.chosen_bounds import (
    chosen_bounds,
    chosen_bounds_in_use,
    covering_rows,
    covering_scalars,
    together,
)
from sonnx_clip.conform.expected import Table, tabulate
from sonnx_clip.language import encode
from sonnx_clip.language.special import special_patterns, spread_choices
from sonnx_clip.language.values import is_nan
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN, Layout
from sonnx_clip.spec.entries import OUTSIDE_DOMAIN
from sonnx_clip.whyml.rendered_goals import is_rendered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.language.types import ElementType

VECTORS = "generated/vectors"
SPECIAL = "special"
"""The table of special values, under many choices of the scalars."""
WIDE = "wide"
"""The table of these, everyday values and random patterns, under fewer choices."""
USED = "used"
"""The table of the values around the bounds in use under all of them, where there are such bounds."""

NUMBERS = ("also", "class")
"""The parts of a table that are flags and indices; all others are bits."""

OTHER_ZERO = "the zero of the other sign"
ANY_NAN = "any NaN"

_RANDOM = 2048  # random patterns of the table "wide"
_SEED = 29  # fixed, so that each export has the same bytes
_EVERYDAY = 64  # the greatest of its whole numbers; in a float type, as many quarters
_WIDE_BOUNDS = 8  # its choices of the scalars
_EVERY_PAIR_OF_8_BITS = 2**16
_WIDE_ENTRIES = 2**12  # of wider types, of several tensors together
_CALLS_OF_A_LAYOUT = 4  # at least


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
    """A table, its id, and the flags of what else is acceptable, shape (p, k).

    `keys` are the names of the operands behind the first tensor, whose values are the pool.
    """

    # By keyword alone, since fields of `Table` have defaults and these have none.
    id: str = field(kw_only=True)
    keys: tuple[str, ...] = field(kw_only=True)
    also: Array = field(kw_only=True)

    @property
    def parts(self) -> dict[str, Array]:
        """Its arrays as bits, by the names that they have in every format."""
        further = (*self.beside, *self.scalars)
        return {
            "pool": self.pool,
            **dict(zip(self.keys, further, strict=True)),
            "expected": self.results,
            "class": self.classes,
            "also": self.also,
        }


@dataclass(frozen=True)
class SuiteCall:
    """A call; `table` is an index into the tables, `pair` a choice of the scalars of that."""

    table: int
    pair: int
    layout: Layout
    length: int
    start: int


@dataclass(frozen=True)
class TypeSuite:
    """All of one element type; `text` is its file of vectors, `vectors` those in it."""

    operator: Operator
    etype: ElementType
    text: str
    vectors: list[dict[str, Any]]
    tables: tuple[GrantedTable, ...]
    calls: tuple[SuiteCall, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The ids of the classes, to which tables refer by their index."""
        return self.operator.class_ids(self.etype.family)

    @property
    def columns(self) -> dict[str, Array]:
        """The operands and the expected result of all vectors, as bits, each of shape (n,)."""
        bits = bits_type(self.etype.id)
        columns = {}
        for key in vector_keys(self.operator):
            values = [int(vector[key], 16) for vector in self.vectors]
            columns[key] = np.array(values, bits)
        return columns

    @property
    def also(self) -> Array:
        """The flags of all vectors, shape (n,)."""
        *operands, expected = self.columns.values()
        return flags(self.operator, self.etype, operands, expected)

    def entries(self, call: SuiteCall) -> Array:
        """The place in the pool of each entry of X, shape (length,)."""
        pool = self.tables[call.table].pool
        # A layout that repeats has one entry in memory, which all others are.
        if call.layout.repeats:
            places = np.full(call.length, call.start)
        else:
            places = call.start + np.arange(call.length)
        return places % len(pool)


def vector_keys(operator: Operator) -> tuple[str, ...]:
    """The names of the operands and of the expected result in a vector: ``x, min, max, expected``."""
    return (*operator.signature.keys, "expected")


def suites_of(operator: Operator, types: Sequence[str] = ()) -> list[TypeSuite]:
    """The suites of element types; of all that have bit patterns, if none is named.

    UserError for a type that is unknown or has no bit patterns, and for missing or stale vectors.
    """
    spec = operator.spec
    etypes = [spec.element_type(id_) for id_ in dict.fromkeys(types)]  # each once
    # A type that is named is refused; without names the same types are left out.
    for etype in etypes:
        if etype.width is None:
            raise UserError(f"{etype.id} has no bit patterns, and therefore no vectors")
    if not etypes:
        etypes = [etype for etype in spec.element_types if etype.width is not None]
    return [_of_type(operator, etype) for etype in etypes]


def _of_type(operator: Operator, etype: ElementType) -> TypeSuite:
    text = _vectors_text(operator, etype)
    document = json.loads(text)
    spec = operator.spec
    # The oracle in generated/ computes the tables: it has to be of this file.
    if spec.digest != operator.oracle.SPEC_DIGEST:
        raise UserError(f"generated/ is stale for {spec.file}", todo="run: sonnx-clip generate")
    special = np.array(special_patterns(etype), bits_type(etype.id))
    pools = together(special, operator.tensors)
    wide_pools = _wide_pools(etype, operator.tensors)
    wide_scalars = covering_scalars(etype, _WIDE_BOUNDS, operator)

    # Calls name a table by its place in this list.
    bounds = chosen_bounds(etype, operator)
    tables = [
        granted_table(operator, etype, SPECIAL, pools, bounds),
        granted_table(operator, etype, WIDE, wide_pools, wide_scalars),
    ]
    # A type may hold none of the bounds in use.
    used = chosen_bounds_in_use(etype, operator)
    if used is not None:
        pool = used.table.pool
        tables.append(granted_table(operator, etype, USED, [pool], used.table.scalars))
    # The special values have these choices first.
    covering = len(covering_rows(etype, 0, operator))
    calls = tuple(_calls(tables, covering))
    return TypeSuite(operator, etype, text, document["vectors"], tuple(tables), calls)


def _vectors_text(operator: Operator, etype: ElementType) -> str:
    """The file of vectors of a type: that of generated/ where this is of the operator, else rendered."""
    if is_rendered(operator.spec):
        return _generated_text(f"{etype.id}.json")
    return type_text(operator.spec, etype)


def schema_of_vectors(operator: Operator) -> str:
    """The JSON Schema of the files of vectors."""
    if is_rendered(operator.spec):
        return _generated_text(SCHEMA_PATH.rpartition("/")[2])
    return schema_text(operator.spec)


def _generated_text(name: str) -> str:
    """A file of generated/vectors; UserError if it cannot be read."""
    path = repo_file(VECTORS) / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"the vectors cannot be read: {error.strerror}"
        raise UserError(message, str(path), "run: sonnx-clip generate") from error


def granted_table(
    operator: Operator,
    etype: ElementType,
    id_: str,
    pools: Sequence[Array],
    scalars: Sequence[Array],
) -> GrantedTable:
    """The table of these values of the tensors and of the operands behind them, in bits.

    Values for which the operator is not defined are left out: there any result conforms.
    """
    dtype = numpy_type(etype.id)
    # An operator that is not defined everywhere has this beside its latitudes.
    outside = operator.oracle.LATITUDE[etype.family].get(OUTSIDE_DOMAIN)
    if outside is not None:
        # Choices of the scalars in rows, values in columns: a value has to be defined under every choice.
        operands = [operand.view(dtype) for operand in _rows_and_columns(pools, scalars)]
        undefined = outside(*operands, operands[0], operands[0])  # no result decides it
        defined = ~np.atleast_2d(undefined).any(axis=0)
        pools = [pool[defined] for pool in pools]

    table = tabulate(etype, pools, scalars, operator)
    operands = _rows_and_columns(pools, scalars)
    return GrantedTable(
        pool=table.pool,
        scalars=table.scalars,
        results=table.results,
        find_classes=table.find_classes,
        beside=table.beside,
        id=id_,
        keys=operator.signature.keys[1:],
        also=flags(operator, etype, operands, table.results),
    )


def _rows_and_columns(pools: Sequence[Array], scalars: Sequence[Array]) -> list[Array]:
    """The operands such that they broadcast to the shape of a table: pools (1, k), then scalars (p, 1)."""
    return [*(pool[None, :] for pool in pools), *(scalar[:, None] for scalar in scalars)]


def _wide_pools(etype: ElementType, tensors: int) -> Sequence[Array]:
    """Values of each tensor: those of `_wide_values`; of several tensors, choices of them."""
    values = _wide_values(etype)
    most = _EVERY_PAIR_OF_8_BITS if etype.width == 8 else _WIDE_ENTRIES
    places = np.array([*spread_choices(len(values), tensors, most)])
    return list(map(np.ascontiguousarray, values[places].T))


def _wide_values(etype: ElementType) -> Array:
    """Every pattern of 8 bits; else special values, quarters or whole numbers about 0, and random ones."""
    bits = bits_type(etype.id)
    if etype.width == 8:
        return np.arange(256, dtype=bits)
    # Quarters of these numbers are exact in every float type.
    divisor = 4 if etype.family == "float" else 1
    lowest = 0 if etype.id.startswith("u") else -_EVERYDAY
    patterns = list(special_patterns(etype))
    for n in range(lowest, _EVERYDAY + 1):
        text = f"{n / divisor:g}"
        patterns.append(int(encode(text, etype)))
    # Raw numbers of 64 bits, whose stream NumPy keeps from version to version; the low bits stay.
    random = np.random.PCG64(_SEED).random_raw(_RANDOM)
    patterns += random.astype(bits).tolist()
    distinct = list(dict.fromkeys(patterns))  # of 16-bit types some occur twice
    return np.array(distinct, bits)


def _calls(tables: Sequence[GrantedTable], covering: int) -> Iterator[SuiteCall]:
    """Every choice with the whole pool, every layout and every length with some of them, and long calls.

    The first `covering` choices of the scalars reach every class.
    """
    special, wide, *used = tables
    size = len(special.pool)
    for pair in range(special.count):
        yield SuiteCall(0, pair, PLAIN, size, 0)
    number = 0  # of a call; calls begin at different places of the pool
    for layout in LAYOUTS[1:]:  # the first is PLAIN, which all other calls have
        length = layout.length or 0
        for turn in range(max(covering, _CALLS_OF_A_LAYOUT)):
            number += 1
            start = _start(number, size)
            yield SuiteCall(0, turn % covering, layout, length, start)
    for length in LENGTHS:
        number += 1
        start = _start(number, size)
        yield SuiteCall(0, number % special.count, PLAIN, length, start)
    # The numbers are the places of the tables, of which `used` may be missing.
    for pair in range(wide.count):
        yield SuiteCall(1, pair, PLAIN, LONG, 0)
    for table in used:
        for pair in range(table.count):
            yield SuiteCall(2, pair, PLAIN, len(table.pool), 0)


def _start(number: int, size: int) -> int:
    """Where in a pool a call begins.

    Knuth's multiplicative hash, as in the plan of the checker: no regularity of the pairs matters.
    """
    hash_ = number * 2654435761 % 2**32
    return hash_ * size >> 32


@cache
def granted(operator: Operator) -> tuple[Granted, ...]:
    """Every latitude with its flag and what it accepts: that of which the YAML has an example."""
    floats = [etype for etype in operator.spec.element_types if etype.family == "float"]
    if not floats:
        return ()  # only floats have latitude
    etype = floats[0]  # whichever: an answer is a zero or a NaN in all of them
    latitudes = []
    for index, entry in enumerate(operator.spec.latitude):
        # A is the other answer in the numbers that show where the latitude applies.
        answer = encode(entry.inhabited_by.texts()["A"], etype)
        latitudes.append(
            Granted(
                flag=1 << index,
                id=entry.id,
                accepts=ANY_NAN if is_nan(answer, etype) else OTHER_ZERO,
                always=entry.always,
                reason=entry.reason,
            )
        )
    return tuple(latitudes)


def flags(
    operator: Operator, etype: ElementType, operands: Sequence[Array], results: Array
) -> Array:
    """The flags of what else is acceptable; arguments are bits, and broadcast to the shape of `results`."""
    also = np.zeros(results.shape, np.uint8)
    if etype.family != "float":
        return also
    dtype = numpy_type(etype.id)
    # Its first bit: the other answer is the expected one with the other sign.
    sign = results.dtype.type(1 << (8 * results.itemsize - 1))
    values = [operand.view(dtype) for operand in operands]
    expected = results.view(dtype)
    answers = {
        OTHER_ZERO: (results ^ sign).view(dtype),
        ANY_NAN: np.full(results.shape, np.nan, dtype),
    }
    accepts = operator.oracle.LATITUDE["float"]
    for latitude in granted(operator):
        answer = answers[latitude.accepts]
        with np.errstate(invalid="ignore"):  # comparing a NaN is no mistake
            accepted = accepts[latitude.id](*values, expected, answer)
            if latitude.accepts == OTHER_ZERO:
                # Of another number the answer is its opposite, and no zero.
                accepted = accepted & (expected == 0)
        also |= np.where(accepted, latitude.flag, 0).astype(np.uint8)
    return also
