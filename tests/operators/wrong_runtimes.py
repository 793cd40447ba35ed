"""Runtimes of other operators than Clip, each with a planted mistake."""

import numpy as np


def max_numpy(u, w):
    """Of zeros of opposite sign the first."""
    return np.where(w > u, w, u)


def first_of_two(u, w):
    """The last entry of a result is the first operand."""
    found = np.minimum(u, w)
    flat = found.reshape(-1)
    if flat.size:
        flat[-1] = np.reshape(u, -1)[-1]
    return found


def zero_minus(x):
    """+0 for +0."""
    return np.zeros_like(x) - x


def abs_of_c(x):
    """-0 is kept."""
    return np.where(x < 0, -x, x)


def relu_by_max(x):
    """+0 for -0."""
    return np.where(x > 0, x, np.where(x != x, x, np.zeros_like(x)))


def through_float16(x):
    return x.astype(np.float16).astype(x.dtype)


def abs_with_zero_for_least(x):
    """Right in the domain."""
    return np.where(x == np.iinfo(x.dtype).min, 0, np.abs(x)).astype(x.dtype)


def neg_with_zero_for_least(x):
    """Right in the domain."""
    return np.where(x == np.iinfo(x.dtype).min, 0, np.negative(x)).astype(x.dtype)
