"""What `clip` refuses, in NumPy and in C alike: operands that break a restriction of the profile.

Source: SONNX profile, clip (int, int, int) and clip (float, float, float), Restrictions and Constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.errors import RestrictionError

if TYPE_CHECKING:
    from sonnx_clip.oracle.formats import Array


def tensor_of(name: str, value: object) -> Array:
    """An operand as a plain array that shares its memory.

    Raises:
        RestrictionError: R3 for what is sparse or masked, R5 for what has no element type.
    """
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


def bound_of(name: str, tag: str, value: object) -> Array:
    """A bound as a plain array; RestrictionError with the tag if it is None, else as `tensor_of`."""
    if type(value) is ndarray:
        return value
    if value is None:
        raise RestrictionError(tag, f"{name} is None; input {'L' if name == 'min' else 'M'} must be set")
    return tensor_of(name, value)


def check_element_type(dtype: np.dtype[Any]) -> None:
    """RestrictionError ``element_types`` for a type outside the profile."""
    if dtype not in PLANNERS:
        raise RestrictionError("element_types", _outside(dtype))


def check_bounds(dtype: np.dtype[Any], lower: Array, upper: Array) -> None:
    """Hold the bounds against the element type of X.

    Raises:
        RestrictionError: ``element_types`` for a type outside the profile, R5 for bounds of another type,
            ``scalar_bounds`` for bounds that are not of shape ().
    """
    check_element_type(dtype)
    for name, bound in (("min", lower), ("max", upper)):
        if bound.dtype != dtype:
            raise RestrictionError("R5", _other_type(name, bound.dtype, dtype))
        if bound.shape != ():
            raise RestrictionError("scalar_bounds", f"{name} has shape {bound.shape}; it must have shape ()")


def checked_out(out: object, x: Array) -> Array:
    """`out` as a plain array to which the result can be written.

    Raises:
        RestrictionError: as `tensor_of`; R5 for a scalar, C3 for another element type than that of `x`, C1
            for another shape.
        ValueError: it is read-only.
    """
    result = out
    if type(result) is not ndarray:
        result = tensor_of("out", out)
        if not isinstance(out, np.ndarray):
            raise RestrictionError("R5", "out is a scalar; pass an array")
    if result.dtype is not x.dtype and result.dtype != x.dtype:
        raise RestrictionError("C3", f"out has type {result.dtype}; it must have that of x, {x.dtype}")
    if result.shape != x.shape:
        raise RestrictionError("C1", f"out has shape {result.shape}; it must have that of x, {x.shape}")
    if not result.flags.writeable:
        raise ValueError("out is read-only; pass a writable array")
    return result


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
