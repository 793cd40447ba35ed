"""How simple numbers are, so that a report shows the example that people read most easily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import numpy_type

if TYPE_CHECKING:
    from sonnx_clip.root.dtypes import Array

_FRACTION, _INFINITE, _NAN = 1e6, 1e200, 1e201


def complexity(bits: Array, type_id: str) -> Array:
    """A measure of numbers, given by their bits: small whole ones come first, then fractions, NaNs last."""
    with np.errstate(all="ignore"):
        values = bits.view(numpy_type(type_id)).astype(np.float64)
        is_whole = values == np.rint(values)
        size = np.abs(values) + np.where(is_whole, 0, _FRACTION)
    size[np.isinf(values)] = _INFINITE
    size[np.isnan(values)] = _NAN
    # Of two numbers of one magnitude the positive one is simpler; -0 is the least simple zero.
    return np.asarray(size + np.signbit(values) / 2)
