"""Clip of one block, for one kind of bounds: what `sonnx_clip.clip` runs, and what is proved of it.

The contract of every kernel ``kernel(x, lower, upper, out)``:
    - `x` and `out` are arrays of one shape and one element type, of one entry at least;
    - they are the same memory, entry for entry, or they are disjoint;
    - `lower` and `upper` are what a planner of `sonnx_clip.oracle.plan` returned together with the kernel:
      scalars of the element type of `x`, for float16 and bfloat16 their bits as uint16.
Then it writes Clip of each entry into `out`, bit for bit. All arithmetic is on the bits but for the clip of
float32 and float64, so that no payload of a NaN depends on how a float is computed with.

Kernels are run on symbolic arrays to be proved. Hence they hold nothing that such a run cannot see: no
loops, no identity or type of an array, no numbers of Python made from entries. Masked copies are avoided
since they are slow: entries are chosen by AND and XOR with a mask of ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]


class Format(NamedTuple):
    """What is known of the bits of a float format; the last five are scalars of type `unsigned`.

    Args:
        unsigned: the unsigned integer that holds the bits.
        signed: the signed one.
        one: the number 1.
        plus_zero: no bit set.
        minus_zero: the sign alone.
        magnitude: all but the sign.
        infinity: what has a greater magnitude is NaN.
    """

    unsigned: np.dtype[Any]
    signed: np.dtype[Any]
    one: Any
    plus_zero: Any
    minus_zero: Any
    magnitude: Any
    infinity: Any


def _format(width: int, infinity: int) -> Format:
    unsigned, signed = np.dtype(f"u{width // 8}"), np.dtype(f"i{width // 8}")
    sign = 1 << (width - 1)
    return Format(unsigned, signed, *map(unsigned.type, (1, 0, sign, sign - 1, infinity)))


FORMATS: dict[np.dtype[Any], Format] = {
    np.dtype(np.float16): _format(16, 0x7C00),
    np.dtype(ml_dtypes.bfloat16): _format(16, 0x7F80),
    np.dtype(np.float32): _format(32, 0x7F80_0000),
    np.dtype(np.float64): _format(64, 0x7FF0_0000_0000_0000),
}
"""The formats by their dtype."""


# ------------------------------------------------------------------------------------- any element type


def fill(x: Array, lower: Array, upper: Array, out: Array) -> None:  # noqa: ARG001
    """The bounds are inverted."""
    np.copyto(out, upper)


def limit(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Integers; or floats of 32 and 64 bits whose bounds are neither NaN nor zero."""
    x.clip(lower, upper, out=out)


# --------------------------------------------------------------------------------- float32 and float64


def limit_by_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """One bound or both are +0, and none is -0."""
    x.clip(lower, upper, out=out)
    _make_zeros_plus(out)


def limit_by_minus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """One bound or both are -0, and none is +0."""
    x.clip(lower, upper, out=out)
    _make_zeros_minus(out)


def limit_to_zeros(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The bounds are two zeros of different signs: a number at or below zero takes `lower`."""
    low = np.less_equal(x, lower)
    high = np.greater(x, lower)
    np.copyto(out, x)
    np.copyto(out, lower, where=low)
    np.copyto(out, upper, where=high)


def _make_zeros_plus(out: Array) -> None:
    """Make each -0 a +0; all else stays."""
    form = FORMATS[out.dtype]
    bits = out.view(form.unsigned)
    # -0 is the least of the signed integers. One pass tells whether there is any.
    if out.view(form.signed).min() == form.minus_zero.view(form.signed):
        # What has the uppermost bit keeps it when 1 is subtracted, but for -0.
        below = np.subtract(bits, form.one)
        np.bitwise_or(below, form.magnitude, out=below)
        np.bitwise_and(bits, below, out=bits)


def _make_zeros_minus(out: Array) -> None:
    """Make each +0 a -0; all else stays."""
    form = FORMATS[out.dtype]
    bits = out.view(form.unsigned)
    if bits.min() == form.plus_zero:
        # Of what lacks the uppermost bit, only +0 gains it when 1 is subtracted.
        below = np.subtract(bits, form.one)
        np.bitwise_and(below, form.minus_zero, out=below)
        np.bitwise_or(bits, below, out=bits)


# -------------------------------------------------------------------------------- float16 and bfloat16
# The bits are a sign and a magnitude. As int16, what has a plus sign is in order, and what has a minus sign
# is below it; as uint16, what has a minus sign is in the opposite order, and above what has a plus sign.


def fill_16(x: Array, lower: Array, upper: Array, out: Array) -> None:  # noqa: ARG001
    """The bounds are inverted."""
    np.copyto(out.view(np.uint16), upper)


def limit_between_plus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Both bounds have a plus sign."""
    if _has_nan(x):
        limited = np.empty_like(x)
        _between_plus(x, lower, upper, limited)
        _write_but_nan(x, limited, out)
    else:
        _between_plus(x, lower, upper, out)


def limit_between_minus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """Both bounds have a minus sign."""
    if _has_nan(x):
        limited = np.empty_like(x)
        _between_minus(x, lower, upper, limited)
        _write_but_nan(x, limited, out)
    else:
        _between_minus(x, lower, upper, out)


def limit_across_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound has a minus sign, the upper one a plus sign, and none is zero."""
    if _has_nan(x):
        limited = np.empty_like(x)
        _across_zero(x, lower, upper, limited)
        _write_but_nan(x, limited, out)
    else:
        _across_zero(x, lower, upper, out)


def limit_from_minus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is -0, the upper one above zero."""
    if _has_nan(x):
        limited = np.empty_like(x)
        _across_zero(x, lower, upper, limited)
        _make_zeros_minus(limited)
        _write_but_nan(x, limited, out)
    else:
        _across_zero(x, lower, upper, out)
        _make_zeros_minus(out)


def limit_up_to_plus_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The lower bound is below zero, the upper one +0."""
    if _has_nan(x):
        limited = np.empty_like(x)
        _across_zero(x, lower, upper, limited)
        _make_zeros_plus(limited)
        _write_but_nan(x, limited, out)
    else:
        _across_zero(x, lower, upper, out)
        _make_zeros_plus(out)


def limit_to_zeros_16(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """The bounds are two zeros of different signs: a number at or below zero takes `lower`."""
    form = FORMATS[x.dtype]
    number = np.less_equal(np.bitwise_and(x.view(np.uint16), form.magnitude), form.infinity)
    high = np.bitwise_and(number, np.greater(x.view(np.int16), form.plus_zero.view(np.int16)))
    bits = out.view(np.uint16)
    np.copyto(bits, x.view(np.uint16))
    np.copyto(bits, lower, where=number)
    np.copyto(bits, upper, where=high)


def _between_plus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    x.view(np.int16).clip(lower.view(np.int16), upper.view(np.int16), out=out.view(np.int16))


def _between_minus(x: Array, lower: Array, upper: Array, out: Array) -> None:
    x.view(np.uint16).clip(upper, lower, out=out.view(np.uint16))


def _across_zero(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """What is below `lower` first, then what is above `upper`."""
    form = FORMATS[x.dtype]
    x.view(np.uint16).clip(form.plus_zero, lower, out=out.view(np.uint16))
    keys = out.view(np.int16)
    keys.clip(form.minus_zero.view(np.int16), upper.view(np.int16), out=keys)


def _has_nan(x: Array) -> Any:
    """Whether an entry is above infinity as a signed, or above minus infinity as an unsigned integer."""
    form = FORMATS[x.dtype]
    if x.view(np.int16).max() > form.infinity.view(np.int16):
        return True
    return x.view(np.uint16).max() > np.bitwise_or(form.infinity, form.minus_zero)


def _write_but_nan(x: Array, limited: Array, out: Array) -> None:
    """Write the entries of `x` that are NaN, those of `limited` elsewhere."""
    form = FORMATS[x.dtype]
    bits, result = x.view(np.uint16), limited.view(np.uint16)
    # The uppermost bit of a magnitude that is added to this is set if it is a NaN's; shifted as a signed
    # integer, it becomes a mask of ones.
    mask = np.bitwise_and(bits, form.magnitude)
    np.add(mask, np.subtract(form.magnitude, form.infinity), out=mask)
    signed = mask.view(np.int16)
    np.right_shift(signed, np.int16(15), out=signed)
    np.bitwise_and(mask, np.bitwise_xor(bits, result), out=mask)
    np.bitwise_xor(result, mask, out=out.view(np.uint16))
