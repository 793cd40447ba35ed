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


def max_but_of_one_pair(u, w):
    """Wrong for one special value beside a value that is none."""
    found = np.maximum(u, w)
    return np.where((u == 12345) & (w == 1), w, found)


def relu_but_of_one_length(x):
    """Wrong in the last entry of calls of 1234 entries."""
    found = np.maximum(x, np.zeros((), x.dtype))
    if x.shape == (1234,):
        found[-1] = x[-1]
    return found


def max_but_in_the_eighth_lane(u, w):
    """Wrong in the last entry of each whole block of eight."""
    found = np.maximum(u, w)
    if u.ndim == 1:
        found[7::8] = w[7::8]
    return found
