"""Clip by the verified C kernels of generated/c, as `sonnx_clip.clip` is by those of NumPy.

The kernels are compiled when the first of them is asked for (`sonnx_clip.oracle.c_build`).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from sonnx_clip.oracle.c_build import Compiler, built_library, find_compiler
from sonnx_clip.oracle.checks import bound_of, check_bounds, checked_out, tensor_of

Array: TypeAlias = np.ndarray[Any, Any]

# What C calls the element types, as the bits of one; float16 and bfloat16 are uint16_t.
_C_TYPES: dict[str, Any] = {
    **{
        f"{sign}int{width}": getattr(ctypes, f"c_{sign}int{width}")
        for sign in ("", "u")
        for width in (8, 16, 32, 64)
    },
    "float16": ctypes.c_uint16,
    "bfloat16": ctypes.c_uint16,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def clip(x: object, min: object, max: object, *, out: Array | None = None) -> Array:
    """Limit the entries of `x` to the interval [`min`, `max`]; `max` everywhere if `max < min`.

    Args:
        x: array of any shape, strides and of one of the 12 element types, in native byte order.
        min: array of shape () or NumPy scalar of the element type of `x`.
        max: array of shape () or NumPy scalar of the element type of `x`.
        out: where to write: an array of the shape and element type of `x`; it may be `x` itself or share
            memory with any operand, and the result is as if all of them were read first.

    Returns:
        `out`, or a new array with the shape and the element type of `x`.

    Raises:
        RestrictionError, ValueError: as `sonnx_clip.clip`, whose checks these are.
        UserError: there is no C compiler, or it refuses the kernels.
    """
    tensor = tensor_of("x", x)
    lower, upper = bound_of("min", "R1", min), bound_of("max", "R2", max)
    check_bounds(tensor.dtype, lower, upper)
    result = np.empty(tensor.shape, tensor.dtype) if out is None else checked_out(out, tensor)
    target = result if _is_plain(result) else np.empty(tensor.shape, tensor.dtype)
    source = tensor if _is_plain(tensor) else tensor.copy(order="C")
    if _address(source) != _address(target) and np.may_share_memory(source, target):
        source = source.copy(order="C")
    number = _C_TYPES[tensor.dtype.name]
    kernel(tensor.dtype)(
        _address(target),
        _address(source),
        # From the bits, since a way through Python's floats would change a signalling NaN.
        number.from_buffer_copy(lower.tobytes()),
        number.from_buffer_copy(upper.tobytes()),
        target.size,
    )
    if target is not result:
        np.copyto(result, target)
    return result if out is None else out


def _is_plain(array: Array) -> bool:
    """Whether a pointer to its first entry is all that C needs."""
    return array.flags.c_contiguous and array.flags.aligned


def _address(array: Array) -> int:
    address: int = array.ctypes.data
    return address


def kernel(dtype: np.dtype[Any]) -> Any:
    """The C function of an element type, given by its dtype; see `function`."""
    return function(dtype.name)


@cache
def function(etype: str) -> Any:
    """The C function ``void sonnx_clip_TYPE(T *y, const T *x, T min, T max, size_t n)``, by the type's id.

    Pointers are passed as integers or ``c_void_p``; bounds of float16 and bfloat16 as bits. Nothing is
    checked: `x` and `y` must hold `n` elements, and be the same memory or disjoint.

    Raises:
        KeyError: there is no such element type.
        UserError: there is no C compiler, or it refuses the kernels.
    """
    return function_of(library(), etype)


def function_of(loaded: ctypes.CDLL, etype: str) -> Any:
    """The same of any library that was made from generated/c or a copy of it; KeyError as `function`."""
    number = _C_TYPES[etype]
    found = loaded[f"sonnx_clip_{etype}"]
    found.argtypes = (ctypes.c_void_p, ctypes.c_void_p, number, number, ctypes.c_size_t)
    found.restype = None
    return found


@cache
def library() -> ctypes.CDLL:
    """The shared library with the 12 functions; UserError if it cannot be built."""
    return built_library(compiler())


@cache
def compiler() -> Compiler:
    """The compiler that builds the library; UserError if there is none."""
    return find_compiler()


def flags() -> tuple[str, ...]:
    """The compiler and its flags, as words of a command line."""
    return (*compiler().command, *compiler().flags)
