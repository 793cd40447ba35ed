"""What a step or a term may give, for all entries of an array at once.

A result is a set for each entry: the operators of spec/ have latitudes, and texts of others leave the sign of
a zero or a rounding open. A set is written as `Candidates`: rows of arrays, of which each entry of a right
result is in one. NaNs are alike here: which NaN an operator returns is judged for one node alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.evaluated import ArrayEvaluator, evaluated_oracle
from sonnx_clip.rewrites.terms import ELEMENT, operators
from sonnx_clip.root.dtypes import Array, from_bits, numpy_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.contexts.model import Shape, Stage, Step
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

MOST = 8
"""Candidates that are kept for each entry: more would need four latitudes in a row."""


@dataclass(frozen=True)
class Candidates:
    """The results that are right.

    Args:
        rows: each of shape (n,) and of one element type; the first is the expected result.
        defined: whether anything is required of an entry, shape (n,).
    """

    rows: tuple[Array, ...]
    defined: Array

    @property
    def expected(self) -> Array:
        """The expected result."""
        return self.rows[0]

    def allow(self, found: Array) -> Array:
        """Which entries of a result are right, shape (n,)."""
        in_a_row = [alike(row, found) for row in self.rows]
        return reduce(np.logical_or, in_a_row) | ~self.defined


def alike(one: Array, other: Array) -> Array:
    """Whether entries have the same bits, or are both a NaN."""
    bits = np.dtype(f"u{one.itemsize}")
    same = np.equal(np.ascontiguousarray(one).view(bits), np.ascontiguousarray(other).view(bits))
    if one.dtype.kind == "f":
        same |= np.isnan(one) & np.isnan(other)
    return np.asarray(same)


def exactly(array: Array) -> Candidates:
    """The set of one result."""
    return Candidates((array,), np.ones(len(array), bool))


def _distinct(rows: Iterable[Array], defined: Array) -> Candidates:
    by_bytes: dict[bytes, Array] = {}
    for row in rows:
        by_bytes.setdefault(row.tobytes(), row)
    return Candidates(tuple(by_bytes.values())[:MOST], defined)


# --- Terms over the operators of spec/ ----------------------------------------------------------------------


@cache
def _oracle(function: str) -> Any:
    """The oracle of an operator, by the name of its function in terms."""
    spec = operators()[function]
    # That of Clip is generated, and the others' conditions are evaluated.
    return load_oracle() if function == "clip" else evaluated_oracle(spec)


@cache
def _evaluator(etype: str) -> ArrayEvaluator:
    """Evaluates conditions on constants and X."""
    clip = operators()["clip"]
    return ArrayEvaluator(clip, clip.element_type(etype))


def number(text: str, etype: str) -> Array:
    """The number that a text stands for, of shape (); UserError if it is none of the type."""
    element_type = operators()["clip"].element_type(etype)
    return from_bits(int(encode(text, element_type)), etype)


def of_term(term: Expr, x: Candidates, constants: Mapping[str, Array], etype: str) -> Candidates:
    """What a term may give for X in a set, and constants of shape ()."""
    shape = x.expected.shape
    match term:
        case tree.Name(id=name) if name == ELEMENT:
            return x
        case tree.Name(id=name):
            return exactly(np.broadcast_to(constants[name], shape))
        case tree.Number(text=text):
            return exactly(np.broadcast_to(number(text, etype), shape))
        case tree.Parentheses(inner=inner):
            return of_term(inner, x, constants, etype)
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            return _chosen(condition, then, otherwise, x, constants, etype)
        case tree.Call(function=function, arguments=arguments):
            given = [of_term(part, x, constants, etype) for part in arguments]
            found = _applied(function, given, etype)
            # An operator on constants alone is computed by whoever writes the term, and has no latitude.
            return found if _reads_x(term) else exactly(found.expected)
        case _:
            raise TypeError(f"no term: {type(term).__name__}")


def _reads_x(term: Expr) -> bool:
    return any(isinstance(part, tree.Name) and part.id == ELEMENT for part in tree.subtrees(term))


def _applied(function: str, operands: Sequence[Candidates], etype: str) -> Candidates:
    """What an operator may give for operands in sets."""
    spec = operators()[function]
    oracle = _oracle(function)
    defined = np.logical_and.reduce([operand.defined for operand in operands])
    rows: list[Array] = []
    for choice in product(*[operand.rows for operand in operands]):
        rows += _results(oracle, spec, choice, etype)
    return _distinct(rows, defined)


def _results(oracle: Any, spec: Spec, operands: Sequence[Array], etype: str) -> list[Array]:
    """The expected result for some operands, and the results that a latitude accepts instead."""
    length = len(operands[0])
    scalars = [operand.role == "scalar" for operand in spec.operands]
    given = [
        operand[0, ...] if is_scalar else np.ascontiguousarray(operand)
        for operand, is_scalar in zip(operands, scalars, strict=True)
    ]
    expected = np.broadcast_to(getattr(oracle, spec.head.function)(*given), (length,))
    found = [np.ascontiguousarray(expected)]
    family = spec.element_type(etype).family
    if family != "float":
        return found
    zero = np.zeros(1, expected.dtype)
    others = [*operands, np.broadcast_to(zero, (length,)), np.broadcast_to(-zero, (length,))]
    for other in others:
        accepted = np.zeros(length, bool)
        for accepts in oracle.LATITUDE[family].values():
            accepted |= np.broadcast_to(accepts(*operands, expected, other), (length,))
        found.append(np.where(accepted, other, expected).astype(expected.dtype))
    return found


def _chosen(
    condition: Expr,
    then: Expr,
    otherwise: Expr,
    x: Candidates,
    constants: Mapping[str, Array],
    etype: str,
) -> Candidates:
    """What ``if condition then _ else _`` may give."""
    rows = []
    for row in x.rows:
        alone = Candidates((row,), x.defined)
        values = {name: np.broadcast_to(value, row.shape) for name, value in constants.items()}
        with np.errstate(invalid="ignore"):
            holds = np.broadcast_to(
                _evaluator(etype)(condition, {**values, ELEMENT: row}), row.shape
            )
        yes = of_term(then, alone, constants, etype)
        no = of_term(otherwise, alone, constants, etype)
        for one, other in product(yes.rows, no.rows):
            bits = np.dtype(f"u{one.itemsize}")
            rows.append(np.where(holds, one.view(bits), other.view(bits)).view(one.dtype))
    return _distinct(rows, x.defined)


# --- Steps --------------------------------------------------------------------------------------------------


def of_stage(stage: Stage, x: Candidates, bounds: Mapping[str, Array]) -> Candidates:
    """What a step may give for an input in a set, and bounds of shape ()."""
    step = stage.step
    etype = stage.given.etype
    if step.moves is not None:
        places = _places(step, stage.given.shape)
        rows = tuple(row[places] for row in x.rows)
        return Candidates(rows, x.defined[places])
    is_term = bool(step.term)
    found = of_term(step.call, x, bounds, etype) if is_term else _of_other_step(step, x, etype)
    return _with_other_zeros(found) if "zero" in step.open else found


def _of_other_step(step: Step, x: Candidates, etype: str) -> Candidates:
    """What arithmetic or a conversion may give."""
    rows: list[Array] = []
    defined = x.defined.copy()
    with np.errstate(all="ignore"):
        for row in x.rows:
            if step.computes is not None:
                rows += _computed(step, row, etype)
            elif step.converts is not None:
                rows.append(_converted(row, step.converts, defined))
            elif step.quantises is not None:
                rows.append(_quantised(step, row, step.quantises, defined))
            else:
                rows.append(_dequantised(step, row, etype))
    return _distinct(rows, defined)


def _with_other_zeros(found: Candidates) -> Candidates:
    """The same results, where a zero may have either sign."""
    if found.expected.dtype.kind in "iu":
        return found
    others = [np.where(row == 0, -row, row).astype(row.dtype) for row in found.rows]
    return _distinct([*found.rows, *others], found.defined)


def _places(step: Step, shape: Shape) -> Array:
    """The place in the input of each entry of the result."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    if isinstance(step.moves, tuple):
        places = places.transpose(step.moves)
    elif step.moves != "same":
        assert step.moves is not None
        places = np.flip(places, step.moves.backwards_along)
    return places.reshape(-1)


def _computed(step: Step, x: Array, etype: str) -> list[Array]:
    assert step.computes is not None
    ((operation, text),) = step.computes.given.items()
    other = number(text, etype)
    if operation == "plus":
        expected = x + other
    elif operation == "times":
        expected = x * other
    else:
        expected = x if x.dtype.kind in "iu" else x / other
    expected = np.asarray(expected, x.dtype)
    found = [expected]
    if x.dtype.kind == "f" and "rounding" in step.open:
        found += [np.nextafter(expected, x.dtype.type(end)) for end in ("-inf", "inf")]
    return found


def _converted(x: Array, to: str, defined: Array) -> Array:
    """A conversion; of a float to an integer type, only of numbers that this holds."""
    target = numpy_type(to)
    if x.dtype.kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        whole = np.trunc(x.astype(np.float64))
        defined &= (whole >= limits.min) & (whole <= limits.max)
    if x.dtype.kind in "iu" and target.kind in "iu":
        limits = np.iinfo(target)
        defined &= (x >= limits.min) & (x <= limits.max)
    return x.astype(target)


def _quantised(step: Step, x: Array, to: str, defined: Array) -> Array:
    """QuantizeLinear: a NaN has no result that is defined."""
    scale = number(step.constants["scale"].values[0], x.dtype.name)
    zero_point = int(step.constants["zero_point"].values[0])
    limits = np.iinfo(to)
    defined &= ~np.isnan(x)
    whole = np.rint(x / scale).astype(np.float64) + zero_point
    return np.clip(np.nan_to_num(whole, nan=0.0), limits.min, limits.max).astype(to)


def _dequantised(step: Step, x: Array, etype: str) -> Array:
    scale = step.constants["scale"]
    to = scale.type or etype
    zero_point = int(step.constants["zero_point"].values[0])
    whole = x.astype(np.int64) - zero_point
    return np.asarray(whole.astype(numpy_type(to)) * number(scale.values[0], to), numpy_type(to))
