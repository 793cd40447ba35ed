"""The table evaluated: many patterns at once, each held in 64 bits, none of it by what it is to judge.

An order is read into patterns through keys, which are unsigned integers of 64 bits, so that neither the
comparison of floats nor that of signed integers is used to say what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import infinity
from sonnx_clip.trace.formula import Apply, FormulaLet, FormulaVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.trace.formula import Node
    from sonnx_clip.trace.numpy_meaning import Meaning

Patterns: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
"""Bit patterns, each in the low bits of an unsigned integer of 64 bits."""

Masks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

Values: TypeAlias = np.ndarray[Any, Any]
"""Bit patterns (uint64), or masks (bool)."""

ReadingName: TypeAlias = Literal["Float", "Signed", "Unsigned"]


@dataclass(frozen=True)
class PatternOrder:
    """How patterns of a width are ordered.

    Args:
        name: as a float of the type, or as integers with or without sign.
        width: bits of a pattern.
        top: the greatest magnitude that is no NaN; for floats alone.
    """

    name: ReadingName
    width: int
    top: int = 0

    @cached_property
    def symbols(self) -> Mapping[str, Callable[..., Values]]:
        """What the symbols of the small language mean."""
        mask = self._bits(self.width)  # sums and differences are modulo 2^width
        return {
            "nan": self.nan,
            "lt": self.lt,
            "le": self.le,
            "eq": self.eq,
            "bw_and": lambda a, b: a & b,
            "bw_or": lambda a, b: a | b,
            "bw_xor": lambda a, b: a ^ b,
            "bw_add": lambda a, b: (a + b) & mask,
            "bw_sub": lambda a, b: (a - b) & mask,
            "bw_ashr": self.shift,
            "if": np.where,
            "/\\": np.logical_and,
            "\\/": np.logical_or,
        }

    def nan(self, a: Patterns) -> Masks:
        """Whether a pattern is a NaN."""
        if self.name != "Float":
            return np.zeros(a.shape, np.bool_)
        # A NaN is a pattern whose magnitude is above that of infinity.
        magnitude = a & self._bits(self.width - 1)
        above: Masks = np.greater(magnitude, np.uint64(self.top))
        return above

    def lt(self, a: Patterns, b: Patterns) -> Masks:
        """Less than: false if one is NaN."""
        is_unordered = self.nan(a) | self.nan(b)
        less: Masks = np.less(self._keys(a), self._keys(b)) & ~is_unordered
        return less

    def eq(self, a: Patterns, b: Patterns) -> Masks:
        """Equal: zeros of both signs are, a NaN is not equal to itself."""
        is_unordered = self.nan(a) | self.nan(b)
        same: Masks = np.equal(self._keys(a), self._keys(b)) & ~is_unordered
        return same

    def le(self, a: Patterns, b: Patterns) -> Masks:
        """Less than or equal."""
        either: Masks = np.logical_or(self.lt(a, b), self.eq(a, b))
        return either

    def shift(self, a: Patterns, b: Patterns) -> Patterns:
        """Arithmetic shift right: copies of the uppermost bit are shifted in."""
        mask = self._bits(self.width)
        uppermost = np.uint64(self.width - 1)
        # A shift by more than the width leaves only copies of the sign, as one by the width less one.
        count = np.minimum(b, uppermost)
        sign = a >> uppermost
        filled = sign * ~(mask >> count)  # ones in the places that become free, if the sign is 1
        return (a >> count | filled) & mask

    def _bits(self, count: int) -> np.uint64:
        return np.uint64((1 << count) - 1)

    def _keys(self, a: Patterns) -> Patterns:
        """The numbers by which patterns are ordered: from the sign bit upwards for 0 and what is above it."""
        sign = np.uint64(1 << self.width - 1)
        if self.name == "Unsigned":
            return a
        if self.name == "Signed":  # two's complement: negative numbers have the sign bit
            return a ^ sign
        # Floats have a sign and a magnitude, so that both zeros get one key.
        magnitude = a & self._bits(self.width - 1)
        is_negative = a >= sign
        return np.where(is_negative, sign - magnitude, sign + magnitude)


@cache
def reading(name: ReadingName, etype: ElementType) -> PatternOrder:
    """One of the readings of an element type's patterns."""
    assert etype.width is not None
    top = 0
    if name == "Float" and isinstance(etype.bits, FloatBits):
        top = infinity(etype.bits)
    return PatternOrder(name, etype.width, top)


def evaluate(
    meaning: Meaning,
    arguments: tuple[Values, ...],
    how: PatternOrder,
    others: Mapping[str, Meaning],
) -> Values:
    """The result of an operation on patterns and masks, choices included, all of one shape.

    Args:
        meaning: the operation.
        arguments: what it is applied to.
        how: in which order patterns are read.
        others: the operations that it may apply in turn.
    """
    names = [name for name, _ in meaning.parameters]
    environment = dict(zip(names, arguments, strict=True))
    return _value(meaning.tree, environment, how, others)


def _value(
    tree: Node,
    environment: Mapping[str, Values],
    how: PatternOrder,
    others: Mapping[str, Meaning],
) -> Values:
    match tree:
        case FormulaVariable(id=name):
            return environment[name]
        case FormulaLet(id=name, value=value, body=body):
            bound = _value(value, environment, how, others)
            return _value(body, {**environment, name: bound}, how, others)
        case Apply(function=name, arguments=parts):
            # Both branches of an `if` are computed, as everything is for many patterns at once.
            values = tuple([_value(part, environment, how, others) for part in parts])
            symbol = how.symbols.get(name)
            if symbol is not None:
                return symbol(*values)
            return evaluate(others[name], values, how, others)
