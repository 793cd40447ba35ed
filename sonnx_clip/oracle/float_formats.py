"""The bit layouts of the float formats, for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

INT16, UINT16 = np.dtype(np.int16), np.dtype(np.uint16)


@dataclass(frozen=True)
class Format:
    """Constants of a float format, on its bits.

    What is combined with arrays is an array of shape (), what is compared with the result of a reduction is a
    scalar: NumPy is several times as fast so. `unsigned` and `signed` are the integers that hold the bits.
    """

    unsigned: np.dtype[Any]
    signed: np.dtype[Any]
    # Unsigned, of shape ().
    one: Array
    plus_zero: Array
    minus_zero: Array
    magnitude: Array  # all bits but the sign
    infinity: Array
    first_nan: Array  # the bits after those of infinity
    beyond_infinity: Array  # how many patterns are above infinity: the NaNs
    # Signed, of shape ().
    shift: Array  # how far the sign is from the lowest bit
    least: Array  # the least signed integer: -0
    # Scalars.
    sign: Any  # -0, unsigned
    lowest: Any  # -0, signed
    signed_infinity: Any
    minus_infinity: Any  # unsigned
    infinite: Any  # a number of the format


def _format(dtype: np.dtype[Any], infinity: int) -> Format:
    width = 8 * dtype.itemsize
    sign = 1 << (width - 1)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    signed = np.dtype(f"i{dtype.itemsize}")
    return Format(
        unsigned=unsigned,
        signed=signed,
        one=_constant(1, unsigned),
        plus_zero=_constant(0, unsigned),
        minus_zero=_constant(sign, unsigned),
        magnitude=_constant(sign - 1, unsigned),
        infinity=_constant(infinity, unsigned),
        first_nan=_constant(infinity + 1, unsigned),
        beyond_infinity=_constant(sign - 1 - infinity, unsigned),
        shift=_constant(width - 1, signed),
        least=_constant(-sign, signed),
        sign=unsigned.type(sign),
        lowest=signed.type(-sign),
        signed_infinity=signed.type(infinity),
        minus_infinity=unsigned.type(sign + infinity),
        infinite=unsigned.type(infinity).view(dtype),
    )


def _constant(value: int, dtype: np.dtype[Any]) -> Array:
    constant = np.array(value, dtype)
    constant.flags.writeable = False
    return constant


FORMATS: dict[np.dtype[Any], Format] = {
    dtype: _format(dtype, infinity)
    for dtype, infinity in (
        (np.dtype(np.float16), 0x7C00),
        (np.dtype(ml_dtypes.bfloat16), 0x7F80),
        (np.dtype(np.float32), 0x7F80_0000),
        (np.dtype(np.float64), 0x7FF0_0000_0000_0000),
    )
}
"""The formats by their dtype."""
