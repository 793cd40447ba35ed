"""Clip of one block under one kind of bounds: what `sonnx_clip.clip` runs, and what is proved of it.

The contract of every kernel ``kernel(x, lower, upper, out)``:
    - `x` and `out` are arrays of one shape and one element type, of one entry at least;
    - they are the same memory, entry for entry, or they are disjoint;
    - `lower` and `upper`, of shape (), are what a planner of `sonnx_clip.oracle.plan` returned together with
      the kernel. For float16 and bfloat16 they are bits, signed or unsigned as the kernel takes them.
Then it writes Clip of each entry into `out`, bit for bit.

Kernels are run on symbolic arrays to be proved. So they hold nothing that such a run cannot see: no loops, no
identity or type of an array, no numbers of Python made from entries. And they take the same time whatever
the entries are, but for NaNs and zeros: NumPy's masked copies are 30 times as slow as its clip when a mask
is irregular. Entries are chosen by AND and XOR with a mask of ones instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sonnx_clip.oracle.float_formats import FORMATS, INT16, UINT16, Array

# ------------------------------------------------------------------------------------- any element type


def fill(x: Array, lower: Array, upper: Array, out: Array) -> None:  # noqa: ARG001
    """The bounds are inverted."""
    np.copyto(out, upper)


def limit(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Integers; or floats of 32 and 64 bits whose bounds are neither NaN nor zero."""
    x.clip(lower, upper, out=out)


# --------------------------------------------------------------------------------- float32 and float64
# Which zero NumPy's clip takes when it has the choice is not said: it is made right afterwards.


def limit_from_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is +0, the upper one is not -0."""
    x.clip(lower, upper, out=out)
    form = FORMATS[x.dtype]
    bits = out.view(form.unsigned)
    # No number below zero is left. The greatest pattern tells of -0, and of a NaN with a minus sign.
    greatest = bits.max()
    if greatest > form.sign:
        _make_zeros_plus(x, bits)
    elif greatest == form.sign:
        np.bitwise_and(bits, form.magnitude, out=bits)


def limit_from_plus_zero_as_integers(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is +0, the upper one is not -0; both are given by their bits, as signed integers.

    For float32, where NumPy clips integers as fast as floats.
    """
    form = FORMATS[x.dtype]
    greatest = x.max()
    if greatest <= form.infinite:
        # There is no NaN. What has a plus sign is in order as an integer, and what has a minus sign is below.
        keys = x.view(form.signed)
        results = out.view(form.signed)
        keys.clip(lower, upper, out=results)
    else:
        low = lower.view(x.dtype)
        high = upper.view(x.dtype)
        limit_from_plus_zero(x, low, high, out)


def limit_by_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is below zero, the upper one is +0."""
    x.clip(lower, upper, out=out)
    form = FORMATS[x.dtype]
    _make_zeros_plus(x, out.view(form.unsigned))


def limit_by_minus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """One bound or both are -0, and none is +0."""
    x.clip(lower, upper, out=out)
    form = FORMATS[x.dtype]
    _make_zeros_minus(x, out.view(form.unsigned))


def limit_to_minus_and_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is -0, the upper one is +0: a number at or below zero becomes -0."""
    form = FORMATS[x.dtype]
    entries = x.view(form.unsigned)
    bits = out.view(form.unsigned)
    # A pattern or a pattern minus 1 has the sign bit where a number is at or below zero, and where a NaN has
    # it. Together they have all bits of a NaN.
    kept = np.subtract(entries, form.one)
    np.bitwise_or(kept, entries, out=kept)
    # Each number becomes a zero of some sign, each NaN stays. With the sign bit set, its mask decides.
    x.clip(lower, upper, out=out)
    np.bitwise_or(bits, form.minus_zero, out=bits)
    np.bitwise_and(bits, kept, out=bits)


def limit_to_plus_and_minus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is +0, the upper one is -0: a number at or below zero becomes +0."""
    limit_to_minus_and_plus_zero(x, upper, lower, out)
    form = FORMATS[x.dtype]
    bits = out.view(form.unsigned)
    # Subtracting 1 reverses the sign bit of both zeros, and of no NaN.
    signs = np.subtract(bits, form.one)
    np.bitwise_and(signs, form.minus_zero, out=signs)
    np.bitwise_and(bits, form.magnitude, out=bits)
    np.bitwise_or(bits, signs, out=bits)


def _make_zeros_plus(x: Array, bits: Array) -> None:
    """Make each -0 a +0 among the bits of results of the type of `x`; all else stays."""
    form = FORMATS[x.dtype]
    # As a signed integer -0 is the least. One pass tells whether it is there.
    least = bits.view(form.signed).min()
    if least == form.lowest:
        # What has the uppermost bit keeps it when 1 is subtracted, but for -0.
        below = np.subtract(bits, form.one)
        np.bitwise_or(below, form.magnitude, out=below)
        np.bitwise_and(bits, below, out=bits)


def _make_zeros_minus(x: Array, bits: Array) -> None:
    """Make each +0 a -0 among the bits of results of the type of `x`; all else stays."""
    form = FORMATS[x.dtype]
    if bits.min() == 0:
        # Of what lacks the uppermost bit, only +0 gains it when 1 is subtracted.
        below = np.subtract(bits, form.one)
        np.bitwise_and(below, form.minus_zero, out=below)
        np.bitwise_or(bits, below, out=bits)


# -------------------------------------------------------------------------------- float16 and bfloat16
# The bits are a sign and a magnitude. As int16, what has a plus sign is in order, and what has a minus sign
# is below it; as uint16, what has a minus sign is in the opposite order, and above what has a plus sign.
# In each order the NaNs of a sign come after its infinity.


def fill_16(x: Array, lower: Array, upper: Array, out: Array) -> None:  # noqa: ARG001
    """The bounds are inverted; `upper` is uint16."""
    bits = out.view(UINT16)
    np.copyto(bits, upper)


def limit_between_plus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Both bounds have a plus sign; they are int16."""
    keys = x.view(INT16)
    if _has_nan(x):
        limited = keys.clip(lower, upper)
        _write_but_nan(x, limited.view(UINT16), out)
    else:
        results = out.view(INT16)
        keys.clip(lower, upper, out=results)


def limit_between_minus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Both bounds have a minus sign; they are uint16, in which `upper` is the lesser."""
    keys = x.view(UINT16)
    if _has_nan(x):
        limited = keys.clip(upper, lower)
        _write_but_nan(x, limited, out)
    else:
        results = out.view(UINT16)
        keys.clip(upper, lower, out=results)


def limit_across_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound has a minus sign, the upper one a plus sign, and none is zero.

    The bounds are given by how far their bits are beyond the first NaN, as int16 and uint16.
    """
    form = FORMATS[x.dtype]
    bits = out.view(UINT16)
    keys = out.view(INT16)
    # Counted from the first NaN with a plus sign, round and round, the patterns are: NaNs with a plus sign,
    # minus zero to minus infinity, NaNs with a minus sign, zero to infinity. `upper` limits the last alone.
    np.subtract(x.view(UINT16), form.first_nan, out=bits)
    bits.clip(form.plus_zero, upper, out=bits)
    # As a signed integer the same count begins with the NaNs with a minus sign, half a round further. Then
    # minus zero to minus infinity are the last, and `lower` limits them alone.
    keys.clip(form.least, lower, out=keys)
    np.add(bits, form.first_nan, out=bits)


def limit_from_minus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is -0, the upper one above zero; both as `limit_across_zero` takes them."""
    limit_across_zero(x, lower, upper, out)
    bits = out.view(UINT16)
    _make_zeros_minus(x, bits)


def limit_up_to_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is below zero, the upper one is +0; both as `limit_across_zero` takes them."""
    limit_across_zero(x, lower, upper, out)
    bits = out.view(UINT16)
    _make_zeros_plus(x, bits)


def limit_to_zeros_16(x: Array, lower: Array, upper: Array, out: Array) -> None:  # noqa: ARG001
    """The bounds are two zeros of different signs, as uint16: what is at or below zero takes `lower`."""
    form = FORMATS[x.dtype]
    entries = x.view(UINT16)
    # A pattern minus 1, or the pattern itself, has the sign bit where a number is at or below zero.
    limited = np.subtract(entries, form.one)
    np.bitwise_or(limited, entries, out=limited)
    np.bitwise_and(limited, form.minus_zero, out=limited)
    np.bitwise_xor(limited, upper, out=limited)
    _write_but_nan(x, limited, out)


def _has_nan(x: Array) -> Any:
    """Whether an entry is above infinity as a signed, or above minus infinity as an unsigned integer."""
    form = FORMATS[x.dtype]
    greatest = x.view(INT16).max()
    if greatest > form.signed_infinity:
        return True
    return x.view(UINT16).max() > form.minus_infinity


def _write_but_nan(x: Array, limited: Array, out: Array) -> None:
    """Write the entries of `x` that are NaN, those of `limited` (bits, overwritten) elsewhere."""
    form = FORMATS[x.dtype]
    bits = x.view(UINT16)
    # With a minus sign all patterns have the uppermost bit. A NaN's alone loses it when this is added, and
    # the shift spreads the bit: no bit remains for a NaN, all for what is not.
    mask = np.bitwise_or(bits, form.minus_zero)
    np.add(mask, form.beyond_infinity, out=mask)
    signed = mask.view(INT16)
    np.right_shift(signed, form.shift, out=signed)
    np.bitwise_xor(limited, bits, out=limited)
    np.bitwise_and(limited, mask, out=limited)
    results = out.view(UINT16)
    np.bitwise_xor(bits, limited, out=results)
