"""A sample of the answers of a runtime in one element type, with the place of each in its call."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.language.types import ElementType


@dataclass(frozen=True)
class Answers:
    """Answers that were kept; every array has shape (n,).

    Args:
        operands: bits of each operand.
        got: bits of the answer.
        expected: bits of the expected result.
        classes: the class of the operands, as an index into the classes of the family.
        violating: whether no latitude accepts the answer.
        layouts: the layout of the call, as an index into `LAYOUTS`.
        lengths: the entries of the call.
        entries: the place of the answer in the call.
    """

    etype: ElementType
    operands: tuple[Array, ...]
    got: Array
    expected: Array
    classes: Array
    violating: Array
    layouts: Array
    lengths: Array
    entries: Array

    def __len__(self) -> int:
        """How many answers it is."""
        return len(self.got)

    def where(self, mask: Array) -> Answers:
        """The answers at which a mask is true."""
        chosen = {
            field.name: getattr(self, field.name)[mask]
            for field in fields(self)
            if field.name not in ("etype", "operands")
        }
        operands = tuple(operand[mask] for operand in self.operands)
        return Answers(self.etype, operands, **chosen)

    @cached_property
    def values(self) -> tuple[Array, ...]:
        """The operands, of the element type."""
        return tuple(operand.view(numpy_type(self.etype.id)) for operand in self.operands)

    @cached_property
    def result(self) -> Array:
        """The answers, of the element type."""
        return self.got.view(numpy_type(self.etype.id))

    @property
    def deviating(self) -> Array:
        """Whether the bits are not those expected."""
        return np.not_equal(self.got, self.expected)

    def are(self, predicted: Array) -> Array:
        """Whether each answer is the predicted one: its bits, or a NaN of any payload where that is one."""
        bits = np.ascontiguousarray(predicted).view(self.got.dtype)
        both_nan = np.not_equal(predicted, predicted) & np.not_equal(self.result, self.result)
        same: Array = (bits == self.got) | both_nan
        return same


def joined(etype: ElementType, parts: Sequence[Answers]) -> Answers:
    """All answers of several samples; none if there are no samples."""
    if not parts:
        bits = bits_type(etype.id)
        none, places = np.zeros(0, bits), np.zeros(0, int)
        return Answers(etype, (), none, none, places, np.zeros(0, bool), places, places, places)
    names = [field.name for field in fields(Answers) if field.name not in ("etype", "operands")]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    columns = zip(*(part.operands for part in parts), strict=True)
    return Answers(etype, tuple(np.concatenate(column) for column in columns), **arrays)
