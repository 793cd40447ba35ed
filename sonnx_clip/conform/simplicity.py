"""How simple numbers are, so that a report shows the example that people read most easily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.root.dtypes import numpy_type

if TYPE_CHECKING:
    from sonnx_clip.root.dtypes import Array

# What is added for a fraction, and the measures of infinities and NaNs: a fraction is less simple than a
# whole number of five digits, and both are simpler than what is no number.
_FRACTION = 1e6
_INFINITE = 1e200
_NAN = 1e201


def complexity(bits: Array, type_id: str) -> Array:
    """A measure of numbers, given by their bits: small whole ones come first, then fractions, NaNs last."""
    with np.errstate(all="ignore"):
        values = bits.view(numpy_type(type_id)).astype(np.float64)
        is_whole = values == np.rint(values)
        penalty = np.where(is_whole, 0, _FRACTION)
        size = np.abs(values) + penalty
    size[np.isinf(values)] = _INFINITE
    size[np.isnan(values)] = _NAN
    # Of two numbers of one magnitude the positive one is simpler; -0 is the least simple zero.
    half_if_negative = np.signbit(values) / 2
    return np.asarray(size + half_if_negative)
