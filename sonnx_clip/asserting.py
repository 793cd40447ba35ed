"""What a test of an implementation of Clip asserts of a result, for tests of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.conform.accepted import Policy, accepted_by, latitudes
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.language import show, show_bits
from sonnx_clip.oracle import load_oracle
from sonnx_clip.oracle.strict import clip
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

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
        if (
            isinstance(operand, np.ndarray)
            and operand.flags.writeable
            and np.may_share_memory(got, operand)
        ):
            raise AssertionError(
                f"the result shares memory with {name}, which the call may have changed:"
                f" pass a copy of {name} made before the call"
            )
    operator = clip_operator()
    etype = operator.spec.element_type(due.dtype.name)
    entries, results, expected = (_bits(part, etype) for part in (np.asarray(x), got, due))
    low, high = _bits(np.asarray(min), etype), _bits(np.asarray(max), etype)
    differ = np.flatnonzero(results != expected)
    values = entries[differ], low, high, expected[differ], results[differ]
    wrong = differ[accepted_by(etype, values, latitudes(etype, policy, operator)) < 0]
    if len(wrong):
        at = int(wrong[0])
        parts = (entries[at], low[0], high[0], results[at], expected[at])
        raise AssertionError(
            _told(etype, parts, np.unravel_index(at, due.shape), len(wrong), due.size)
        )


def _bits(values: Array, etype: ElementType) -> Array:
    return np.ascontiguousarray(values).reshape(-1).view(bits_type(etype.id))


def _told(
    etype: ElementType, parts: tuple[Any, ...], place: tuple[Any, ...], wrong: int, size: int
) -> str:
    x, low, high, got, due = map(int, parts)
    shown = ", ".join(show(part, etype) for part in (x, low, high))
    where = "".join(f"[{int(n)}]" for n in place)
    return (
        f"{etype.id}, entry{where or ' ()'}: clip({shown}) is {show(got, etype)} ({show_bits(got, etype)}),"
        f" expected {show(due, etype)} ({show_bits(due, etype)}), in the class {_class_of(etype, parts[:3])};"
        f" {wrong} of {size} wrong"
    )


def _class_of(etype: ElementType, triple: tuple[Any, ...]) -> str:
    operands = [np.array(part).view(numpy_type(etype.id)) for part in triple]
    classes: dict[str, Any] = load_oracle().CLASSES[etype.family]
    return next(id_ for id_, holds in classes.items() if holds(*operands))
