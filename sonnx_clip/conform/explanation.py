"""Names the mistake behind a wrong result where the triple shows it: for `campaign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import decode, equal, identical, infinity, is_nan, order_key

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType


def explain_deviation(etype: ElementType, triple: tuple[int, ...], due: int, got: int) -> str | None:
    """The reading or the mistake that gives `got` where `due` is expected; None if none is obvious.

    `triple` is (X, L, M); all values are bit patterns of the element type. Nothing but they decides.
    """
    x, l, m = triple
    if is_nan(got, etype):
        return _nan_out(etype, triple, due)
    if is_nan(x, etype) and is_nan(due, etype):
        return "the NaN of X is dropped: minNum and maxNum of IEEE 754-2008"
    if equal(due, got, etype):
        return "the other one of two equal zeros"
    flushed = "a subnormal number is flushed to zero" if _flushed(etype, due, got) else None
    if identical(got, x) or identical(got, l) or identical(got, m):
        name = next(name for name, given in (("X", x), ("L", l), ("M", m)) if identical(got, given))
        words = f"{name} is returned" + (" although a bound applies" if name == "X" else "")
        return f"{words}, or {flushed}" if flushed else words
    return flushed or _rounded(etype, due, got)


def _nan_out(etype: ElementType, triple: tuple[int, ...], due: int) -> str | None:
    x, l, m = triple
    if is_nan(due, etype):
        return "the payload or the sign of the NaN is lost"
    if is_nan(l, etype) or is_nan(m, etype):
        return "a NaN bound propagates: the semantics of np.minimum and np.maximum"
    if is_nan(x, etype):
        return "the NaN of X propagates although the bounds are inverted, as in min(M, max(X, L))"
    return None


def _flushed(etype: ElementType, due: int, got: int) -> bool:
    if not isinstance(etype.bits, FloatBits):
        return False
    normal = 1 << (etype.bits.significand - 1)
    return order_key(got, etype) == 0 and 0 < abs(int(order_key(due, etype))) < normal


def _rounded(etype: ElementType, due: int, got: int) -> str | None:
    number, found = decode(due, etype), decode(got, etype)
    if isinstance(number, str) or isinstance(found, str):
        return None
    if not isinstance(etype.bits, FloatBits):
        through = int(float(int(number)))
        if through != number and int(found) in (through, _wrapped(through, etype)):
            return "the number went through float64"
        return None
    neighbour = abs(int(order_key(due, etype)) - int(order_key(got, etype)))
    return "rounded: a result of Clip is never computed" if neighbour < infinity(etype.bits) >> 6 else None


def _wrapped(number: int, etype: ElementType) -> int:
    assert etype.width is not None
    return int(order_key(number % (1 << etype.width), etype))
