"""The kernels behind `sonnx_clip.clip`, bit for bit against the oracle: all kinds of bounds and entries."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle, strict
from sonnx_clip.oracle.float_formats import FORMATS
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

TYPES = [dtype.name for dtype in PLANNERS]
FLOATS = [dtype.name for dtype in FORMATS]
LENGTHS = (*range(1, 71), 127, 128, 129, 255, 256, 257, 1000)

# Bounds: with zeros of each sign, of one sign and of two, equal, infinite, NaN, and inverted.
KINDS = (
    "-1 2", "0.5 2", "-2 -0.5", "0 6", "-0 6", "-6 0", "-6 -0", "0 0", "-0 -0", "0 -0", "-0 0", "1 1",
    "-inf inf", "nan nan", "nan 0", "-0 nan", "2 -1", "2 1", "-1 -2", "inf -inf",
)  # fmt: skip


def special(name):
    patterns = special_patterns(load_spec().element_type(name))
    return np.array(patterns, bits_type(name)).view(numpy_type(name))


def bounds_of(kind, name):
    return tuple(np.array(float(text)).astype(numpy_type(name)) for text in kind.split())


def nans(name):
    """Quiet and signalling, of both signs, with the least and the greatest payload."""
    form = FORMATS[numpy_type(name)]
    top, sign = int(form.infinity), int(form.minus_zero)
    quiet = (int(form.beyond_infinity) + 1) >> 1
    payloads = (1, quiet - 1, quiet, quiet + 1, int(form.beyond_infinity))
    patterns = [top + payload + minus for payload in payloads for minus in (0, sign)]
    return np.array(patterns, form.unsigned).view(numpy_type(name))


def numbers_of(values):
    with np.errstate(invalid="ignore"):
        return values[~np.isnan(values)]


def check(x, lower, upper, got, what=""):
    """`got` has the bits that the oracle gives for `x`, which the call may have overwritten: pass a copy."""
    bits = bits_type(x.dtype.name)
    due = load_oracle().clip(x, lower, upper)
    assert got.shape == x.shape
    assert got.dtype == x.dtype
    wrong = np.argwhere(np.atleast_1d(got.view(bits) != due.view(bits)))
    assert not len(wrong), (
        f"{what} {x.dtype} at {wrong[0]}: x {x}, bounds {lower} {upper}, got {got}"
    )


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("by", ["numpy", "c"], indirect=True)
def test_special_values_in_and_out_of_place_raise_no_flag(name, in_place):
    values = special(name)
    due = load_oracle().clip(values[None, None, :], values[:, None, None], values[None, :, None])
    bits = bits_type(name)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for i, j in product(range(len(values)), repeat=2):
            x = values.copy()
            out = x if in_place else np.empty_like(x)
            assert clip(x, values[i], values[j], out=out) is out
            assert np.array_equal(out.view(bits), due[i, j].view(bits)), (values[i], values[j])


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_short_length_with_a_nan_at_either_end(name, kind):
    """Loops over the last few entries are other code than those over the first."""
    lower, upper = bounds_of(kind, name)
    values, bad = special(name), nans(name)
    numbers = numbers_of(values)
    for length in LENGTHS:
        x = np.resize(values, length)
        check(x, lower, upper, clip(x, lower, upper), f"{length} entries")
        for place, nan in zip((0, -1, length // 2), np.resize(bad, (length % 7 + 3)), strict=False):
            x = np.resize(numbers, length)
            x[place] = nan
            check(x, lower, upper, clip(x, lower, upper), f"{length} entries, NaN at {place}")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "taken", ["numbers", "plus", "minus", "no zero", "-0", "+0", "negative nan", "-0 and nan"]
)
def test_whatever_a_kernel_looks_for_may_be_there_or_not(name, kind, taken):
    """Kernels look for NaNs and for zeros of one sign, and do more work if they find them."""
    lower, upper = bounds_of(kind, name)
    values = special(name)
    numbers = numbers_of(values)
    form = FORMATS[numpy_type(name)]
    minus_zero = form.minus_zero.reshape(1).view(values.dtype)
    x = {
        "numbers": lambda: numbers,
        "plus": lambda: numbers[~np.signbit(numbers)],
        "minus": lambda: numbers[np.signbit(numbers)],
        "no zero": lambda: np.concatenate([numbers[numbers != 0], nans(name)]),
        "-0": lambda: np.concatenate([numbers[numbers != 0], minus_zero]),
        "+0": lambda: np.concatenate([numbers[numbers != 0], np.zeros(1, values.dtype)]),
        "negative nan": lambda: np.concatenate([numbers[numbers != 0], nans(name)[1::2]]),
        "-0 and nan": lambda: np.concatenate([minus_zero, nans(name)]),
    }[taken]()
    check(x, lower, upper, clip(x, lower, upper), taken)
    place = x.copy()
    check(x, lower, upper, clip(place, lower, upper, out=place), f"{taken} in place")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", ["-1 2", "0.5 2", "0 6", "-6 0", "-0 6", "-0 0"])
def test_long_arrays_are_clipped_piece_by_piece(name, kind):
    clip = partial(strict._clip, may_be_in_c=True, chunk=7)
    lower, upper = bounds_of(kind, name)
    values = special(name)
    table = values[:30].reshape(5, 6)
    for x in (values, table, table.T, values[::2], values[:14], values[5, ...]):
        check(x, lower, upper, clip(x, lower, upper, None))
        place = x.copy()
        check(x, lower, upper, clip(place, lower, upper, place), "in place")
