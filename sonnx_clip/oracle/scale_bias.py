"""What DirectML's words allow for ScaleBias: g(x) = x * scale + bias, in one of the ways to compute it.

The page names no precision. It does not say whether scale and bias, which are FLOAT, are cast to the element
type first, nor how often g is rounded. That each of the ways below is allowed, and no other, is our choice.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]


def ways(x: Array, scale: np.float32, bias: np.float32) -> dict[str, Array]:
    """What x * scale + bias may be, way by way.

    Args:
        x: array of float16 or float32, of any shape.
        scale: FLOAT.
        bias: FLOAT.

    Returns:
        Arrays of the shape and element type of `x`: first scale and bias are cast, and the product and the
        sum are rounded, as the oracle does; then the others.
    """
    with np.errstate(all="ignore"):
        by, plus = scale.astype(x.dtype), bias.astype(x.dtype)
        wide = x.astype(np.float32)
        return {
            "cast, rounded twice": np.asarray(np.add(np.multiply(x, by), plus)),
            "cast, rounded once": fused(x, by, plus, x.dtype),
            "in FLOAT, rounded twice": np.asarray(np.add(np.multiply(wide, scale), bias)).astype(x.dtype),
            "in FLOAT, rounded once": fused(x, scale, bias, np.dtype(np.float32)).astype(x.dtype),
            "rounded once to the element type": fused(x, scale, bias, x.dtype),
        }


def fused(x: Array, scale: np.floating[Any], bias: np.floating[Any], to: np.dtype[Any]) -> Array:
    """What x * scale + bias is, of float16 or float32 operands, rounded once to float16 or float32.

    The product is exact in float64. A sum that is not exact there is rounded to the neighbour whose last bit
    is 1, which leaves the second rounding what a single one would be.
    """
    with np.errstate(all="ignore"):
        product = np.asarray(x, np.float64) * np.float64(scale)
        plus = np.float64(bias)
        total = np.asarray(product + plus)
        virtual = total - product
        error = (product - (total - virtual)) + (plus - virtual)
        even = (np.ascontiguousarray(total).view(np.uint64).reshape(total.shape) & np.uint64(1)) == 0
        off = np.isfinite(total) & (error != 0) & even
        odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
        return np.asarray(np.where(off, odd, total)).astype(to)
