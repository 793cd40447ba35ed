"""Sweeps one slice: compares every result with the expected one, by tables of ranks from exact rational
numbers, in a C program.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import decode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.c import compiler
from sonnx_clip.oracle.c_build import built_file
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.sweep import slices as sweeps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from fractions import Fraction

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.sweep.slices import Slice, SweepSubject


CHECK = Path(__file__).with_name("check.c")

_SCALE = 1 << 300  # makes an integer of every number of the 8- and 16-bit types
_INFINITE = _SCALE << 300


@dataclass(frozen=True)
class OrderTable:
    """The order of an element type of 8 or 16 bits.

    Args:
        rank: for each pattern, how many smaller numbers there are; both zeros are alike. int32, (2**width,).
        number: for each pattern, 0 if it is a NaN, else 1. int32, (2**width,).
    """

    rank: Array
    number: Array


@cache
def table_of(etype: ElementType) -> OrderTable:
    """The table of an element type of 8 or 16 bits; ValueError for any other."""
    if etype.width not in (8, 16):
        raise ValueError(f"{etype.id} is not swept: its patterns are too many")
    keys = [_key(decode(pattern, etype)) for pattern in range(1 << etype.width)]
    ranks = {key: rank for rank, key in enumerate(sorted({key for key in keys if key is not None}))}
    rank = np.array([0 if key is None else ranks[key] for key in keys], np.int32)
    return OrderTable(rank, np.array([key is not None for key in keys], np.int32))


def _key(value: Fraction | str) -> int | None:
    """An integer in the order of the numbers; None for NaN."""
    if isinstance(value, str):
        return {"nan": None, "inf": _INFINITE, "-inf": -_INFINITE}[value]
    scaled = value * _SCALE
    if scaled.denominator != 1:
        raise AssertionError(f"{value} is no number of a 16-bit type")
    return int(scaled)


class SweepFindings(ctypes.Structure):
    """How many results are wrong, and the first of them: X, min, max and the result, in bits."""

    _fields_ = (
        ("wrong", ctypes.c_uint64),
        ("x", ctypes.c_uint32),
        ("min", ctypes.c_uint32),
        ("max", ctypes.c_uint32),
        ("got", ctypes.c_uint32),
    )


@cache
def check_file() -> Path:
    """The compiled check.c; UserError if there is no compiler."""
    return built_file(compiler(), (CHECK,))


@cache
def checker() -> ctypes.CDLL:
    """The functions of check.c."""
    library = ctypes.CDLL(str(check_file()))
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    found = ctypes.POINTER(SweepFindings)
    library.sweep_check.argtypes = (pointer, pointer, pointer, number, number, number, found)
    library.sweep_bounds.argtypes = (
        pointer, pointer, pointer, ctypes.c_int, number, number, number, number, found,
    )  # fmt: skip
    library.sweep_check.restype = library.sweep_bounds.restype = None
    return library


def check(table: OrderTable, y: Array, lower: int, upper: int, findings: SweepFindings) -> None:
    """Compare the results for every X under one pair of bounds.

    Args:
        table: of the element type.
        y: the bits of the results, uint16, shape (2**width,).
        lower: the bits of min.
        upper: the bits of max.
        findings: what is wrong is added to it.
    """
    if y.dtype != np.uint16 or y.shape != table.rank.shape or not y.flags.c_contiguous:
        raise ValueError("the results are not those of every X, as uint16")
    address: Any = y.ctypes.data
    checker().sweep_check(
        table.rank.ctypes.data, table.number.ctypes.data, address, y.size, lower, upper, findings
    )


# --- Sweeps one slice: compares every result with the expected one ------------------------------------------


_POISON = (0x5A, 0xA5)  # what is not written is not taken for the result of the call before


@dataclass(frozen=True)
class Swept:
    """The result of a slice, or of many.

    Args:
        compared: results that were compared.
        wrong: those that differ from what is expected.
        first: X, min, max and the result, in bits, of the first wrong one; empty if none is.
    """

    compared: int
    wrong: int = 0
    first: tuple[int, ...] = ()

    def __add__(self, other: Swept) -> Swept:
        """Both together."""
        return Swept(self.compared + other.compared, self.wrong + other.wrong, self.first or other.first)


def run_slice(subject: SweepSubject, part: Slice) -> Swept:
    """Sweep a slice."""
    etype = load_spec().element_type(part.etype)
    if part.sweep == sweeps.TABLE:
        return Swept(*table_disagreements(etype))
    if part.sweep == sweeps.BOUNDS:
        return _all_bounds(subject, etype, part)
    if part.sweep == sweeps.SPECIAL_BOUND:
        return _few(subject, etype, _pairs(etype, part))
    return _every_x(subject, etype, _pairs(etype, part))


def _pairs(etype: ElementType, part: Slice) -> Iterable[tuple[int, int]]:
    """The bounds of a slice."""
    varying = range(part.start, part.stop)
    if part.sweep == sweeps.TRIPLES:
        return product(varying, range(256))
    if part.sweep == sweeps.SPECIAL:
        special = special_patterns(etype)
        return product(special, special)
    if part.side == "max":
        return ((lower, part.fixed) for lower in varying)
    return ((part.fixed, upper) for upper in varying)


def _every_x(subject: SweepSubject, etype: ElementType, pairs: Iterable[tuple[int, int]]) -> Swept:
    table, call, found = table_of(etype), subject.open(etype.id), SweepFindings()
    x = np.arange(table.rank.size).astype(bits_type(etype.id))
    y, compared = np.empty_like(x), 0
    for number, (lower, upper) in enumerate(pairs):
        y.view(np.uint8).fill(_POISON[number % 2])
        call(x, lower, upper, y)
        check(table, y.astype(np.uint16, copy=False), lower, upper, found)
        compared += x.size
    return _result(compared, found)


def _few(subject: SweepSubject, etype: ElementType, pairs: Iterable[tuple[int, int]]) -> Swept:
    """Three X, for an implementation that takes its time with each call."""
    table, call = table_of(etype), subject.open(etype.id)
    first, last = sweeps.three(etype)
    bounds = np.array([*pairs], np.uint16)
    x = np.stack([np.full(len(bounds), first), bounds[:, 0], np.full(len(bounds), last)], 1).astype(np.uint16)
    y = np.empty_like(x)
    for number, (lower, upper) in enumerate(bounds.tolist()):
        y[number].fill(257 * _POISON[number % 2])
        call(x[number], lower, upper, y[number])
    wrong = np.argwhere(y != due_of(table, x, bounds[:, :1], bounds[:, 1:]))
    if not len(wrong):
        return Swept(y.size)
    i, k = wrong[0].tolist()
    return Swept(y.size, len(wrong), (int(x[i, k]), *bounds[i].tolist(), int(y[i, k])))


def due_of(table: OrderTable, x: Array, lower: Array, upper: Array) -> Array:
    """What is expected, in bits, by ranks; the operands are bits of shapes that broadcast."""

    def numbers(a: Array, b: Array) -> Array:
        return (table.number[a] & table.number[b]).astype(bool)

    inverted = numbers(lower, upper) & (table.rank[upper] < table.rank[lower])
    low = numbers(x, lower) & (table.rank[x] <= table.rank[lower])
    high = numbers(x, upper) & (table.rank[upper] <= table.rank[x])
    return np.where(inverted, upper, np.where(low, lower, np.where(high, upper, x)))


def _all_bounds(subject: SweepSubject, etype: ElementType, part: Slice) -> Swept:
    if subject.pointer is None:
        raise ValueError(f"{subject.name} is no C function")
    table, found = table_of(etype), SweepFindings()
    signed = etype.family == "int" and etype.id.startswith("int")
    checker().sweep_bounds(
        table.rank.ctypes.data, table.number.ctypes.data, subject.pointer(etype.id), int(signed),
        part.start, part.stop, *sweeps.three(etype), ctypes.byref(found),
    )  # fmt: skip
    return _result(3 * (part.stop - part.start) * table.rank.size, found)


def _result(compared: int, found: SweepFindings) -> Swept:
    first = (found.x, found.min, found.max, found.got) if found.wrong else ()
    return Swept(compared, found.wrong, first)


def table_disagreements(etype: ElementType) -> tuple[int, int]:
    """The table against the generated oracle and the evaluator: results compared, and those that differ.

    Every X under every pair of special bounds by the oracle; special triples by the evaluator, which computes
    with exact integers.
    """
    table, dtype = table_of(etype), numpy_type(etype.id)
    every = np.arange(table.rank.size)
    values = every.astype(bits_type(etype.id)).view(dtype)
    compared = differ = 0
    for lower, upper in product(special_patterns(etype), repeat=2):
        due = due_of(table, every, np.array(lower), np.array(upper))
        oracle = load_oracle().clip(values, values[lower, ...], values[upper, ...])
        differ += int(np.count_nonzero(due != oracle.view(bits_type(etype.id))))
        compared += every.size
    for triple, exact in _exact(etype):
        due = due_of(table, *(np.array(bits) for bits in triple))
        differ += int(due) != exact
        compared += 1
    return compared, differ


def _exact(etype: ElementType) -> Iterator[tuple[tuple[int, int, int], int]]:
    evaluate = evaluator(load_spec(), etype)
    triples = list(product(special_patterns(etype), repeat=3))
    for x, lower, upper in triples[:: max(1, len(triples) // 2000)]:
        yield (x, lower, upper), int(evaluate.result(x, lower, upper))
