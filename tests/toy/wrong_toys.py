"""Implementations of the toys: right ones, and ones that are wrong in one way, for the checker to find."""

import numpy as np


def relu(x):
    """As the cases say."""
    return np.where(x < 0, np.zeros((), x.dtype), x)


def relu_drops_nan(x):
    """A maximum that takes a number before a NaN."""
    return np.where(x > 0, x, np.where(x == 0, x, np.zeros((), x.dtype)))


def first_max(u, w):
    """As the cases say."""
    return np.where((u != u) | (w <= u), u, w)


def max_without_the_last(u, w):
    """Wrong in the last entry of long calls: a loop that ends too early."""
    found = first_max(u, w)
    if u.ndim == 1 and u.size > 16:
        found[-1:] = u[-1:]
    return found
