"""Clip for users: strict about the restrictions of the profile, exact to the bit.

Source: SONNX profile, clip (int, int, int) and clip (float, float, float), Restrictions and Constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy import asarray, generic, may_share_memory, ndarray

from sonnx_clip.oracle.float_formats import Array
from sonnx_clip.oracle.plan import ONE_PASS, PLANNERS, Plan
from sonnx_clip.root.errors import RestrictionError

CallInC: TypeAlias = Callable[[Array, Array], None]

_PLANS = 256

CHUNK = 1 << 19
"""Entries at most in one call of a kernel that reads what it has written."""


def clip(
    x: Array | generic,
    min: Array | generic,
    max: Array | generic,
    *,
    out: Array | None = None,
) -> Array:
    """Limit the entries of `x` to the interval [`min`, `max`]; `max` everywhere if `max < min`.

    Where NumPy would pass over the entries several times (16-bit floats, bounds that are zero), the verified
    C kernels do it in one pass, if they have been built: see `sonnx_clip.oracle.built`. The bits are the
    same.

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
    return _clip(x, min, max, out, may_be_in_c=True)


def clip_by_numpy(
    x: Array | generic,
    min: Array | generic,
    max: Array | generic,
    *,
    out: Array | None = None,
) -> Array:
    """As `clip`, by the kernels of NumPy alone: what `clip` does where the C kernels are not built."""
    return _clip(x, min, max, out, may_be_in_c=False)


def _clip(
    x: object,
    min: object,
    max: object,
    out: Array | None,
    *,
    may_be_in_c: bool,
    chunk: int = CHUNK,
) -> Array:
    tensor = x if type(x) is ndarray else tensor_of("x", x)
    lower = asarray(min) if isinstance(min, generic) else bound_of("min", "R1", min)
    upper = asarray(max) if isinstance(max, generic) else bound_of("max", "R2", max)
    dtype = tensor.dtype
    if not (lower.dtype is dtype is upper.dtype and lower.ndim == 0 == upper.ndim):
        check_bounds(dtype, lower, upper)
    # The bits are read now, whatever is written to later. What equals as a number may differ in its bits.
    plan, in_c = _plan(dtype, lower.tobytes(), upper.tobytes(), may_be_in_c)
    result = np.empty_like(tensor) if out is None else checked_out(out, tensor)
    if out is not None and result is not tensor and plan.kernel not in ONE_PASS:
        tensor = _readable(tensor, result)
    if plan.kernel not in ONE_PASS and is_plain(result):
        if not is_plain(tensor):
            np.copyto(result, tensor)  # a strided `x` is read once; what follows is in place
            tensor = result
        if in_c is not None:
            in_c(tensor, result)
            return result if out is None else out
    if result.ndim and 0 < result.size <= chunk and result.flags.c_contiguous:
        plan.kernel(tensor, plan.lower, plan.upper, result)
    elif result.size:
        _write(plan, tensor, result, chunk)
    return result if out is None else out


@lru_cache(maxsize=_PLANS)
def _plan(
    dtype: np.dtype[Any],
    lower: bytes,
    upper: bytes,
    may_be_in_c: bool,
) -> tuple[Plan, CallInC | None]:
    """The plan for two bounds, given by their bits, and the call in C that takes its place.

    The bounds of the plan are read-only arrays of shape (). There is no call in C where one pass of NumPy
    does it, or where the C kernels are not built.
    """
    check_element_type(dtype)
    (low,) = np.frombuffer(lower, dtype)
    (high,) = np.frombuffer(upper, dtype)
    with np.errstate(invalid="ignore"):
        plan = PLANNERS[dtype](low, high)
    bounds: list[Array] = []
    for planned_bound in (plan.lower, plan.upper):
        bound = np.array(planned_bound)
        bound.flags.writeable = False  # the plan is cached: every later call shares them
        bounds.append(bound)
    plan = Plan(plan.kernel, *bounds)
    if not may_be_in_c or plan.kernel in ONE_PASS:
        return plan, None
    from sonnx_clip.oracle import built  # when it is needed: most bounds take one pass of NumPy

    functions = built.kernels()
    if functions is None:
        return plan, None
    return plan, built.in_c(functions[dtype], lower, upper)


def is_plain(array: Array) -> bool:
    """Whether a pointer to the first entry and their number are all that C needs."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def _write(plan: Plan, x: Array, out: Array, chunk: int) -> None:
    """Write the results where one call of the kernel will not do, or not well."""
    if _may_overlap_itself(out):
        buffer = np.empty(out.shape, out.dtype)
        _write(plan, x, buffer, chunk)
        np.copyto(out, buffer)
        return
    are_contiguous = x.flags.c_contiguous and out.flags.c_contiguous
    if out.ndim == 0 or (plan.kernel not in ONE_PASS and are_contiguous):
        # Piece by piece, so that what a kernel reads again is still in the cache.
        x = _readable(x, out).reshape(-1)
        out = out.reshape(-1)
        for start in range(0, out.size, chunk):
            part = slice(start, start + chunk)
            plan.kernel(x[part], plan.lower, plan.upper, out[part])
    else:
        plan.kernel(x, plan.lower, plan.upper, out)


def _may_overlap_itself(out: Array) -> bool:
    """False if no two entries share memory, since the entries along each axis fit between two of the next."""
    strides = [abs(stride) for stride in out.strides]
    axes = sorted(zip(strides, out.shape, strict=True))
    extent = out.itemsize
    for stride, length in axes:
        if length > 1 and stride < extent:
            return True
        extent += stride * (length - 1)
    return False


def _readable(x: Array, out: Array) -> Array:
    """`x` if it is the same memory as `out` entry for entry, or none of it; else a copy."""
    if not may_share_memory(x, out):
        return x
    # The contract of the kernels: the same memory, entry for entry, or disjoint memory.
    start_of_x, _ = x.__array_interface__["data"]
    start_of_out, _ = out.__array_interface__["data"]
    if start_of_x == start_of_out and x.strides == out.strides:
        return x
    return x.copy()


# --- What is refused, in NumPy and in C alike -----------------------------------------------------------


def tensor_of(name: str, value: object) -> Array:
    """An operand as a plain array that shares its memory.

    RestrictionError R3 for what is sparse or masked, R5 for what has no element type.
    """
    # Before other arrays, since a masked array is one, too, and would be read without its mask.
    if isinstance(value, np.ma.MaskedArray):
        message = f"{name} is a masked array, not a dense tensor; pass {name}.filled(...)"
        raise RestrictionError("R3", message)
    if isinstance(value, ndarray):
        return value.view(ndarray)
    if isinstance(value, generic):
        return asarray(value)
    kind = type(value)
    # By their names, so that neither package has to be imported.
    package = kind.__module__.split(".")[0]
    if package in {"scipy", "sparse"} or hasattr(value, "todense"):
        message = f"{name} is sparse ({kind.__name__}); pass {name}.toarray()"
        raise RestrictionError("R3", message)
    # The type of a bound is that of x, whichever it is; x itself needs an example of one.
    dtype = "np.float32" if name == "x" else "x.dtype"
    remedy = f"np.asarray({name}, {dtype})"
    message = f"{name} is a Python {kind.__name__} without an element type; values are never cast"
    todo = f"pass a NumPy array or scalar of the type of x, for example {remedy}"
    raise RestrictionError("R5", f"{message}; {todo}")


def bound_of(name: str, tag: str, value: object) -> Array:
    """A bound as a plain array; RestrictionError with the tag if it is None, else as `tensor_of`."""
    if type(value) is ndarray:
        return value
    if value is None:
        operand = "L" if name == "min" else "M"
        raise RestrictionError(tag, f"{name} is None; input {operand} must be set")
    return tensor_of(name, value)


def check_element_type(dtype: np.dtype[Any]) -> None:
    """RestrictionError ``element_types`` for a type outside the profile."""
    if dtype in PLANNERS:
        return
    native = dtype.newbyteorder("=")
    if native in PLANNERS:
        problem = f"x has type {dtype.str}, not in native byte order"
        remedy = f"pass x.astype({native.name!r})"
        raise RestrictionError("element_types", f"{problem}; {remedy}")
    known = ", ".join(planned.name for planned in PLANNERS)
    problem = f"x has type {dtype}, which is not an element type of the profile"
    raise RestrictionError("element_types", f"{problem}: {known}")


def check_bounds(dtype: np.dtype[Any], lower: Array, upper: Array) -> None:
    """RestrictionError R5 for bounds of another type than X, ``scalar_bounds`` for bounds that are not of
    shape (), ``element_types`` for a type outside the profile.
    """
    check_element_type(dtype)
    for name, bound in (("min", lower), ("max", upper)):
        if bound.dtype != dtype:
            mismatch = f"{name} has type {bound.dtype}, x has type {dtype}"
            rule = "all tensors shall have the same type"
            remedy = f"pass {name}.astype({dtype.name!r}) if that is exact"
            raise RestrictionError("R5", f"{mismatch}; {rule}; {remedy}")
        if bound.shape != ():
            message = f"{name} has shape {bound.shape}; it must have shape ()"
            raise RestrictionError("scalar_bounds", message)


def checked_out(out: object, x: Array) -> Array:
    """`out` as a plain array to which the result can be written.

    RestrictionError as `tensor_of`, R5 for a scalar, C3 for another element type than that of `x`, C1 for
    another shape; ValueError if it is read-only.
    """
    result = out
    if type(result) is not ndarray:
        result = tensor_of("out", out)
        if not isinstance(out, ndarray):
            raise RestrictionError("R5", "out is a scalar; pass an array")
    # Identity first, which takes a fraction of the time, as most types are one object.
    if result.dtype is not x.dtype and result.dtype != x.dtype:
        message = f"out has type {result.dtype}; it must have that of x, {x.dtype}"
        raise RestrictionError("C3", message)
    if result.shape != x.shape:
        message = f"out has shape {result.shape}; it must have that of x, {x.shape}"
        raise RestrictionError("C1", message)
    if not result.flags.writeable:
        raise ValueError("out is read-only; pass a writable array")
    return result
