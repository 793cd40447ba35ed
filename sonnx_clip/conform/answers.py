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
        etype: the element type.
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
        operands = tuple(operand[mask] for operand in self.operands)
        columns = {name: getattr(self, name)[mask] for name in _COLUMNS}
        return Answers(self.etype, operands, **columns)

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
        # A latitude may accept them: `violating` is what no latitude does.
        return np.not_equal(self.got, self.expected)

    @property
    def known_classes(self) -> list[int]:
        """The classes of these answers, each once."""
        classes: list[int] = np.unique(self.classes).tolist()
        return classes

    def are(self, predicted: Array) -> Array:
        """Whether each answer is the predicted one: its bits, or any NaN where that is a NaN."""
        bits = np.ascontiguousarray(predicted).view(self.got.dtype)
        # A NaN that is computed here may have another payload than one that the runtime has computed.
        predicts_nan = np.not_equal(predicted, predicted)
        is_nan = np.not_equal(self.result, self.result)
        same: Array = (bits == self.got) | (predicts_nan & is_nan)
        return same


_NO_COLUMNS = ("etype", "operands")
_COLUMNS = tuple(field.name for field in fields(Answers) if field.name not in _NO_COLUMNS)


def joined(etype: ElementType, parts: Sequence[Answers]) -> Answers:
    """All answers of several samples; none if there are no samples."""
    if not parts:
        return _no_answers(etype)
    columns = {}
    for name in _COLUMNS:
        arrays = [getattr(part, name) for part in parts]
        columns[name] = np.concatenate(arrays)
    # From the operands of each part to the parts of each operand.
    operands_of_parts = [part.operands for part in parts]
    parts_of_operands = zip(*operands_of_parts, strict=True)
    operands = tuple(map(np.concatenate, parts_of_operands))
    return Answers(etype, operands, **columns)


def _no_answers(etype: ElementType) -> Answers:
    # Arrays without entries, but of the right types: searches for causes view and compare them.
    no_bits = np.zeros(0, bits_type(etype.id))
    no_numbers = np.zeros(0, int)
    return Answers(
        etype=etype,
        operands=(),
        got=no_bits,
        expected=no_bits,
        classes=no_numbers,
        violating=np.zeros(0, bool),
        layouts=no_numbers,
        lengths=no_numbers,
        entries=no_numbers,
    )
