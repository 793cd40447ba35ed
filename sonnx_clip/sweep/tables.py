"""Tables of ranks, from exact rational numbers, and the C program that compares by them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language.values import decode
from sonnx_clip.oracle.c import compiler
from sonnx_clip.oracle.c_build import built_file

if TYPE_CHECKING:
    from fractions import Fraction

    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.language.types import ElementType

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
