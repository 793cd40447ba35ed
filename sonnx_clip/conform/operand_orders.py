"""Orders of operands: a maximum and a minimum, in C or by the names of Arm's instructions."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sonnx_clip.language.values import float_bits, quiet_bit, sign_bit
from sonnx_clip.root.dtypes import Array, bits_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.language.types import ElementType

    Function: TypeAlias = "Callable[..., Array]"

_COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_NAMED = 2  # readings that an explanation names


def operand_orders(etype: ElementType) -> Iterator[tuple[str, Function]]:
    """Every maximum with every minimum, in both orders, in C or by the names of Arm's instructions."""
    for lower, upper in product(_steps("max", etype), _steps("min", etype)):
        for (one, f), (other, g), (a, b) in ((lower, upper, "LM"), (upper, lower, "ML")):
            arm = " (capitals: instructions of Arm)" if "FM" in one + other else ""
            words = f"`v = {one.format('X', a)}; Y = {other.format('v', b)}`{arm}"
            if a == "L":
                yield words, lambda x, l, m, f=f, g=g: g(f(x, l), m)
            else:
                yield words, lambda x, l, m, f=f, g=g: g(f(x, m), l)


def _steps(end: str, etype: ElementType) -> Iterator[tuple[str, Function]]:
    """A maximum or a minimum of the value so far, ``{0}``, and a bound, ``{1}``."""
    below, above = ("<", ">") if end == "max" else (">", "<")
    yield f"{{0}} {below} {{1}} ? {{1}} : {{0}}", partial(_chosen, below, 1)
    if etype.family == "float":
        yield f"{{0}} {above} {{1}} ? {{0}} : {{1}}", partial(_chosen, above, 0)  # the order of SSE
        yield f"{{0}} {below}= {{1}} ? {{1}} : {{0}}", partial(_chosen, f"{below}=", 1)
        yield f"{{0}} {above}= {{1}} ? {{0}} : {{1}}", partial(_chosen, f"{above}=", 0)
        yield f"F{end.upper()}({{0}}, {{1}})", partial(_of_arm, end, etype, number=False)
        yield f"F{end.upper()}NM({{0}}, {{1}})", partial(_of_arm, end, etype, number=True)


def _chosen(sign: str, first: int, *operands: Array) -> Array:
    """One of two operands where a comparison holds, by its number, and else the other."""
    return np.asarray(np.where(_COMPARED[sign](*operands), operands[first], operands[1 - first]))


def _of_arm(end: str, etype: ElementType, v: Array, b: Array, *, number: bool) -> Array:
    """FMAX and FMIN pass a NaN on; FMAXNM and FMINNM take a number before a quiet NaN; -0 is below +0."""
    bits, form = bits_type(etype.id), float_bits(etype)
    quiet, sign = bits.type(quiet_bit(form)), bits.type(sign_bit(form))
    of_v, of_b = v.view(bits), b.view(bits)
    smaller = (v < b) | ((v == b) & ((of_v & sign) != 0))
    chosen = np.where(smaller == (end == "max"), of_b, of_v)
    nan_v, nan_b = np.isnan(v), np.isnan(b)
    signals_v, signals_b = nan_v & ((of_v & quiet) == 0), nan_b & ((of_b & quiet) == 0)
    if number:
        chosen = np.where(nan_v & ~nan_b, of_b, np.where(nan_b & ~nan_v, of_v, chosen))
    nan = signals_v | signals_b | ((nan_v & nan_b) if number else (nan_v | nan_b))
    of_nan = np.where(signals_v | (nan_v & ~signals_b), of_v, of_b) | quiet
    return np.where(nan, of_nan, chosen).astype(bits).view(v.dtype)
