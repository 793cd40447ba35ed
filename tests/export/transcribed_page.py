"""The exported page ops/clip.md in Python: each function is the text behind the tag of its name.

It imports nothing of the project. A test compares `QUOTED`, what was transcribed, with the page.
A value is a bit pattern of an element type, or a Fraction of the reals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

Number: TypeAlias = Fraction | float
"""A number; a float is one of the infinities."""


class ElementType(Protocol):
    """How the patterns of a type are read: as a number, or as None, which is a NaN."""

    def value(self, bits: int) -> Number | None: ...


@dataclass(frozen=True)
class Floats:
    """A binary format of IEEE 754, by its bits of exponent and of fraction."""

    exponent: int
    fraction: int

    def value(self, bits: int) -> Number | None:
        fraction = bits & ((1 << self.fraction) - 1)
        exponent = (bits >> self.fraction) & ((1 << self.exponent) - 1)
        sign = -1 if bits >> (self.fraction + self.exponent) else 1
        least = 2 - (1 << (self.exponent - 1))  # the exponent of subnormal numbers
        if exponent == (1 << self.exponent) - 1:
            return None if fraction else sign * math.inf
        hidden = (1 << self.fraction) if exponent else 0
        scale = Fraction(2) ** (least + max(exponent, 1) - 1 - self.fraction)
        return sign * (hidden + fraction) * scale


@dataclass(frozen=True)
class Integers:
    """Two's complement, or unsigned."""

    width: int
    signed: bool

    def value(self, bits: int) -> Number | None:
        return Fraction(bits - (1 << self.width) if self.signed and bits >> (self.width - 1) else bits)


TYPES: dict[str, ElementType] = {
    "float16": Floats(5, 10), "bfloat16": Floats(8, 7), "float": Floats(8, 23), "double": Floats(11, 52),
    **{f"int{width}": Integers(width, signed=True) for width in (8, 16, 32, 64)},
    **{f"uint{width}": Integers(width, signed=False) for width in (8, 16, 32, 64)},
}  # fmt: skip


QUOTED = (
    r"M & \text{if } M \lt L \\",
    r"L & \text{if } \lnot (M \lt L) \land X[i] \le L \\",
    r"M & \text{if } \lnot (M \lt L) \land \lnot (X[i] \le L) \land M \le X[i] \\",
    r"X[i] & \text{if } \lnot (M \lt L) \land \lnot (X[i] \le L) \land \lnot (M \le X[i])",
    r"M & \text{if } M \lt_{(\text{f})} L \\",
    r"L & \text{if } \lnot (M \lt_{(\text{f})} L) \land X[i] \le_{(\text{f})} L \\",
    r"M & \text{if } \lnot (M \lt_{(\text{f})} L) \land ",
    r"\lnot (X[i] \le_{(\text{f})} L) \land M \le_{(\text{f})} X[i] \\",
    r"X[i] & \text{if } \lnot (M \lt_{(\text{f})} L) \land ",
    r"\lnot (X[i] \le_{(\text{f})} L) \land \lnot (M \le_{(\text{f})} X[i])",
    r"the result $A[i] \equiv Y[i]$ conforms, and so does each $A[i]$ of the following cases; ",
    r"every other result does not conform.",
    r"where $\lnot (M \lt_{(\text{f})} L) \land Y[i] =_{(\text{f})} 0$, each",
    r"each $A[i]$ with $A[i] =_{(\text{f})} 0 \land ",
    r"(A[i] \equiv X[i] \lor X[i] \le_{(\text{f})} L \land A[i] \equiv M)$ conforms.",
    r"where $Y[i] \text{ is NaN}$, each $A[i]$ with $A[i] \text{ is NaN}$ conforms.",
    r"where $X[i] \text{ is NaN} \land M \lt_{(\text{f})} L$, each $A[i]$ with",
    r"$M \lt_{(\text{f})} L \lor (\forall i \colon",
    r"\lnot (X[i] \text{ is NaN}) \land \lnot (L \text{ is NaN}) \land ",
    r"\lnot (M \text{ is NaN})) \lor (\forall i \colon M \le_{(\text{f})} X[i])$ holds, ",
    r"$(\forall i \colon L \le_{(\text{f})} Y[i] \land Y[i] \le_{(\text{f})} M)",
    r" \lor (\forall i \colon Y[i] =_{(\text{f})} M)$.",
    r"Statement: $(\forall i \colon L \le Y[i] \land Y[i] \le M) \lor (\forall i \colon Y[i] = M)$.",
)  # fmt: skip


# --- Real -------------------------------------------------------------------------------------------------


def e_clip_real_func_0010(x: Fraction, l: Fraction, m: Fraction) -> Fraction:
    """Y[i] by its cases, exactly one of whose conditions holds."""
    cases = [
        (m, m < l),
        (l, not (m < l) and x <= l),
        (m, not (m < l) and not (x <= l) and m <= x),
        (x, not (m < l) and not (x <= l) and not (m <= x)),
    ]
    (result,) = (result for result, condition in cases if condition)
    return result


# --- Float and int: the formulas are the same, and the comparisons are those of the type ------------------


def lt(a: Number | None, b: Number | None) -> bool:
    """Less than: false where an operand is NaN."""
    return a is not None and b is not None and a < b


def le(a: Number | None, b: Number | None) -> bool:
    """Less than or equal: false where an operand is NaN."""
    return a is not None and b is not None and a <= b


def eq(a: Number | None, b: Number | None) -> bool:
    """Equal: false where an operand is NaN; -0 equals +0."""
    return a is not None and b is not None and a == b


def e_clip_func_0010(of: ElementType, x: int, l: int, m: int) -> int:
    """E_CLIP_FLOAT_FUNC_0010 and E_CLIP_INT_FUNC_0010: the result is an operand, bit for bit."""
    xv, lv, mv = (of.value(bits) for bits in (x, l, m))
    cases = [
        (m, lt(mv, lv)),
        (l, not lt(mv, lv) and le(xv, lv)),
        (m, not lt(mv, lv) and not le(xv, lv) and le(mv, xv)),
        (x, not lt(mv, lv) and not le(xv, lv) and not le(mv, xv)),
    ]
    (result,) = (result for result, condition in cases if condition)
    return result


def e_clip_float_func_0020(of: ElementType, x: int, l: int, m: int, a: int) -> bool:
    """Whether a result A[i] conforms."""
    y = e_clip_func_0010(of, x, l, m)
    xv, lv, mv, yv, av = (of.value(bits) for bits in (x, l, m, y, a))
    return (
        a == y
        or (
            not lt(mv, lv)
            and eq(yv, Fraction(0))
            and eq(av, Fraction(0))
            and (a == x or (le(xv, lv) and a == m))
        )
        or (yv is None and av is None)
        or (xv is None and lt(mv, lv) and av is None)
    )


def e_clip_constr_y_0020(of: ElementType, entries: list[int], l: int, m: int) -> bool:
    """Interval consistency of the tensor Y of E_CLIP_…_FUNC_0010, with its condition for floats."""
    lv, mv, xs = of.value(l), of.value(m), [of.value(x) for x in entries]
    ys = [of.value(e_clip_func_0010(of, x, l, m)) for x in entries]
    condition = (
        lt(mv, lv)
        or all(xv is not None and lv is not None and mv is not None for xv in xs)
        or all(le(mv, xv) for xv in xs)
    )
    holds = all(le(lv, yv) and le(yv, mv) for yv in ys) or all(eq(yv, mv) for yv in ys)
    return holds or not condition
