"""The exported page ops/clip.md in Python, by a reader who had the page alone; its tags are the names.

It imports nothing of the project. What the page says of shapes and of equal types is left out: vectors are
single entries. A test compares `QUOTED`, what was transcribed, with the page.
"""

from fractions import Fraction

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
    r"$A[i]$ conforms if $A[i] \equiv Y[i]$ or in one of the following cases. No other result conforms.",
    r"if $\lnot (M \lt_{(\text{f})} L) \land Y[i] =_{(\text{f})} 0$, each",
    r"each $A[i]$ with $A[i] =_{(\text{f})} 0 \land ",
    r"(A[i] \equiv X[i] \lor X[i] \le_{(\text{f})} L \land A[i] \equiv M)$ conforms.",
    r"if $Y[i] \text{ is NaN}$, each $A[i]$ with $A[i] \text{ is NaN}$ conforms.",
    r"if $X[i] \text{ is NaN} \land M \lt_{(\text{f})} L$, each $A[i]$ with",
    r"$M \lt_{(\text{f})} L \lor (\forall i \colon",
    r"\lnot (X[i] \text{ is NaN}) \land \lnot (L \text{ is NaN}) \land ",
    r"\lnot (M \text{ is NaN})) \lor (\forall i \colon M \le_{(\text{f})} X[i])$, then ",
    r"$(\forall i \colon L \le_{(\text{f})} Y[i] \land Y[i] \le_{(\text{f})} M)",
    r" \lor (\forall i \colon Y[i] =_{(\text{f})} M)$.",
    r"Statement: $(\forall i \colon L \le Y[i] \land Y[i] \le M) \lor (\forall i \colon Y[i] = M)$.",
)  # fmt: skip


# ------------------------------------------------------------------ cases


def choose(cases):
    """'For any operands exactly one of the conditions holds.'"""
    held = [value for value, condition in cases if condition]
    assert len(held) == 1, cases
    return held[0]


# ------------------------------------------------------------------ real


# [E_CLIP_REAL_FUNC_0010]
def E_CLIP_REAL_FUNC_0010(X_i, L, M):
    return choose(
        [
            (M, M < L),
            (L, (not (M < L)) and X_i <= L),
            (M, (not (M < L)) and (not (X_i <= L)) and M <= X_i),
            (X_i, (not (M < L)) and (not (X_i <= L)) and (not (M <= X_i))),
        ]
    )


# [E_CLIP_REAL_CONSTR_Y_0020]
def E_CLIP_REAL_CONSTR_Y_0020(Y, L, M):
    return all(L <= Y_i and Y_i <= M for Y_i in Y) or all(Y_i == M for Y_i in Y)


# ------------------------------------------------------------------ float

# exponent bits, fraction bits; of bfloat16 as the page has them, of the others as IEEE 754
FLOAT_TYPES = {
    "float16": (5, 10),
    "bfloat16": (8, 7),
    "float32": (8, 23),
    "float64": (11, 52),
}


class Float:
    """One entry: its type and its bits."""

    def __init__(self, element_type, bits):
        e, f = FLOAT_TYPES[element_type]
        assert 0 <= bits < 1 << (1 + e + f)
        self.element_type = element_type
        self.bits = bits
        sign = bits >> (e + f)
        exponent = (bits >> f) & ((1 << e) - 1)
        fraction = bits & ((1 << f) - 1)
        bias = (1 << (e - 1)) - 1
        self.nan = exponent == (1 << e) - 1 and fraction != 0
        self.infinite = exponent == (1 << e) - 1 and fraction == 0
        if self.nan:
            self.key = None
        elif self.infinite:
            self.key = (-1 if sign else 1, Fraction(0))
        else:
            if exponent == 0:
                magnitude = Fraction(fraction, 1 << f) * Fraction(2) ** (1 - bias)
            else:
                magnitude = (1 + Fraction(fraction, 1 << f)) * Fraction(2) ** (exponent - bias)
            # -0 and +0 have the same key: they are equal
            self.key = (0, -magnitude if sign else magnitude)


def is_NaN(a):
    return a.nan


# <_(f), false where an operand is NaN
def lt_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key < b.key


# <=_(f), false where an operand is NaN
def le_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key <= b.key


# =_(f), false where an operand is NaN
def eq_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key == b.key


# a and b have the same bits
def same_bits(a, b):
    return a.element_type == b.element_type and a.bits == b.bits


# [E_CLIP_FLOAT_FUNC_0010]
def E_CLIP_FLOAT_FUNC_0010(X_i, L, M):
    return choose(
        [
            (M, lt_f(M, L)),
            (L, (not lt_f(M, L)) and le_f(X_i, L)),
            (M, (not lt_f(M, L)) and (not le_f(X_i, L)) and le_f(M, X_i)),
            (X_i, (not lt_f(M, L)) and (not le_f(X_i, L)) and (not le_f(M, X_i))),
        ]
    )


# [E_CLIP_FLOAT_FUNC_0020], first case; "and" binds more tightly than "or"
def E_CLIP_FLOAT_FUNC_0020_case_1(X_i, L, M, Y_i, A_i):
    zero = Float(A_i.element_type, 0)
    if (not lt_f(M, L)) and eq_f(Y_i, zero):
        return eq_f(A_i, zero) and (same_bits(A_i, X_i) or (le_f(X_i, L) and same_bits(A_i, M)))
    return False


# [E_CLIP_FLOAT_FUNC_0020], second case
def E_CLIP_FLOAT_FUNC_0020_case_2(X_i, L, M, Y_i, A_i):
    if is_NaN(Y_i):
        return is_NaN(A_i)
    return False


# [E_CLIP_FLOAT_FUNC_0020], third case
def E_CLIP_FLOAT_FUNC_0020_case_3(X_i, L, M, Y_i, A_i):
    if is_NaN(X_i) and lt_f(M, L):
        return is_NaN(A_i)
    return False


# [E_CLIP_FLOAT_FUNC_0020]
def E_CLIP_FLOAT_FUNC_0020(X_i, L, M, A_i):
    Y_i = E_CLIP_FLOAT_FUNC_0010(X_i, L, M)
    return (
        same_bits(A_i, Y_i)
        or E_CLIP_FLOAT_FUNC_0020_case_1(X_i, L, M, Y_i, A_i)
        or E_CLIP_FLOAT_FUNC_0020_case_2(X_i, L, M, Y_i, A_i)
        or E_CLIP_FLOAT_FUNC_0020_case_3(X_i, L, M, Y_i, A_i)
    )


# [E_CLIP_FLOAT_CONSTR_Y_0020], where this holds ...
def E_CLIP_FLOAT_CONSTR_Y_0020_where(X, L, M):
    return (
        lt_f(M, L)
        or all((not is_NaN(X_i)) and (not is_NaN(L)) and (not is_NaN(M)) for X_i in X)
        or all(le_f(M, X_i) for X_i in X)
    )


# [E_CLIP_FLOAT_CONSTR_Y_0020], ... this
def E_CLIP_FLOAT_CONSTR_Y_0020_then(Y, L, M):
    return all(le_f(L, Y_i) and le_f(Y_i, M) for Y_i in Y) or all(eq_f(Y_i, M) for Y_i in Y)


# [E_CLIP_FLOAT_CONSTR_Y_0020], (Y as defined by E_CLIP_FLOAT_FUNC_0010)
def E_CLIP_FLOAT_CONSTR_Y_0020(X, L, M):
    Y = [E_CLIP_FLOAT_FUNC_0010(X_i, L, M) for X_i in X]
    if E_CLIP_FLOAT_CONSTR_Y_0020_where(X, L, M):
        return E_CLIP_FLOAT_CONSTR_Y_0020_then(Y, L, M)
    return True


# ------------------------------------------------------------------ int

# signed, width
INT_TYPES = {
    "int8": (True, 8),
    "int16": (True, 16),
    "int32": (True, 32),
    "int64": (True, 64),
    "uint8": (False, 8),
    "uint16": (False, 16),
    "uint32": (False, 32),
    "uint64": (False, 64),
}


# the number that an integer represents, in two's complement if signed
def number(element_type, bits):
    signed, width = INT_TYPES[element_type]
    assert 0 <= bits < 1 << width
    if signed and bits >> (width - 1):
        return bits - (1 << width)
    return bits


# [E_CLIP_INT_FUNC_0010]
def E_CLIP_INT_FUNC_0010(X_i, L, M):
    return choose(
        [
            (M, M < L),
            (L, (not (M < L)) and X_i <= L),
            (M, (not (M < L)) and (not (X_i <= L)) and M <= X_i),
            (X_i, (not (M < L)) and (not (X_i <= L)) and (not (M <= X_i))),
        ]
    )


# [E_CLIP_INT_CONSTR_Y_0020]
def E_CLIP_INT_CONSTR_Y_0020(Y, L, M):
    return all(L <= Y_i and Y_i <= M for Y_i in Y) or all(Y_i == M for Y_i in Y)


# ------------------------------------------------------------------ interface

NAMES = {"float": "float32", "double": "float64"}


def result(element_type: str, x: int, l: int, m: int) -> int:
    t = NAMES.get(element_type, element_type)
    if t in FLOAT_TYPES:
        return E_CLIP_FLOAT_FUNC_0010(Float(t, x), Float(t, l), Float(t, m)).bits
    _, width = INT_TYPES[t]
    return E_CLIP_INT_FUNC_0010(number(t, x), number(t, l), number(t, m)) & ((1 << width) - 1)


def conforming(element_type: str, x: int, l: int, m: int, y: int) -> bool:
    t = NAMES.get(element_type, element_type)
    if t in FLOAT_TYPES:
        return E_CLIP_FLOAT_FUNC_0020(Float(t, x), Float(t, l), Float(t, m), Float(t, y))
    number(t, y)  # y must be bits of the type
    return y == result(t, x, l, m)


def real_result(x: Fraction, l: Fraction, m: Fraction) -> Fraction:
    return E_CLIP_REAL_FUNC_0010(x, l, m)
