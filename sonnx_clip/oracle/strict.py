"""Clip for users: strict about the restrictions of the profile, exact to the bit.

Source: SONNX profile, clip (int, int, int) and clip (float, float, float), Restrictions and Constraints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy import asarray, generic, may_share_memory, ndarray

from sonnx_clip.errors import RestrictionError
from sonnx_clip.oracle.plan import ONE_PASS, PLANNERS, READ_ONCE, Plan

Array: TypeAlias = np.ndarray[Any, Any]

_PLANS = 256

CHUNK = 1 << 19
"""Entries at most in one call of a kernel that reads what it has written."""


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
            memory with any operand, and the result is as if all of them were read first. Of its own entries
            that share memory, one is kept.

    Returns:
        `out`, or a new array with the shape and the element type of `x`.

    Raises:
        RestrictionError: R1 or R2 if a bound is None; R3 for a sparse or masked operand; R5 for operands
            of different types or without one (lists, Python numbers); ``element_types`` for a type outside
            the profile; ``scalar_bounds`` for a bound that is not of shape (); C1 or C3 for `out`.
        ValueError: `out` is read-only.
    """
    tensor = x if type(x) is ndarray else _tensor("x", x)
    lower = asarray(min) if isinstance(min, generic) else _bound("min", "R1", min)
    upper = asarray(max) if isinstance(max, generic) else _bound("max", "R2", max)
    dtype = tensor.dtype
    if not (lower.dtype is dtype is upper.dtype and lower.ndim == 0 == upper.ndim):
        _check_bounds(dtype, lower, upper)
    # The bits are read now, whatever is written to later. What equals as a number may differ in its bits.
    kernel, low, high = plan = _plan(dtype, lower.tobytes(), upper.tobytes())
    if out is None:
        result = np.empty_like(tensor)
    else:
        result = _checked_out(out, tensor)
        if result is not tensor and kernel not in READ_ONCE:
            tensor = _readable(tensor, result)
    if result.ndim and 0 < result.size <= CHUNK and result.flags.c_contiguous:
        kernel(tensor, low, high, result)
    elif result.size:
        _write(plan, tensor, result)
    return result if out is None else out


@lru_cache(maxsize=_PLANS)
def _plan(dtype: np.dtype[Any], lower: bytes, upper: bytes) -> Plan:
    """The plan for two bounds, given by their bits; its bounds are read-only arrays of shape ()."""
    if dtype not in PLANNERS:
        raise RestrictionError("element_types", _outside(dtype))
    with np.errstate(invalid="ignore"):
        plan = PLANNERS[dtype](*(np.frombuffer(bits, dtype)[0] for bits in (lower, upper)))
    bounds = [np.array(bound) for bound in (plan.lower, plan.upper)]
    for bound in bounds:
        bound.flags.writeable = False
    return Plan(plan.kernel, *bounds)


def _write(plan: Plan, x: Array, out: Array) -> None:
    """Write the results where one call of the kernel will not do, or not well."""
    if _may_overlap_itself(out):
        buffer = np.empty(out.shape, out.dtype)
        _write(plan, x, buffer)
        np.copyto(out, buffer)
    elif out.ndim == 0 or (plan.kernel not in ONE_PASS and x.flags.c_contiguous and out.flags.c_contiguous):
        # Piece by piece, so that what a kernel reads again is still in the cache.
        x = _readable(x, out)
        x, out = x.reshape(-1), out.reshape(-1)
        for start in range(0, out.size, CHUNK):
            part = slice(start, start + CHUNK)
            plan.kernel(x[part], plan.lower, plan.upper, out[part])
    else:
        plan.kernel(x, plan.lower, plan.upper, out)


def _may_overlap_itself(out: Array) -> bool:
    """False if no two entries share memory, since the entries along each axis fit between two of the next."""
    extent = out.itemsize
    for stride, length in sorted((abs(stride), n) for stride, n in zip(out.strides, out.shape, strict=True)):
        if length > 1 and stride < extent:
            return True
        extent += stride * (length - 1)
    return False


def _readable(x: Array, out: Array) -> Array:
    """`x` if it is the same memory as `out` entry for entry, or none of it; else a copy."""
    if not may_share_memory(x, out):
        return x
    same = x.strides == out.strides and x.__array_interface__["data"][0] == out.__array_interface__["data"][0]
    return x if same else x.copy()


def _check_bounds(dtype: np.dtype[Any], lower: Array, upper: Array) -> None:
    if dtype not in PLANNERS:
        raise RestrictionError("element_types", _outside(dtype))
    for name, bound in (("min", lower), ("max", upper)):
        if bound.dtype != dtype:
            raise RestrictionError("R5", _other_type(name, bound.dtype, dtype))
        if bound.shape != ():
            raise RestrictionError("scalar_bounds", f"{name} has shape {bound.shape}; it must have shape ()")


def _bound(name: str, tag: str, value: object) -> Array:
    if type(value) is ndarray:
        return value
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
    if dtype.newbyteorder("=") in PLANNERS:
        native = dtype.newbyteorder("=").name
        return f"x has type {dtype.str}, not in native byte order; pass x.astype({native!r})"
    known = ", ".join(known.name for known in PLANNERS)
    return f"x has type {dtype}, which is not an element type of the profile: {known}"


def _other_type(name: str, found: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    remedy = f"pass {name}.astype({wanted.name!r}) if that loses nothing"
    return f"{name} has type {found}, x has type {wanted}; all tensors shall have the same type; {remedy}"


def _checked_out(out: object, x: Array) -> Array:
    result = out
    if type(result) is not ndarray:
        result = _tensor("out", out)
        if not isinstance(out, np.ndarray):
            raise RestrictionError("R5", "out is a scalar; pass an array")
    if result.dtype is not x.dtype and result.dtype != x.dtype:
        raise RestrictionError("C3", f"out has type {result.dtype}; it must have that of x, {x.dtype}")
    if result.shape != x.shape:
        raise RestrictionError("C1", f"out has shape {result.shape}; it must have that of x, {x.shape}")
    if not result.flags.writeable:
        raise ValueError("out is read-only; pass a writable array")
    return result
