"""Sweeps one slice: compares every result with the expected one."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.dtypes import bits_type, numpy_type
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.spec import evaluator, load_spec
from sonnx_clip.sweep import slices as sweeps
from sonnx_clip.sweep.tables import OrderTable, SweepFindings, check, checker, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.sweep.slices import Slice
    from sonnx_clip.sweep.subjects import SweepSubject

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
