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


def result_by(lt, le, X_i, L, M):
    """The FUNC_0010 of a family, whose comparisons are given: exactly one of the conditions holds."""
    cases = [
        (M, lt(M, L)),
        (L, (not lt(M, L)) and le(X_i, L)),
        (M, (not lt(M, L)) and (not le(X_i, L)) and le(M, X_i)),
        (X_i, (not lt(M, L)) and (not le(X_i, L)) and (not le(M, X_i))),
    ]
    held = [value for value, condition in cases if condition]
    assert len(held) == 1, cases
    return held[0]


# --- real and int -------------------------------------------------------------------------------------------


def E_CLIP_REAL_FUNC_0010(X_i, L, M):
    return result_by(lambda a, b: a < b, lambda a, b: a <= b, X_i, L, M)


def E_CLIP_REAL_CONSTR_Y_0020(Y, L, M):
    return all(L <= Y_i and Y_i <= M for Y_i in Y) or all(Y_i == M for Y_i in Y)


E_CLIP_INT_FUNC_0010 = E_CLIP_REAL_FUNC_0010  # the page has the same formulas

INT_TYPES = {
    f"{sign}int{width}": (not sign, width) for sign in ("", "u") for width in (8, 16, 32, 64)
}


def number(element_type, bits):
    """The number that an integer represents, in two's complement if signed."""
    signed, width = INT_TYPES[element_type]
    assert 0 <= bits < 1 << width
    return bits - (1 << width) if signed and bits >> (width - 1) else bits


# --- float --------------------------------------------------------------------------------------------------

# exponent bits, fraction bits; of bfloat16 as the page has them, of the others as IEEE 754
FLOAT_TYPES = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}


class Float:
    """One entry: its type, its bits, and a key by which numbers and infinities compare; None for NaN."""

    def __init__(self, element_type, bits):
        e, f = FLOAT_TYPES[element_type]
        assert 0 <= bits < 1 << (1 + e + f)
        self.element_type, self.bits = element_type, bits
        sign, exponent, fraction = (
            bits >> (e + f),
            (bits >> f) & ((1 << e) - 1),
            bits & ((1 << f) - 1),
        )
        bias = (1 << (e - 1)) - 1
        if exponent == (1 << e) - 1:
            self.key = None if fraction else (-1 if sign else 1, Fraction(0))
        else:
            leading = int(exponent > 0)
            magnitude = (leading + Fraction(fraction, 1 << f)) * Fraction(2) ** (
                max(exponent, 1) - bias
            )
            self.key = (
                0,
                -magnitude if sign else magnitude,
            )  # of -0 and +0 the same: they are equal


def is_NaN(a):
    return a.key is None


# <_(f), <=_(f), =_(f): false where an operand is NaN
def lt_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key < b.key


def le_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key <= b.key


def eq_f(a, b):
    return (not is_NaN(a)) and (not is_NaN(b)) and a.key == b.key


def same_bits(a, b):
    return a.element_type == b.element_type and a.bits == b.bits


def E_CLIP_FLOAT_FUNC_0010(X_i, L, M):
    return result_by(lt_f, le_f, X_i, L, M)


def E_CLIP_FLOAT_FUNC_0020(X_i, L, M, A_i):
    """Whether A_i conforms; "and" binds more tightly than "or"."""
    Y_i, zero = E_CLIP_FLOAT_FUNC_0010(X_i, L, M), Float(A_i.element_type, 0)
    may_be_other_zero = (not lt_f(M, L)) and eq_f(Y_i, zero)
    is_other_zero = eq_f(A_i, zero) and (
        same_bits(A_i, X_i) or (le_f(X_i, L) and same_bits(A_i, M))
    )
    return (
        same_bits(A_i, Y_i)
        or (may_be_other_zero and is_other_zero)
        or (is_NaN(Y_i) and is_NaN(A_i))
        or (is_NaN(X_i) and lt_f(M, L) and is_NaN(A_i))
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


# --- What the tests call ------------------------------------------------------------------------------------


def result(element_type, x, l, m):
    if element_type in FLOAT_TYPES:
        return E_CLIP_FLOAT_FUNC_0010(*(Float(element_type, bits) for bits in (x, l, m))).bits
    found = E_CLIP_INT_FUNC_0010(*(number(element_type, bits) for bits in (x, l, m)))
    return found & ((1 << INT_TYPES[element_type][1]) - 1)


def conforming(element_type, x, l, m, y):
    if element_type in FLOAT_TYPES:
        return E_CLIP_FLOAT_FUNC_0020(*(Float(element_type, bits) for bits in (x, l, m, y)))
    number(element_type, y)  # y must be bits of the type
    return y == result(element_type, x, l, m)
