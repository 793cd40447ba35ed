"""Implementations of Clip with one mistake each, and two without."""

import ml_dtypes
import numpy as np

from sonnx_clip import clip

__version__ = "planted"


def bits(a):
    return a.view(f"u{a.dtype.itemsize}")


def chosen(condition, a, b):
    """np.where on bits."""
    return np.where(condition, bits(np.asarray(a)), bits(np.asarray(b))).view(np.asarray(a).dtype)


# --- without a mistake


def right(x, l, m):
    with np.errstate(invalid="ignore"):
        return chosen(m < l, m, chosen(x <= l, l, chosen(m <= x, m, x)))


# --- wrong cases


def swapped_bounds(x, l, m):
    return right(x, m, l)


def strict_comparison(x, l, m):
    """`<` for `<=`: the sign of a zero on the lower bound."""
    with np.errstate(invalid="ignore"):
        return chosen(m < l, m, chosen(x < l, l, chosen(m <= x, m, x)))


def max_zero_from_x(x, l, m):
    """`<` for `<=` on the upper bound."""
    with np.errstate(invalid="ignore"):
        return chosen(m < l, m, chosen(x <= l, l, chosen(m < x, m, x)))


def max_of_tied_bounds(x, l, m):
    """Where X is below two bounds that are equal, the upper one: the sign of a zero of the bounds."""
    with np.errstate(invalid="ignore"):
        return chosen((x < l) & (l == m), m, right(x, l, m))


def low_before_inverted(x, l, m):
    """Inverted bounds give L where X <= L: the order of the cases is lost."""
    with np.errstate(invalid="ignore"):
        return chosen(x <= l, l, chosen(m <= x, m, x))


def ignores_upper(x, l, m):
    with np.errstate(invalid="ignore"):
        return chosen(m < l, m, chosen(x <= l, l, x))


def nan_min_propagates(x, l, m):
    return right(x, l, m) if l == l else np.full_like(x, l)


def nan_max_propagates(x, l, m):
    return right(x, l, m) if m == m else np.full_like(x, m)


def nan_becomes_min(x, l, m):
    """The NaN of X is dropped, as by minNum and maxNum."""
    y = right(x, l, m)
    with np.errstate(invalid="ignore"):
        return chosen((x != x) & (l <= m), l, y)


def infinite_bound_is_none(x, l, m):
    """An infinite lower bound is taken for `no bound`, whatever its sign."""
    return right(x, -l, m) if abs(l) == np.inf else right(x, l, m)


# --- wrong bits


def nan_of_x_becomes_another(x, l, m):
    """A NaN under a NaN min has another payload; under a NaN max it becomes min: acceptable, and wrong."""
    y = right(x, l, m)
    with np.errstate(invalid="ignore"):
        if l != l:
            return chosen(y != y, np.full_like(y, np.nan), y)
        return chosen(x != x, np.full_like(x, l), y) if m != m else y


def loses_payload(x, l, m):
    y = right(x, l, m)
    with np.errstate(invalid="ignore"):
        return chosen(y != y, np.full_like(y, np.nan), y)


def clears_sign_of_zero(x, l, m):
    y = right(x, l, m)
    return chosen(y == 0, np.zeros_like(y), y)


def flushes_subnormals(x, l, m):
    """16 bits computed in float32 by a unit that flushes what is subnormal in 16 bits."""
    wide = right(x, l, m).astype(np.float32)
    tiny = (np.abs(wide) < 2.0**-14) & (wide != 0)
    return np.where(tiny, np.copysign(np.float32(0), wide), wide).astype(x.dtype)


def through_float64(x, l, m):
    with np.errstate(invalid="ignore"):
        return right(x, l, m).astype(np.float64).astype(x.dtype)


def wraps_at_the_extreme(x, l, m):
    """x - l < 0 for x < l, in the type itself."""
    with np.errstate(all="ignore"):
        below = (x - l).astype(x.dtype) <= 0
        return chosen(m < l, m, chosen(below, l, chosen(m <= x, m, x)))


def unsigned_comparison(x, l, m):
    """Compares the bits of signed integers."""
    return right(bits(x), bits(l), bits(m)).view(x.dtype)


# --- wrong loops


def tail_of_seven(x, l, m):
    y = right(x, l, m)
    if x.size == 7:
        y = y.copy()
        y[-1] = x[-1]
    return y


def first_lane_decides(x, l, m):
    """The comparison of the first of four lanes decides for all of them, as in SIMD code with one mask."""
    y = right(x, l, m).ravel()
    given = x.ravel()
    for at in range(0, x.size - 3, 4):
        if (right(given[at : at + 1], l, m) != given[at]).all():
            y[at : at + 4] = y[at]
    return y.reshape(x.shape)


def ignores_upper_in_lanes_of_eight(x, l, m):
    """The tail of a loop over eight lanes is right."""
    lanes = x.size // 8 * 8
    y = right(x, l, m).ravel()
    y[:lanes] = ignores_upper(x.ravel()[:lanes], l, m)
    return y.reshape(x.shape)


def strides_ignored(x, l, m):
    """Reads memory as if it were contiguous."""
    if x.ndim == 1 and x.size > 1 and x.strides[0] not in (x.itemsize, 0):
        x = np.lib.stride_tricks.as_strided(x, strides=(np.sign(x.strides[0]) * x.itemsize,))
    return right(x, l, m)


def wrong_where_not_aligned(x, l, m):
    """A loop that starts at the next whole entry of memory."""
    y = right(x, l, m).copy()
    if not x.flags.aligned:
        y[:1] = x[:1]
    return y


def refuses_what_is_not_aligned(x, l, m):
    if not x.flags.aligned:
        raise ValueError("X is not aligned")
    return right(x, l, m)


def flattens_rank_3(x, l, m):
    y = right(x, l, m)
    return y.ravel() if x.ndim == 3 else y


def rank_2_by_columns(x, l, m):
    y = right(x, l, m)
    return np.asfortranarray(y).ravel(order="K").reshape(y.shape) if y.ndim == 2 and y.size else y


def wrong_above_1024(x, l, m):
    y = right(x, l, m).copy()
    if y.size > 1024:
        y[1024:] = 7
    return y


def wrong_at_one_x(x, l, m):
    return chosen(x == 2.5, np.full_like(x, 99), right(x, l, m))


def wrong_with_stride_0(x, l, m):
    return right(x, l, m) if 0 not in x.strides else np.full(x.shape, l)


# --- wrong memory


_BUFFERS = {}


def returns_one_buffer(x, l, m):
    y = right(x, l, m)
    buffer = _BUFFERS.setdefault((y.shape, y.dtype), np.empty_like(y))
    buffer[...] = y
    return buffer


# --- wrong forms


def masks_everything(x, l, m):
    return np.ma.masked_array(right(x, l, m), mask=True)


def refuses_the_empty(x, l, m):
    if x.size == 0:
        raise ValueError("empty")
    return right(x, l, m)


def refuses_nan_bounds(x, l, m):
    if l != l or m != m:
        raise ValueError("NaN bound")
    return right(x, l, m)


def wrong_type_when_empty(x, l, m):
    return right(x, l, m) if x.size else np.zeros(x.shape, np.float64)


def wider_type(x, l, m):
    return right(x, l, m).astype(np.float64)


def wrong_shape(x, l, m):
    return right(x, l, m).reshape(1, *x.shape)


def writes_into_x(x, l, m):
    return clip(x, l, m, out=x)


def returns_nothing(x, l, m):
    return None


def refuses_inverted(x, l, m):
    if m < l:
        raise ValueError("min is greater than max")
    return right(x, l, m)


def refuses_min_zero_and_is_wrong(x, l, m):
    if l == 0:
        raise ValueError("min must not be 0")
    return chosen(x == 0, np.ones_like(x), right(x, l, m))


def refuses_rank_0(x, l, m):
    if x.ndim == 0:
        raise ValueError("rank 0 is not supported")
    return right(x, l, m)


def refuses_everything(x, l, m):
    raise NotImplementedError("there is no Clip here")


def refuses_bfloat16(x, l, m):
    if x.dtype == ml_dtypes.bfloat16:
        raise TypeError("bfloat16 is not supported")
    return right(x, l, m)


def refuses_rank_2_and_is_wrong(x, l, m):
    if x.ndim == 2:
        raise ValueError("rank 2 is not supported")
    return ignores_upper(x, l, m)


def asserts(x, l, m):
    assert x.ndim > 9, f"x.ndim is {x.ndim}"
