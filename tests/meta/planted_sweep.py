"""Implementations of Clip that are wrong at very few places, for the sweep."""

import numpy as np

from sonnx_clip import clip


def right(x, l, m, *, out):
    return clip(x, l, m, out=out)


def wrong_at_one_pair(x, l, m, *, out):
    """Of the pairs (X, min) of uint16 one: 12345 at a lower bound of 12345 + 1."""
    clip(x, l, m, out=out)
    if l == 12346 and m == 0xFFFF:
        out[x == 12345] = 12345
    return out


def wrong_nan(x, l, m, *, out):
    """The greatest float16 NaN with a plus sign, 0x7fff, is taken for a number."""
    clip(x, l, m, out=out)
    bits, upper = x.view(np.uint16), np.asarray(m).view(np.uint16)
    if upper == 0x7C00:
        out.view(np.uint16)[bits == 0x7FFF] = 0x7C00
    return out


def swapped_zeros(x, l, m, *, out):
    """A float16 -0 at a lower bound of +0 keeps its sign."""
    clip(x, l, m, out=out)
    if np.asarray(l).view(np.uint16) == 0:
        out.view(np.uint16)[x.view(np.uint16) == 0x8000] = 0x8000
    return out


def wrong_int8(x, l, m, *, out):
    """One triple of 2^24."""
    clip(x, l, m, out=out)
    if l == -3 and m == 7:
        out[x == 5] = 4
    return out


def writes_nothing(x, l, m, *, out):
    return out
