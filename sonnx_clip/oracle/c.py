"""Clip by the verified C kernels of generated/c, as `sonnx_clip.clip` is by those of NumPy.

The kernels are compiled when the first of them is needed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle.built import built_file, find_compiler, in_c, kernel_functions, source_files
from sonnx_clip.oracle.strict import bound_of, check_bounds, is_plain, tensor_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.oracle.float_formats import Array


def clip(x: object, min: object, max: object) -> Array:
    """Limit the entries of `x` to the interval [`min`, `max`], as `sonnx_clip.clip`, whose checks these are.

    Raises:
        RestrictionError: as `sonnx_clip.clip`.
        UserError: there is no C compiler, or it refuses the kernels.
    """
    tensor = tensor_of("x", x)
    lower = bound_of("min", "R1", min)
    upper = bound_of("max", "R2", max)
    check_bounds(tensor.dtype, lower, upper)
    # C is given a pointer and a number of entries: a strided array is copied, entry by entry.
    source = tensor if is_plain(tensor) else tensor.copy(order="C")
    result = np.empty(tensor.shape, tensor.dtype)
    function = compiled_functions()[tensor.dtype]
    call = in_c(function, lower.tobytes(), upper.tobytes())
    call(source, result)
    return result


@cache
def compiled_functions() -> Mapping[np.dtype[Any], Any]:
    """The C function of each element type; UserError if there is no C compiler, or it refuses the kernels."""
    library = built_file(find_compiler(), source_files())
    return kernel_functions(library)
