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
from sonnx_clip.contexts.context import Backwards, Extension, X, scalar_of
from sonnx_clip.language import tree
from sonnx_clip.oracle.evaluated import ArrayEvaluator, oracle_of
from sonnx_clip.rewrites.terms import ELEMENT, operators, type_of_clip
from sonnx_clip.root.dtypes import Array, numpy_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.contexts.context import ContextStep, Shape, Stage
    from sonnx_clip.language.tree import Expr

_ADDED = -1  # in the place of an entry of the input

# --- Terms over the operators of spec/ ----------------------------------------------------------------------


@cache
def _oracle(function: str) -> Any:
    """The oracle of an operator, by the name of its function in terms."""
    return oracle_of(operators()[function])


@cache
def _evaluator(etype: str) -> ArrayEvaluator:
    """Evaluates conditions on constants and X."""
    return ArrayEvaluator(operators()["clip"], type_of_clip(etype))


def of_term(term: Expr, x: Candidates, constants: Mapping[str, Array], etype: str) -> Candidates:
    """What a term may give for X in a set, and constants that broadcast to X."""
    shape = x.expected.shape
    match term:
        case tree.Name(id=name):
            if name == ELEMENT:
                return x
            constant = constants[name]
            return exactly(np.broadcast_to(constant, shape))
        case tree.Number(text=text):
            constant = scalar_of(text, etype)
            return exactly(np.broadcast_to(constant, shape))
        case tree.Parentheses(inner=inner):
            return of_term(inner, x, constants, etype)
        case tree.If():
            return _chosen(term, x, constants, etype)
        case tree.Call(function=function, arguments=arguments):
            operands = [of_term(part, x, constants, etype) for part in arguments]
            result = _applied(function, operands, etype)
            if X in tree.subtrees(term):
                return result
            # An operator on constants alone is computed by whoever writes the term, and has no
            # latitude.
            return exactly(result.expected)
        case _:
            raise TypeError(f"no term: {type(term).__name__}")


def _applied(function: str, operands: Sequence[Candidates], etype: str) -> Candidates:
    """What an operator may give for operands in sets."""
    are_defined = [operand.defined for operand in operands]
    defined = np.logical_and.reduce(are_defined)
    rows: list[Array] = []
    rows_of_operands = [operand.rows for operand in operands]
    # The first choice has the expected row of each operand, so its first result is expected, too.
    for choice in product(*rows_of_operands):
        rows += _results(function, choice, etype)
    return distinct(rows, defined)


def _results(function: str, operands: Sequence[Array], etype: str) -> list[Array]:
    """The expected results for some operands, and those that a latitude accepts instead."""
    spec = operators()[function]
    oracle = _oracle(function)
    shape = operands[0].shape
    operator = getattr(oracle, spec.signature.function)
    result = operator(*operands)
    expected = np.broadcast_to(result, shape)
    family = spec.element_type(etype).family
    if family != "float":
        return [expected]
    # A latitude accepts an operand or a zero, so no other result needs to be tried.
    zero = np.zeros((), expected.dtype)
    plus_zeros = np.broadcast_to(zero, shape)
    minus_zeros = np.broadcast_to(-zero, shape)
    latitudes = oracle.LATITUDE[family].values()
    rows = [expected]
    for other in (*operands, plus_zeros, minus_zeros):
        accepted = np.zeros(shape, bool)
        for accepts in latitudes:
            accepted |= accepts(*operands, expected, other)
        if accepted.any():
            row = np.where(accepted, other, expected)
            rows.append(row)
    return rows


def _chosen(
    term: tree.If,
    x: Candidates,
    constants: Mapping[str, Array],
    etype: str,
) -> Candidates:
    """What ``if condition then _ else _`` may give."""
    evaluate = _evaluator(etype)
    rows: list[Array] = []
    # Row by row, since the condition and both branches read the same X.
    for row in x.rows:
        operand = Candidates((row,), x.defined)
        variables = {**constants, ELEMENT: row}
        with np.errstate(invalid="ignore"):
            holds = evaluate(term.condition, variables)
        if_true = of_term(term.then, operand, constants, etype)
        if_false = of_term(term.otherwise, operand, constants, etype)
        for left, right in product(if_true.rows, if_false.rows):
            rows.append(np.where(holds, left, right))
    return distinct(rows, x.defined)


# --- Steps --------------------------------------------------------------------------------------------------


def of_stage(stage: Stage, x: Candidates, bounds: Mapping[str, Array]) -> Candidates:
    """What a step may give for an input in a set, and bounds that broadcast to it."""
    step = stage.step
    etype = stage.given.etype
    if step.moves is not None:
        added = None
        if isinstance(step.moves, Extension):
            added = scalar_of(step.moves.value, etype)
        rows = [rearranged(stage, row, added) for row in x.rows]
        # What is added is always defined.
        defined = rearranged(stage, x.defined, np.True_)
        return Candidates(tuple(rows), defined)
    if step.term:
        constants = {**bounds, **_own_constants(stage)}
        result = of_term(step.call, x, constants, etype)
    elif step.chooses:
        result = of_term(step.choice, x, bounds, etype)
    else:
        result = _of_other_step(step, x, etype)
    if "zero" in step.open:
        return _with_other_zeros(result)
    return result


def _of_other_step(step: ContextStep, x: Candidates, etype: str) -> Candidates:
    """What arithmetic or a conversion may give."""
    rows: list[Array] = []
    defined = x.defined
    with np.errstate(all="ignore"):
        for row in x.rows:
            results = _results_of_step(step, row, etype)
            rows += results.rows
            defined = defined & results.defined
    return distinct(rows, defined)


def _results_of_step(step: ContextStep, x: Array, etype: str) -> Candidates:
    """The results of arithmetic or a conversion for one array, the expected ones first."""
    if step.computes is not None:
        return _computed(step, x, etype)
    if step.dequantises is not None:
        return exactly(_dequantised(step, x, etype))
    if step.quantises is not None:
        quantised = _quantised(step, x, step.quantises)
        is_number = ~np.isnan(x)
        return Candidates((quantised,), is_number)
    assert step.converts is not None
    target = numpy_type(step.converts)
    converted = x.astype(target)
    is_converted = _is_converted(x, step.converts)
    return Candidates((converted,), is_converted)


def _with_other_zeros(results: Candidates) -> Candidates:
    """The same results, where a zero may have either sign."""
    is_integer = results.expected.dtype.kind in "iu"
    if is_integer:
        return results
    rows = list(results.rows)
    for row in results.rows:
        with_other_zeros = np.where(row == 0, -row, row)
        rows.append(with_other_zeros)
    return distinct(rows, results.defined)


def _own_constants(stage: Stage) -> dict[str, Array]:
    """The constants that the term of a step names beside bounds, with a value for each entry of its input."""
    of_entries: dict[str, Array] = {}
    for name, constant in stage.step.constants.items():
        value = constant.array(stage.given.etype)
        broadcast = np.broadcast_to(value, stage.given.shape)
        of_entries[name] = broadcast.reshape(-1)
    return of_entries


def rearranged(stage: Stage, array: Array, added: Any) -> Array:
    """What a step that moves entries makes of an array, in the last axis of which they are.

    Args:
        stage: the step, with the shape of its input.
        array: a value for each entry of its input.
        added: the value for entries that are in no input.
    """
    places = _places(stage.step, stage.given.shape)
    # An entry that is added takes the first one for the moment, since -1 would be the last.
    moved = array[..., np.maximum(places, 0)]
    if added is None:
        return moved
    return np.where(places == _ADDED, added, moved)


def _places(step: ContextStep, shape: Shape) -> Array:
    """The place in the input of each entry of the result; `_ADDED` for one that is in no input."""
    count = int(np.prod(shape))
    places = np.arange(count).reshape(shape)
    if isinstance(step.moves, tuple):
        places = places.transpose(step.moves)
    elif isinstance(step.moves, Extension):
        axes = len(shape)
        pads = step.moves.pads  # as in ONNX: before each axis, then behind each
        widths = list(zip(pads[:axes], pads[axes:], strict=True))
        places = np.pad(places, widths, constant_values=_ADDED)
    elif isinstance(step.moves, Backwards):
        places = np.flip(places, step.moves.backwards_along)
    else:
        assert step.moves == "same"
    return places.reshape(-1)


def _computed(step: ContextStep, x: Array, etype: str) -> Candidates:
    """The result of arithmetic; its neighbours, too, where the last bit is left open."""
    assert step.computes is not None
    is_float = x.dtype.kind == "f"
    ((operation, text),) = step.computes.given.items()
    other = scalar_of(text, etype)
    # In the element type itself, since each step is rounded to it.
    if operation == "plus":
        result = x + other
    elif operation == "times":
        result = x * other
    elif is_float:
        result = x / other
    else:
        result = x  # the one divisor of integers is one
    expected = np.asarray(result, x.dtype)
    rows = [expected]
    if is_float and "rounding" in step.open:
        for end in ("-inf", "inf"):
            towards = x.dtype.type(end)
            rows.append(np.nextafter(expected, towards))
    return Candidates(tuple(rows), np.ones(x.shape, bool))


def _is_converted(x: Array, to: str) -> Array:
    """Where a conversion is defined: to an integer type, only of numbers that it holds."""
    target = numpy_type(to)
    if target.kind not in "iu":
        return np.ones(x.shape, bool)
    limits = np.iinfo(target)
    whole = x
    if x.dtype.kind == "f":
        # A conversion truncates first: -0.5 is held by an unsigned type, too.
        whole = np.trunc(x.astype(np.float64))
    is_held = (whole >= limits.min) & (whole <= limits.max)
    return np.asarray(is_held)


def _quantised(step: ContextStep, x: Array, to: str) -> Array:
    """QuantizeLinear of numbers."""
    scale = step.constants["scale"].values[0]
    zero_point = step.constants["zero_point"].values[0]
    # To nearest, ties to even, as ONNX defines it.
    steps = np.rint(x / scalar_of(scale, x.dtype.name))
    # As float64, in which the sum is exact: QuantizeLinear saturates after it.
    whole = steps.astype(np.float64) + int(zero_point)
    limits = np.iinfo(to)
    # A NaN is not defined, and must not become a warning.
    numbers = np.nan_to_num(whole, nan=0.0)
    return np.clip(numbers, limits.min, limits.max).astype(to)


def _dequantised(step: ContextStep, x: Array, etype: str) -> Array:
    """DequantizeLinear, exact for a scale that is a power of two."""
    scale = step.constants["scale"]
    zero_point = step.constants["zero_point"].values[0]
    to = scale.type or etype
    target = numpy_type(to)
    whole = x.astype(np.int64) - int(zero_point)
    factor = scalar_of(scale.values[0], to)
    return np.asarray(whole.astype(target) * factor, target)
