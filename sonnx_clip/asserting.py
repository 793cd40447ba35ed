"""What a test of an implementation of Clip asserts of a result, for tests of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.conform.accepted import Policy, accepted_by, latitudes
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.language import show, show_bits
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.strict import clip
from sonnx_clip.root.dtypes import Array, bits_of, from_bits

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType

Operand: TypeAlias = Array | np.generic
"""An array or a scalar of NumPy, of one of the 12 element types."""


def assert_clip(
    x: Operand,
    min: Operand,  # noqa: A002
    max: Operand,  # noqa: A002
    result: object,
    *,
    policy: Policy = "default",
) -> None:
    """Assert that a result is the clip of `x`, to the bit, or what the latitude accepts for it.

    Args:
        x: array of any shape and of one of the 12 element types, as it was before the call.
        min: array of shape () or NumPy scalar of that type.
        max: likewise.
        result: what an implementation returned.
        policy: ``strict`` turns off the latitude that is not granted always: the sign of a zero, and the NaN
            of `x` where the bounds are inverted.

    Raises:
        AssertionError: the result is no array, or one of a subclass (of shape (), a NumPy scalar will do);
            has another shape (C1) or type (C3) than `x`, or a wrong entry; the text names the first of these,
            its class, and how many there are. Or it lies in the memory of an operand that can be written to:
            an operand that was changed shows nothing about the result.
        RestrictionError: `x`, `min` and `max` are no operands of Clip.
        ValueError: there is no such policy.
    """
    if policy not in ("default", "strict"):
        raise ValueError(f"the policy is default or strict, not {policy!r}")
    # First, since it refuses what is no operand of Clip.
    due = clip(x, min, max)
    # A subclass may mean something else by its memory: a masked array has entries that are none.
    if type(result) is not np.ndarray and not isinstance(result, np.generic):
        raise AssertionError(
            f"the result is {type(result).__name__}, not an array (numpy.ndarray itself)"
        )
    got = np.asarray(result)
    if got.shape != due.shape:
        raise AssertionError(
            f"C1: the shape of the result is {got.shape}, that of x is {due.shape}"
        )
    if got.dtype != due.dtype:
        raise AssertionError(
            f"C3: the element type of the result is {got.dtype}, that of x is {due.dtype}"
        )
    for name, operand in (("x", x), ("min", min), ("max", max)):
        is_writeable = isinstance(operand, np.ndarray) and operand.flags.writeable
        if is_writeable and np.may_share_memory(got, operand):
            raise AssertionError(
                f"the result shares memory with {name}, which the call may have changed:"
                f" pass a copy of {name} made before the call"
            )
    operator = clip_operator()
    etype = operator.spec.element_type(due.dtype.name)
    entries = bits_of(np.asarray(x))
    # One pattern each, which is broadcast to the entries.
    low = bits_of(np.asarray(min))
    high = bits_of(np.asarray(max))
    results = bits_of(got)
    expected = bits_of(due)

    # The latitude is evaluated only where bits differ.
    differ = np.flatnonzero(results != expected)
    values = entries[differ], low, high, expected[differ], results[differ]
    latitude = accepted_by(etype, values, latitudes(etype, policy, operator))
    # The index of the latitude that accepts an entry is -1 where none does.
    wrong = differ[latitude < 0]
    if not len(wrong):
        return
    at = int(wrong[0])
    first = _WrongEntry(
        etype=etype,
        x=int(entries[at]),
        low=int(low[0]),
        high=int(high[0]),
        got=int(results[at]),
        expected=int(expected[at]),
    )
    # As indices of the array, which was compared as a flat one.
    place = np.unravel_index(at, due.shape)
    where = "".join(f"[{int(index)}]" for index in place) or " ()"
    raise AssertionError(f"{etype.id}, entry{where}: {first}; {len(wrong)} of {due.size} wrong")


@dataclass(frozen=True)
class _WrongEntry:
    """An entry of a result that is wrong, with its operands, in bits."""

    etype: ElementType
    x: int
    low: int
    high: int
    got: int
    expected: int

    def __str__(self) -> str:
        """What it is and what it should be: two NaNs differ in their bits alone."""
        etype = self.etype
        operands = ", ".join(show(bits, etype) for bits in (self.x, self.low, self.high))
        got = f"{show(self.got, etype)} ({show_bits(self.got, etype)})"
        expected = f"{show(self.expected, etype)} ({show_bits(self.expected, etype)})"
        return f"clip({operands}) is {got}, expected {expected}, in the class {self.class_id}"

    @property
    def class_id(self) -> str:
        """The class of the operands."""
        operands = [from_bits(bits, self.etype.id) for bits in (self.x, self.low, self.high)]
        classes: dict[str, Any] = load_oracle().CLASSES[self.etype.family]
        # Classes are a partition: one of them holds.
        return next(id_ for id_, holds in classes.items() if holds(*operands))
