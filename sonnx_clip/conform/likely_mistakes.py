"""What explains wrong results: the mistake behind one, where the triple shows it, and what compilers and
processors make of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.language.types import FloatBits, IntegerBits
from sonnx_clip.language.values import (
    decode,
    equal,
    float_bits,
    identical,
    infinity,
    is_nan,
    order_key,
    quiet_bit,
    sign_bit,
)
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
    flushed = "a subnormal number is flushed to zero" if _is_flushed(etype, due, got) else None
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


def _is_flushed(etype: ElementType, due: int, got: int) -> bool:
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


# --- What implementations compute where no reading of Clip allows their answers -----------------------------
#
# Two kinds of explanations are tried on all answers that were kept, each alone and both together. A *formula*
# is a maximum and a minimum, one after the other, each in the way of a ternary in C, of SSE (which returns
# the second operand in doubt) or of Arm (FMAX, FMAXNM; C's ``fmax`` does otherwise). A *change* is what
# becomes of X, L and M first: subnormal numbers flushed, or the way through a narrower type. Both are habits
# of compilers and processors, and no definition of Clip: no text is quoted for them, and nothing is proved of
# them.


Triple: TypeAlias = "tuple[Array, ...]"  # three
Allows: TypeAlias = "Callable[[Array, Array, Array, Array], Array]"
End: TypeAlias = Literal["max", "min"]

_SAMPLE = 2000  # answers by which most explanations are ruled out
_CAPITALS = " (capitals: instructions of Arm)"
PAYLOADS = ", but for the sign and the payload of NaNs"
BUT_OF_RANK_0 = ", where X is not of rank 0"


@dataclass(frozen=True)
class OperandChange:
    """What becomes of each operand before anything is compared.

    Args:
        words: as a report says it.
        of: an array of an element type -> an array of the same type and shape.
    """

    words: str
    of: Callable[[Array], Array]


@dataclass(frozen=True)
class Formula:
    """A way to compute Clip.

    Args:
        text: in C, with X, L and M, or with the names of Arm's instructions, which are in capitals.
        of: X, L and M, of one type and shape -> the result.
    """

    text: str
    of: Callable[[Array, Array, Array], Array]


def explained(
    etype: ElementType, triple: Triple, got: Array, readings: Mapping[str, Allows], sample: int = _SAMPLE
) -> str | None:
    """What all the answers are, if a formula or a change is found that gives each of them; else None.

    Args:
        etype: the element type.
        triple: X, L and M of each answer, each of shape (n,), of its NumPy type.
        got: the answers, of the same shape and type.
        readings: by id, whether a reading allows Y for X, L and M; asked after a change.
        sample: how many answers are looked at before all of them.
    """
    x, l, m = triple
    few = np.unique(np.linspace(0, len(got) - 1, min(sample, len(got))).astype(int))
    with np.errstate(all="ignore"):  # NaNs are compared
        for fits, words in _candidates(etype, readings):
            if fits(x[few], l[few], m[few], got[few]).all() and fits(x, l, m, got).all():
                return words
    return None


def _candidates(etype: ElementType, readings: Mapping[str, Allows]) -> Iterator[tuple[Allows, str]]:
    """Tests of answers with their words: what assumes the least comes first."""
    found, altered = tuple(formulas(etype)), tuple(changes(etype))
    unchanged = OperandChange("", lambda values: values)
    for f in found:
        yield partial(_same, f, unchanged, etype), f.text
    for change in altered:
        for id_, allows in readings.items():
            yield (
                partial(_allowed, allows, change),
                f"the reading {id_} of operands that were changed first: {change.words}",
            )
        for f in found:
            yield partial(_same, f, change, etype), f"{f.text}, with {change.words}"
    if etype.family == "float":
        for change, f in product((unchanged, *altered), (_cases(), *found)):
            words = f"{f.text}, with {change.words}" if change.words else f.text
            yield partial(_same_value, f, change, etype), words + PAYLOADS


def _allowed(allows: Allows, change: OperandChange, x: Array, l: Array, m: Array, got: Array) -> Array:
    return np.asarray(allows(change.of(x), change.of(l), change.of(m), got))


def _same(
    f: Formula, change: OperandChange, etype: ElementType, x: Array, l: Array, m: Array, got: Array
) -> Array:
    bits = bits_type(etype.id)
    due = np.ascontiguousarray(f.of(change.of(x), change.of(l), change.of(m)))
    return np.asarray(due.view(bits) == got.view(bits))


def _same_value(
    f: Formula, change: OperandChange, etype: ElementType, x: Array, l: Array, m: Array, got: Array
) -> Array:
    due = f.of(change.of(x), change.of(l), change.of(m))
    return _same(f, change, etype, x, l, m, got) | (np.isnan(due) & np.isnan(got))


# --- Formulas ----------------------------------------------------------------------------------------------


def formulas(etype: ElementType) -> Iterator[Formula]:
    """Every maximum with every minimum, in both orders; among integers only the orders differ."""
    if etype.family != "float":
        lower, upper = _ternary("<", keeps=True), _ternary(">", keeps=True)
        yield from (_joined(lower, upper, max_first=max_first) for max_first in (True, False))
        return
    for max_first in (True, False):
        for lower, upper in product(_steps("max", etype), _steps("min", etype)):
            yield _joined(lower, upper, max_first=max_first)


@dataclass(frozen=True)
class _Step:
    """A maximum or a minimum of the value so far, ``{0}``, and a bound, ``{1}``."""

    text: str
    of: Callable[[Array, Array], Array]
    arm: bool = False  # an instruction of Arm, which is not the function of C with such a name


def _steps(end: End, etype: ElementType) -> Iterator[_Step]:
    beyond, within = ("<", ">") if end == "max" else (">", "<")  # X < L ? L : X keeps X in doubt
    for signs in ("", "="):
        yield _ternary(beyond + signs, keeps=True)
        yield _ternary(within + signs, keeps=False)
    for name in (f"F{end.upper()}", f"F{end.upper()}NM"):
        apply = partial(_of_arm, end, etype, number=name.endswith("NM"))
        yield _Step(f"{name}({{0}}, {{1}})", apply, arm=True)


_COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def _ternary(sign: str, *, keeps: bool) -> _Step:
    """``v < b ? b : v``, which keeps the value in doubt, or ``v > b ? v : b``, which takes the bound."""
    compared = _COMPARED[sign]
    if keeps:
        return _Step(f"{{0}} {sign} {{1}} ? {{1}} : {{0}}", lambda v, b: np.where(compared(v, b), b, v))
    return _Step(f"{{0}} {sign} {{1}} ? {{0}} : {{1}}", lambda v, b: np.where(compared(v, b), v, b))


def _of_arm(end: End, etype: ElementType, v: Array, b: Array, *, number: bool) -> Array:
    """FMAX and FMIN, which pass a NaN on; FMAXNM and FMINNM, which take a number before a quiet NaN.

    A signalling NaN comes before all else and becomes quiet; of two NaNs the first is taken. -0 is below +0.
    """
    bits, form = bits_type(etype.id), float_bits(etype)
    quiet, sign = bits.type(quiet_bit(form)), bits.type(sign_bit(form))
    of_v, of_b = v.view(bits), b.view(bits)
    smaller = (v < b) | ((v == b) & ((of_v & sign) != 0))
    chosen = np.where(smaller == (end == "max"), of_b, of_v)
    nan_v, nan_b = np.isnan(v), np.isnan(b)
    if number:
        chosen = np.where(nan_v & ~nan_b, of_b, np.where(nan_b & ~nan_v, of_v, chosen))
        nan = nan_v & nan_b
    else:
        nan = nan_v | nan_b
    calls_v, calls_b = nan_v & ((of_v & quiet) == 0), nan_b & ((of_b & quiet) == 0)
    of_nan = np.where(calls_v | (nan_v & ~calls_b), of_v, of_b) | quiet
    return np.where(nan | calls_v | calls_b, of_nan, chosen).astype(bits).view(v.dtype)


def _joined(lower: _Step, upper: _Step, *, max_first: bool) -> Formula:
    one, other = (lower, upper) if max_first else (upper, lower)
    a, b = ("L", "M") if max_first else ("M", "L")

    def of(x: Array, l: Array, m: Array) -> Array:
        inner, outer = (l, m) if max_first else (m, l)
        return other.of(one.of(x, inner), outer)

    text = f"`v = {one.text.format('X', a)}; Y = {other.text.format('v', b)}`"
    return Formula(text + (_CAPITALS if one.arm or other.arm else ""), of)


def _cases() -> Formula:
    def of(x: Array, l: Array, m: Array) -> Array:
        return np.where(m < l, m, np.where(x <= l, l, np.where(m <= x, m, x)))

    return Formula("those of the cases", of)


# --- Changes -----------------------------------------------------------------------------------------------


def changes(etype: ElementType) -> Iterator[OperandChange]:
    """What can become of an operand on its way; nothing that leaves all values of the type as they are."""
    if etype.family == "float":
        yield OperandChange("subnormal numbers taken for zero", partial(_flushed, etype))
        if etype.id == "float64":
            yield OperandChange("X, L and M rounded to float32", lambda values: _narrowed(values, np.float32))
        return
    assert isinstance(etype.bits, IntegerBits)
    width = numpy_type(etype.id).itemsize * 8
    for name, holds in (("float32", 24), ("float64", 53)):
        if width > holds:
            for words, least in (("the nearest", False), ("the least", True)):
                yield OperandChange(
                    f"X, L and M rounded to {name} and back, {words} integer standing for what is too large",
                    partial(_through_float, np.dtype(name), least=least),
                )
    if width == 64:
        yield OperandChange("X, L and M cut to the low 32 bits, as int32", _cut)
    if width == 64 or etype.id == "uint32":
        yield OperandChange(
            "X, L and M limited to int32", lambda values: np.clip(values, *_int32(values.dtype))
        )


def _flushed(etype: ElementType, values: Array) -> Array:
    form, bits = float_bits(etype), bits_type(etype.id)
    sign, normal = bits.type(sign_bit(form)), bits.type(1 << (form.significand - 1))
    assert int(normal) < infinity(form)
    patterns = values.view(bits)
    return np.where((patterns & ~sign) < normal, patterns & sign, patterns).astype(bits).view(values.dtype)


def _narrowed(values: Array, narrow: type[np.float32]) -> Array:
    return values.astype(narrow).astype(values.dtype)


def _through_float(narrow: np.dtype[np.floating], values: Array, *, least: bool) -> Array:
    """To a float type, rounded to nearest, and back; what no longer fits is limited, or the least integer."""
    limits = np.iinfo(values.dtype)
    rounded = values.astype(narrow)
    # The bound is a power of two, which a float has exactly; int64 and uint64 have none above it.
    high = rounded >= np.asarray(2.0 ** (limits.bits - (limits.min < 0)), narrow)
    back = np.where(high, np.asarray(0, narrow), rounded).astype(values.dtype)
    return np.where(high, limits.min if least else limits.max, back).astype(values.dtype)


def _cut(values: Array) -> Array:
    return values.astype(np.uint32).astype(np.int32).astype(values.dtype)


def _int32(dtype: np.dtype[np.integer]) -> tuple[int, int]:
    limits = np.iinfo(np.int32)
    return (0 if np.iinfo(dtype).min == 0 else int(limits.min)), int(limits.max)
