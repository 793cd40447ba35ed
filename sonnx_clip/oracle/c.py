"""Clip by the verified C kernels of generated/c: the runtime `sonnx-c`.

The kernels are compiled when the first of them is needed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle.built import built_file, find_compiler, functions_of, in_c, source_files
from sonnx_clip.oracle.strict import is_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.root.dtypes import Array


def clip(x: Array, min: Array, max: Array) -> Array:
    """Limit the entries of `x`, in any layout, by bounds of shape () of its element type; nothing is checked.

    Raises:
        UserError: there is no C compiler, or it refuses the kernels.
    """
    result = np.empty(x.shape, x.dtype)
    source = x if is_plain(x) else x.copy(order="C")
    in_c(functions()[x.dtype], min.tobytes(), max.tobytes())(source, result)
    return result


@cache
def functions() -> Mapping[np.dtype[Any], Any]:
    """The C function of each element type; UserError if there is no C compiler, or it refuses the kernels."""
    return functions_of(built_file(find_compiler(), source_files()))
