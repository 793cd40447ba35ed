"""Conditions on bounds, in the language of the specification, which describe a set of pairs of bounds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.language import show, tree, unparse
from sonnx_clip.oracle.evaluated import ArrayEvaluator
from sonnx_clip.root.dtypes import numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.spec import Spec

_FEW_PAIRS = 3


@dataclass(frozen=True)
class ConditionOnBounds:
    """A condition on bounds; `holds` tells for each pair, bits of shape (n,), whether it is met."""

    text: str
    holds: Callable[[Sequence[Array]], Array]


def bounds_conditions(
    spec: Spec, etype: ElementType, pairs: Sequence[Array]
) -> Iterator[ConditionOnBounds]:
    """Conditions, the simplest first.

    Those of the specification come first, and each negated; then the very pairs, if they are few; then two
    conditions joined.

    Args:
        spec: the specification.
        etype: the element type.
        pairs: the bits of the bounds that are to be described, of shape (n,).
    """
    trees = [entry.is_ for entry in spec.conditions_on_bounds if entry.is_for(etype.family)]
    evaluator = ArrayEvaluator(spec, etype)
    dtype = numpy_type(etype.id)

    def condition(expr: Expr) -> ConditionOnBounds:
        def holds(bounds: Sequence[Array]) -> Array:
            typed = [bound.view(dtype) for bound in bounds]
            held = evaluator.all_hold((expr,), _names(spec, typed), typed)
            return np.broadcast_to(held, bounds[0].shape)

        return ConditionOnBounds(unparse(expr), holds)

    yield from map(condition, trees)
    # A converter may have a case of its own for bounds such as (0, 6), which no other condition
    # describes.
    yield from _very_pairs(spec, etype, pairs)
    for expr in trees:
        yield condition(tree.Not(expr))
    for word in ("or", "and"):
        for first, second in combinations(trees, 2):
            yield condition(_joined(word, first, second))
    for first in trees:
        for second in trees:
            if first is not second:
                yield condition(tree.Connective("and", first, tree.Not(second)))


def _names(spec: Spec, bounds: Sequence[object]) -> Sequence[str]:
    """The names of bounds: the last operands, of which one is a tensor where a model broadcasts it."""
    return spec.signature.ids[-len(bounds) :]


def _joined(word: str, first: Expr, second: Expr) -> Expr:
    """Two conditions under a connective that groups to the left, so that a chain needs no parentheses."""
    if isinstance(second, tree.Connective) and second.operator == word:
        return tree.Connective(word, _joined(word, first, second.left), second.right)
    return tree.Connective(word, first, second)


def _very_pairs(
    spec: Spec, etype: ElementType, pairs: Sequence[Array]
) -> Iterator[ConditionOnBounds]:
    """The condition that the bounds are one of few pairs, and its negation."""
    columns = [bound.tolist() for bound in pairs]
    distinct = sorted(set(zip(*columns, strict=True)))
    # A list of many pairs describes nothing: any deviation has such a condition.
    if not 0 < len(distinct) <= _FEW_PAIRS:
        return

    def is_one_of(bounds: Sequence[Array]) -> Array:
        is_met = np.zeros(bounds[0].shape, bool)
        for pair in distinct:
            is_pair = np.ones(bounds[0].shape, bool)
            for bound, side in zip(bounds, pair, strict=True):
                is_pair &= bound == side
            is_met |= is_pair
        return is_met

    texts = []
    for pair in distinct:
        equations = []
        for name, value in zip(_names(spec, pair), pair, strict=True):
            equations.append(f"{name} == {show(value, etype)}")
        texts.append(" and ".join(equations))
    yield ConditionOnBounds(" or ".join(texts), is_one_of)


def exact_condition(
    spec: Spec,
    etype: ElementType,
    inside: Sequence[Array],
    outside: Sequence[Array],
) -> str | None:
    """The simplest condition that is true of some pairs of bounds and false of others; None if none is.

    Args:
        spec: the specification.
        etype: the element type.
        inside: the bits of the bounds for which it is true, each of shape (n,).
        outside: those for which it is false, each of shape (k,).
    """
    for condition in bounds_conditions(spec, etype, inside):
        if condition.holds(inside).all() and not condition.holds(outside).any():
            return condition.text
    # Bounds that are served may be few where those that are refused are many (MNN issue 794: ReLU6 alone).
    for condition in _very_pairs(spec, etype, outside):
        if condition.holds(outside).all() and not condition.holds(inside).any():
            return f"not ({condition.text})"
    return None
