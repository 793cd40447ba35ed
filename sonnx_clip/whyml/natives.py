"""The symbols that the provers get from SMT-LIB, in NumPy: comparisons, bits, conversions, arithmetic.

Elements of machine types are their bit patterns, in arrays of unsigned integers; reals are float64, and the
samples of them are so few and so round that their sums are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_FLOATS: dict[str, Any] = {
    "Float16": np.float16, "BFloat16": ml_dtypes.bfloat16, "Float32": np.float32, "Float64": np.float64,
}  # fmt: skip
WIDTHS = {"Float16": 16, "BFloat16": 16, "Float32": 32, "Float64": 64}
WIDTHS |= {f"{sign}Int{width}": width for sign in ("", "U") for width in (8, 16, 32, 64)}
UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_SIGNED: dict[int, Any] = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def native_type(module: str, name: str) -> str | None:
    """The type that a module of why3/elements.mlw stands for: ``Float32``, ``Bits8``, ``real``."""
    stem, _, which = module.partition(".")
    if stem != "elements" or name != "t":
        return None
    return "real" if which == "Real" else which


def float_type(of: str) -> Any:
    """The type of NumPy, or of ml_dtypes, that holds the floats of an element type."""
    return _FLOATS[of]


def float_value(a: Any, of: str) -> Any:
    """Patterns as the floats of a type that is no narrower than it and that NumPy compares fast."""
    value = np.asarray(a).view(_FLOATS[of])
    return value.astype(np.float32) if of == "BFloat16" else value


def native(module: str, name: str) -> Callable[..., Any] | None:
    """A symbol that a module leaves to the drivers; None if it is not among them."""
    stem, _, which = module.partition(".")
    if stem == "elements":
        return _of_bits(name, int(which[4:])) if which.startswith("Bits") else _of_floats(name, which)
    if stem == "convert":
        return _of_conversions(name, which[2:])
    if stem == "scale_bias" and which.startswith("Scale"):
        return _of_arithmetic(name, which[5:])
    return None


def _of_floats(name: str, of: str) -> Callable[..., Any] | None:
    def value(a: Any) -> Any:
        return float_value(a, of)

    known: dict[str, Callable[..., Any]] = {
        "nan": lambda a: np.isnan(value(a)),
        "le": lambda a, b: value(a) <= value(b),
        "lt": lambda a, b: value(a) < value(b),
        "eq": lambda a, b: value(a) == value(b),
    }
    return known.get(name)


def _of_bits(name: str, width: int) -> Callable[..., Any] | None:
    unsigned, signed = UNSIGNED[width], _SIGNED[width]

    def s(a: Any) -> Any:
        return np.asarray(a, unsigned).view(signed)

    def shift(a: Any, b: Any) -> Any:
        return (s(a) >> np.minimum(b, unsigned(width - 1)).astype(signed)).view(unsigned)

    known: dict[str, Callable[..., Any]] = {
        "ule": lambda a, b: a <= b,
        "ult": lambda a, b: a < b,
        "sle": lambda a, b: s(a) <= s(b),
        "slt": lambda a, b: s(a) < s(b),
        "bw_and": lambda a, b: a & b,
        "bw_or": lambda a, b: a | b,
        "bw_xor": lambda a, b: a ^ b,
        "bw_add": lambda a, b: np.add(np.asarray(a), np.asarray(b)),
        "bw_sub": lambda a, b: np.subtract(np.asarray(a), np.asarray(b)),
        "bw_ashr": shift,
    }
    return known.get(name)


def _same(a: Any, b: Any) -> Any:
    """Equality of SMT-LIB: identity, but that there is one NaN."""
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))


def _of_conversions(name: str, to: str) -> Callable[..., Any] | None:
    return _to_float(name, to) if to.startswith("Float") else _to_integer(name, to)


def _to_float(name: str, to: str) -> Callable[..., Any] | None:
    def near(b: Any) -> Any:
        return float_value(b, "Float32").astype(_FLOATS[to])

    def wide(r: Any) -> Any:
        return float_value(r, to).astype(np.float64)

    known: dict[str, Callable[..., Any]] = {
        "converts": lambda b, r: _same(near(b), float_value(r, to)),
        "exactly": lambda b, r: _same(float_value(b, "Float32").astype(np.float64), wide(r)),
        "low_half": lambda b: np.asarray(b, np.uint32).astype(np.uint16),
        "in_low_half": lambda b: np.asarray(b, np.uint32).astype(np.uint64),
        "moved_up": lambda a, k: np.where(k < 64, a << np.minimum(k, np.uint64(63)), np.uint64(0)),
    }
    return known.get(name)


def _to_integer(name: str, to: str) -> Callable[..., Any] | None:
    width, unsigned = WIDTHS[to], to.startswith("U")
    low = 0 if unsigned else -(2 ** (width - 1))
    high = low + 2**width - 1

    def number(r: Any) -> Any:
        bits = np.asarray(r, UNSIGNED[width])
        return (bits if unsigned else bits.view(_SIGNED[width])).astype(object)

    def truncated(b: Any) -> Any:
        value = np.trunc(float_value(b, "Float32")).astype(np.float64)
        inside = (value >= low) & (value <= high) & (value < 2.0 ** (width - (0 if unsigned else 1)))
        return np.where(inside, value, np.nan)

    def to_bits(b: Any) -> Any:
        whole = truncated(b)
        kept = np.where(np.isnan(whole), 0.0, whole)
        return kept.astype(np.uint64 if unsigned else np.int64).astype(UNSIGNED[width])

    def compare(b: Any, r: Any, sign: int) -> Any:
        value = float_value(b, "Float32").astype(np.float64)
        edge = np.ceil(value) if sign < 0 else np.floor(value)
        finite = np.isfinite(edge)
        exact = np.where(finite, edge, 0.0).astype(object)
        exact = np.frompyfunc(int, 1, 1)(exact)
        below = exact <= number(r) if sign < 0 else exact >= number(r)
        limit = value < 0 if sign < 0 else value > 0
        return np.where(finite, below.astype(bool), limit & ~np.isnan(value)).astype(bool)

    known: dict[str, Callable[..., Any]] = {
        "converts": lambda b, r: ~np.isnan(truncated(b)) & (to_bits(b) == np.asarray(r, UNSIGNED[width])),
        "truncated": to_bits,
        "whole": lambda b: _same(np.trunc(float_value(b, "Float32")), float_value(b, "Float32")),
        "not_above": lambda b, r: compare(b, r, -1),
        "not_below": lambda b, r: compare(b, r, 1),
    }
    return known.get(name)


def _of_arithmetic(name: str, of: str) -> Callable[..., Any] | None:
    wide = np.float64  # holds products and sums of binary16 exactly, and products of binary32
    narrow, of_wide = _FLOATS[of], "Float32" if of == "Float16" else "Float64"

    def value(a: Any) -> Any:
        return float_value(a, of).astype(wide)

    def w(a: Any) -> Any:
        return float_value(a, of_wide)

    # |p - r| <= 2^-11 |p| or 2^-25 for binary16, 2^-24 |p| or 2^-150 for binary32
    relative, absolute = (2.0**-11, 2.0**-25) if of == "Float16" else (2.0**-24, 2.0**-150)

    def within(p: Any, r: Any) -> Any:
        with np.errstate(all="ignore"):
            off = np.abs(w(p).astype(wide) - value(r))
            return (off <= np.abs(w(p).astype(wide)) * relative) | (off <= absolute)

    def rounds(exact: Any, r: Any) -> Any:
        return _same(exact.astype(narrow), float_value(r, of))

    known: dict[str, Callable[..., Any]] = {
        "product": lambda a, b, p: rounds(value(a) * value(b), p),
        "sum": lambda a, b, s: _same(float_value(a, of) + float_value(b, of), float_value(s, of)),
        "fused": lambda a, b, c, s: rounds(value(a) * value(b) + value(c), s),
        "exact_product": lambda a, b: _exact_product(value(a), value(b), of_wide),
        "rounded": lambda p, r: rounds(w(p), r),
        "within_half_unit": within,
        "finite": lambda r: np.isfinite(float_value(r, of)),
    }
    return known.get(name)


def _exact_product(a: Any, b: Any, of_wide: str) -> Any:
    """Whether the product needs no rounding in the wide type: it is there as it is, or it is no number."""
    exact = a * b
    return _same(exact.astype(_FLOATS[of_wide]).astype(np.float64), exact)
