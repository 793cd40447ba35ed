"""What a step or a term may give, for all entries of an array at once.

X has any shape, and bounds broadcast to it: so the entries of one graph can be asked with bounds of shape (),
and those of many graphs, shape (graphs, entries), with bounds of shape (graphs, 1).
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.contexts.candidates import Candidates, distinct, exactly
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.evaluated import ArrayEvaluator, evaluated_oracle
from sonnx_clip.rewrites.terms import ELEMENT, operators
from sonnx_clip.root.dtypes import Array, from_bits, numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.contexts.model import Shape, Stage, Step
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

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
    """What a term may give for X in a set, and constants that broadcast to X."""
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
            operands = [of_term(part, x, constants, etype) for part in arguments]
            result = _applied(function, operands, etype)
            # An operator on constants alone is computed by whoever writes the term, and has no latitude.
            return result if _reads_x(term) else exactly(result.expected)
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
    return distinct(rows, defined)


def _results(oracle: Any, spec: Spec, operands: Sequence[Array], etype: str) -> list[Array]:
    """The expected results for some operands, and those that a latitude accepts instead."""
    shape = operands[0].shape
    operator = getattr(oracle, spec.head.function)
    expected = np.broadcast_to(operator(*operands), shape)
    rows = [expected]
    family = spec.element_type(etype).family
    if family != "float":
        return rows
    zero = np.zeros((), expected.dtype)
    zeros = [np.broadcast_to(zero, shape), np.broadcast_to(-zero, shape)]
    for other in (*operands, *zeros):
        accepted = np.zeros(shape, bool)
        for accepts in oracle.LATITUDE[family].values():
            accepted |= accepts(*operands, expected, other)
        if accepted.any():
            rows.append(np.where(accepted, other, expected))
    return rows


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
        operand = Candidates((row,), x.defined)
        with np.errstate(invalid="ignore"):
            holds = _evaluator(etype)(condition, {**constants, ELEMENT: row})
        yes = of_term(then, operand, constants, etype)
        no = of_term(otherwise, operand, constants, etype)
        rows += [np.where(holds, left, right) for left, right in product(yes.rows, no.rows)]
    return distinct(rows, x.defined)


# --- Steps --------------------------------------------------------------------------------------------------


def of_stage(stage: Stage, x: Candidates, bounds: Mapping[str, Array]) -> Candidates:
    """What a step may give for an input in a set, and bounds that broadcast to it."""
    step = stage.step
    etype = stage.given.etype
    if step.moves is not None:
        places = _places(step, stage.given.shape)
        rows = tuple(row[..., places] for row in x.rows)
        return Candidates(rows, x.defined[..., places])
    if step.term:
        result = of_term(step.call, x, bounds, etype)
    elif step.chooses:
        result = of_term(step.choice, x, bounds, etype)
    else:
        result = _of_other_step(step, x, etype)
    return _with_other_zeros(result) if "zero" in step.open else result


def _of_other_step(step: Step, x: Candidates, etype: str) -> Candidates:
    """What arithmetic or a conversion may give."""
    compute = _function(step, etype)
    rows: list[Array] = []
    defined = x.defined
    with np.errstate(all="ignore"):
        for row in x.rows:
            results, is_defined = compute(row)
            rows += results
            defined = defined & is_defined
    return distinct(rows, defined)


def _function(step: Step, etype: str) -> Callable[[Array], tuple[list[Array], Any]]:
    """A function of X: the results of a step, the expected ones first, and which of them are defined."""
    if step.computes is not None:
        return lambda x: (_computed(step, x, etype), True)
    if step.dequantises is not None:
        return lambda x: ([_dequantised(step, x, etype)], True)
    if step.quantises is not None:
        to_integers = step.quantises
        return lambda x: ([_quantised(step, x, to_integers)], ~np.isnan(x))
    assert step.converts is not None
    to = step.converts
    return lambda x: ([x.astype(numpy_type(to))], _is_converted(x, to))


def _with_other_zeros(results: Candidates) -> Candidates:
    """The same results, where a zero may have either sign."""
    if results.expected.dtype.kind in "iu":
        return results
    others = [np.where(row == 0, -row, row) for row in results.rows]
    return distinct([*results.rows, *others], results.defined)


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
    rows = [expected]
    if x.dtype.kind == "f" and "rounding" in step.open:
        rows += [np.nextafter(expected, x.dtype.type(end)) for end in ("-inf", "inf")]
    return rows


def _is_converted(x: Array, to: str) -> Array:
    """Where a conversion is defined: to an integer type, only of numbers that it holds."""
    target = numpy_type(to)
    if target.kind not in "iu":
        return np.ones(x.shape, bool)
    limits = np.iinfo(target)
    whole = np.trunc(x.astype(np.float64)) if x.dtype.kind == "f" else x
    return np.asarray((whole >= limits.min) & (whole <= limits.max))


def _quantised(step: Step, x: Array, to: str) -> Array:
    """QuantizeLinear of numbers."""
    scale = number(step.constants["scale"].values[0], x.dtype.name)
    zero_point = int(step.constants["zero_point"].values[0])
    limits = np.iinfo(to)
    whole = np.rint(x / scale).astype(np.float64) + zero_point
    return np.clip(np.nan_to_num(whole, nan=0.0), limits.min, limits.max).astype(to)


def _dequantised(step: Step, x: Array, etype: str) -> Array:
    scale = step.constants["scale"]
    to = scale.type or etype
    zero_point = int(step.constants["zero_point"].values[0])
    whole = x.astype(np.int64) - zero_point
    return np.asarray(whole.astype(numpy_type(to)) * number(scale.values[0], to), numpy_type(to))
