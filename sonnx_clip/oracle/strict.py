"""Clip for users: strict about the restrictions of the profile, exact to the bit.

Source: SONNX profile, clip (int, int, int) and clip (float, float, float), Restrictions and Constraints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from sonnx_clip.errors import RestrictionError
from sonnx_clip.oracle.plan import PLANNERS, Plan

Array: TypeAlias = np.ndarray[Any, Any]

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")

ELEMENT_TYPES: dict[np.dtype[Any], np.dtype[Any]] = {
    dtype: np.dtype(f"u{dtype.itemsize}")
    for dtype in (*map(np.dtype, _INTEGERS + _FLOATS), np.dtype(ml_dtypes.bfloat16))
}
"""The element types of the profile, each with the unsigned integer that holds its bits."""


_PLANS = 256


def clip(x: object, min: object, max: object, *, out: Array | None = None) -> Array:
    """Limit the entries of `x` to the interval [`min`, `max`]; `max` everywhere if `max < min`.

    Nothing is cast or copied silently: all tensors have one element type, and the result is an entry of
    `x`, `min` or `max` bit for bit. A NaN bound bounds nothing; a NaN entry passes through unless the
    bounds are inverted.

    Args:
        x: array of any shape, strides and of one of the 12 element types, in native byte order.
        min: array of shape () or NumPy scalar of the element type of `x`.
        max: array of shape () or NumPy scalar of the element type of `x`.
        out: where to write: an array of the shape and element type of `x`; it may be `x` itself or share
            memory with any operand, and the result is as if all of them were read first.

    Returns:
        `out`, or a new array with the shape and the element type of `x`.

    Raises:
        RestrictionError: R1 or R2 if a bound is None; R3 for a sparse or masked operand; R5 for operands
            of different types or without one (lists, Python numbers); ``element_types`` for a type outside
            the profile; ``scalar_bounds`` for a bound that is not of shape (); C1 or C3 for `out`.
        ValueError: `out` is read-only.
    """
    tensor = _tensor("x", x)
    lower_bound, upper_bound = _bound("min", "R1", min), _bound("max", "R2", max)
    dtype = tensor.dtype
    if dtype not in ELEMENT_TYPES or not dtype.isnative:
        raise RestrictionError("element_types", _outside(dtype))
    for name, bound in (("min", lower_bound), ("max", upper_bound)):
        if bound.dtype != dtype:
            raise RestrictionError("R5", _other_type(name, bound.dtype, dtype))
        if bound.shape != ():
            raise RestrictionError("scalar_bounds", f"{name} has shape {bound.shape}; it must have shape ()")
    result = np.empty_like(tensor) if out is None else _checked_out(out, tensor)
    kernel, lower, upper = _plan(dtype, lower_bound.tobytes(), upper_bound.tobytes())
    if result.size:
        kernel(_readable(tensor, result), lower, upper, result)
    return result if out is None else out


@lru_cache(maxsize=_PLANS)
def _plan(dtype: np.dtype[Any], lower: bytes, upper: bytes) -> Plan:
    """The plan for two bounds, given by their bits: what equals as a number may differ in its bits."""
    low, high = (np.frombuffer(bits, dtype)[0] for bits in (lower, upper))
    with np.errstate(invalid="ignore"):
        kernel, low, high = PLANNERS[dtype](low, high)
    return Plan(kernel, np.asarray(low), np.asarray(high))


def _readable(x: Array, out: Array) -> Array:
    """`x`, or a copy if it overlaps `out` otherwise than entry for entry."""
    if x is out or not np.may_share_memory(x, out) or _is_same_memory(x, out):
        return x
    return x.copy()


def _is_same_memory(x: Array, out: Array) -> bool:
    return x.ctypes.data == out.ctypes.data and x.strides == out.strides


def _bound(name: str, tag: str, value: object) -> Array:
    if value is None:
        raise RestrictionError(tag, f"{name} is None; input {'L' if name == 'min' else 'M'} must be set")
    return _tensor(name, value)


def _tensor(name: str, value: object) -> Array:
    """`value` as a plain array that shares its memory; refused is what is no dense tensor with a type."""
    if isinstance(value, np.ma.MaskedArray):
        raise RestrictionError("R3", f"{name} is a masked array, not a dense tensor; pass {name}.filled(...)")
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, np.generic):
        return np.asarray(value)
    kind = type(value)
    if kind.__module__.split(".")[0] in {"scipy", "sparse"} or hasattr(value, "todense"):
        raise RestrictionError("R3", f"{name} is sparse ({kind.__name__}); pass {name}.toarray()")
    raise RestrictionError("R5", _untyped(name, value))


def _untyped(name: str, value: object) -> str:
    remedy = "np.float32(0)" if isinstance(value, (int, float)) else f"np.asarray({name}, np.float32)"
    what = f"{name} is a Python {type(value).__name__}, which has no element type, and nothing is cast"
    return f"{what}; pass a NumPy array or scalar of the type of x, for example {remedy}"


def _outside(dtype: np.dtype[Any]) -> str:
    if dtype.newbyteorder("=") in ELEMENT_TYPES:
        native = dtype.newbyteorder("=").name
        return f"x has type {dtype.str}, not in native byte order; pass x.astype({native!r})"
    known = ", ".join(known.name for known in ELEMENT_TYPES)
    return f"x has type {dtype}, which is not an element type of the profile: {known}"


def _other_type(name: str, found: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    remedy = f"pass {name}.astype({wanted.name!r}) if that loses nothing"
    return f"{name} has type {found}, x has type {wanted}; all tensors shall have the same type; {remedy}"


def _checked_out(out: object, x: Array) -> Array:
    result = _tensor("out", out)
    if not isinstance(out, np.ndarray):
        raise RestrictionError("R5", "out is a scalar; pass an array")
    if result.dtype != x.dtype:
        raise RestrictionError("C3", f"out has type {result.dtype}; it must have that of x, {x.dtype}")
    if result.shape != x.shape:
        raise RestrictionError("C1", f"out has shape {result.shape}; it must have that of x, {x.shape}")
    if not result.flags.writeable:
        raise ValueError("out is read-only; pass a writable array")
    return result
