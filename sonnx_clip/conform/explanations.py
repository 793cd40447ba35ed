"""What explains wrong results: readings and wrong operators of the specification, and orders of operands."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sonnx_clip.language.values import float_bits, quiet_bit, sign_bit
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.spec.wrong_operators import WrongEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.language.types import ElementType

    Function: TypeAlias = "Callable[..., Array]"

_NAMED = 2  # readings that an explanation names
_SAMPLE = 2000  # answers by which most explanations are ruled out
BUT_OF_RANK_0 = ", where X is not of rank 0"


def explain_deviation(of: CheckedOperator, etype: ElementType, triple: Sequence[int], got: int) -> str | None:
    """Which readings, or which wrong operator, give an answer; None if none does.

    Args:
        of: Clip.
        etype: the element type.
        triple: the bits of X, L and M.
        got: the bits of the answer.
    """
    operands = [np.array([bits], bits_type(etype.id)).view(numpy_type(etype.id)) for bits in (*triple, got)]
    readings = [
        id_ for id_, allows in of.oracle.READINGS[etype.family].items()
        if id_ != "cases" and np.asarray(allows(*operands)).all()
    ]  # fmt: skip
    if readings:
        more = f" and {len(readings) - _NAMED} more" if len(readings) > _NAMED else ""
        s = "s" if len(readings) > 1 else ""
        return f"allowed by the reading{s} {', '.join(readings[:_NAMED])}{more}"
    every = _wrong_operators(of, etype)
    return next((f"the result of {words}" for words, f in every if f(*operands[:3])[0] == got), None)


def explained(
    of: CheckedOperator, etype: ElementType, triple: Sequence[Array], got: Array, sample: int = _SAMPLE
) -> str | None:
    """What gives every answer: a wrong operator, or an order of operands; None if none does.

    Args:
        of: Clip.
        etype: the element type.
        triple: X, L and M of each answer, each of shape (n,), of its NumPy type.
        got: the answers, of the same shape and type.
        sample: how many answers are compared before all of them.
    """
    few = np.unique(np.linspace(0, len(got) - 1, min(sample, len(got))).astype(int))
    bits = bits_type(etype.id)
    with np.errstate(all="ignore"):  # NaNs are compared
        for words, function in (*operand_orders(etype), *_wrong_operators(of, etype)):
            if all(
                np.array_equal(function(*(o[rows] for o in triple)).view(bits), got[rows].view(bits))
                for rows in (few, slice(None))
            ):
                return words
    return None


def _wrong_operators(of: CheckedOperator, etype: ElementType) -> Iterator[tuple[str, Function]]:
    """Those of the specification that are no variant of a reading, as functions with bits as results."""
    bits = bits_type(etype.id)

    def evaluated(wrong: WrongEvaluator, *operands: Array) -> Array:
        triples = zip(*(operand.view(bits).tolist() for operand in operands), strict=True)
        return np.array([wrong.result(*triple) for triple in triples], bits)

    for wrong in of.spec.wrong_clips:
        if wrong.of is None:
            found = partial(evaluated, WrongEvaluator(of.spec, etype, wrong))
            yield f"the wrong operator {wrong.id}: {wrong.title}", found


def operand_orders(etype: ElementType) -> Iterator[tuple[str, Function]]:
    """Every maximum with every minimum, in both orders, in C or by the names of Arm's instructions."""
    for max_first, lower, upper in product((True, False), _steps("max", etype), _steps("min", etype)):
        (inner, f), (outer, g) = (lower, upper) if max_first else (upper, lower)
        a, b = ("L", "M") if max_first else ("M", "L")
        arm = " (capitals: instructions of Arm)" if "FM" in inner + outer else ""
        words = f"`v = {inner.format('X', a)}; Y = {outer.format('v', b)}`{arm}"
        yield words, partial(_in_order, f, g, max_first=max_first)


def _in_order(f: Function, g: Function, x: Array, l: Array, m: Array, *, max_first: bool) -> Array:
    return np.ascontiguousarray(g(f(x, l), m) if max_first else g(f(x, m), l))


def _steps(end: str, etype: ElementType) -> Iterator[tuple[str, Function]]:
    """A maximum or a minimum of the value so far, ``{0}``, and a bound, ``{1}``."""
    compared = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    is_float = etype.family == "float"
    for equal in ("", "=") if is_float else ("",):
        keep, take = (sign + equal for sign in ("<>" if end == "max" else "><"))
        yield f"{{0}} {keep} {{1}} ? {{1}} : {{0}}", partial(_chosen, compared[keep], 1)
        if is_float:  # the order of SSE, which returns the second operand in doubt
            yield (
                f"{{0}} {take} {{1}} ? {{0}} : {{1}}",
                partial(_chosen, compared[take], 0),
            )
    for name in (f"F{end.upper()}", f"F{end.upper()}NM") if is_float else ():
        yield f"{name}({{0}}, {{1}})", partial(_of_arm, end, etype, number=name.endswith("NM"))


def _chosen(compared: Callable[..., Array], first: int, *operands: Array) -> Array:
    """One of two operands where a comparison holds, by its number, and else the other."""
    return np.asarray(np.where(compared(*operands), operands[first], operands[1 - first]))


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
