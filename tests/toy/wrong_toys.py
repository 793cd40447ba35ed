"""Implementations of the toys: right ones, and ones that are wrong in one way, for the checker to find."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def relu(x: Array) -> Array:
    """As the cases say."""
    return np.where(x < 0, np.zeros((), x.dtype), x)


def relu_drops_nan(x: Array) -> Array:
    """A maximum that takes a number before a NaN."""
    return np.where(x > 0, x, np.where(x == 0, x, np.zeros((), x.dtype)))


def first_max(u: Array, w: Array) -> Array:
    """As the cases say."""
    return np.where((u != u) | (w <= u), u, w)


def max_without_the_last(u: Array, w: Array) -> Array:
    """Wrong in the last entry of long calls: a loop that ends too early."""
    found = first_max(u, w)
    if u.ndim == 1 and u.size > 16:
        found[-1:] = u[-1:]
    return found
