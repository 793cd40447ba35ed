"""What DirectML's words allow for ScaleBias: each way to compute g, judged by exact numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonnx_clip.oracle.dialect import fused, named, ways
from sonnx_clip.root.errors import DialectError, UndefinedByDialectError

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def bits(array):
    return (
        np.ascontiguousarray(array)
        .view(f"u{np.asarray(array).dtype.itemsize}")
        .reshape(-1)
        .tolist()
    )


def exact(x, scale, bias):
    return Fraction(float(x)) * Fraction(float(scale)) + Fraction(float(bias))


def nearest(number, dtype):
    """The nearest number of a type by its neighbours: exact rational arithmetic alone."""
    with np.errstate(all="ignore"):
        guess = dtype(float(number))
        near = [guess, np.nextafter(guess, dtype(np.inf)), np.nextafter(guess, dtype(-np.inf))]
    finite = [one for one in near if np.isfinite(one)]
    off = [abs(Fraction(float(one)) - number) for one in finite]
    best = [one for one, by in zip(finite, off, strict=True) if by == min(off)]
    return [one for one in best if bits(one)[0] % 2 == 0] or best


@pytest.mark.parametrize(("dtype", "width"), [(np.float32, 32), (np.float16, 16)])
def test_fused_rounds_once(dtype, width):
    @given(st.floats(width=width, allow_nan=False, allow_infinity=False), FLOATS, FLOATS)
    def run(x, scale, bias):
        found = fused(np.array([x], dtype), np.float32(scale), np.float32(bias), np.dtype(dtype))[0]
        if np.isfinite(found):
            assert found in nearest(exact(dtype(x), np.float32(scale), np.float32(bias)), dtype)

    run()


def test_a_sum_that_float64_cannot_hold_is_rounded_once():
    """The sum is 2^-70 below a tie, which float64 rounds to the tie: rounded twice it would go up."""
    x, scale, bias = (
        np.float32(n) for n in ((1 + 2.0**-23) * 2.0**-12, (1 - 2.0**-23) * 2.0**-12, 1 + 2.0**-23)
    )
    twice = np.float32(np.float64(x) * np.float64(scale) + np.float64(bias))
    assert twice == 1 + 2.0**-22
    assert fused(np.array([x]), scale, bias, np.dtype(np.float32))[0] == 1 + 2.0**-23


@pytest.mark.parametrize("id_", ["directml-1.0", "directml-5.0"])
def test_both_roundings_of_the_cast_are_allowed(id_):
    """The oracle gives 60000, the nearest to g is 60032: both are allowed, and 60064 is not."""
    oracle = named(id_)
    x = np.full((1, 1, 1, 1), 60000, np.float16)
    given = {"min": -65504.0, "max": 65504.0}
    scaling = {"scale": 1.0004, "bias": 0.0}
    assert oracle(x, **given, **scaling).item() == 60000
    for y, allowed in ((60000, True), (60032, True), (60064, False), (59968, False)):
        assert oracle.allows(x, np.full_like(x, y), **given, **scaling).item() is allowed


def test_each_way_is_allowed_and_a_neighbour_of_none_is_not():
    oracle, shape = named("directml-5.0"), (101,)
    x = np.linspace(-1, 1, 101, dtype=np.float16).reshape(shape)
    found = ways(x, np.float32(0.3), np.float32(-0.03))
    given = {"min": -100.0, "max": 100.0, "scale": 0.3, "bias": -0.03}
    assert len({tuple(bits(way)) for way in found.values()}) > 1
    for way in found.values():
        assert oracle.allows(x, way, **given).all()
    beyond = np.nextafter(np.maximum.reduce(list(found.values())), np.float16(np.inf))
    assert not oracle.allows(x, beyond, **given).any()


def test_the_oracle_is_allowed_with_every_bound():
    oracle = named("directml-3.0")
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, 65504], np.float16)
    for low, high in (
        (0.0, 1.0),
        (1.0, 0.0),
        (-0.0, 0.0),
        (float("nan"), 1.0),
        (0.0, float("inf")),
    ):
        for scale, bias in ((1.0, 0.0), (0.0, -0.0), (float("inf"), 1.0), (-2.5, 0.1)):
            scaling = {"scale": scale, "bias": bias}
            assert oracle.allows(x, oracle(x, low, high, **scaling), low, high, **scaling).all()


def test_rules_of_calls_hold_for_assert_clip():
    x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
    with pytest.raises(DialectError, match="need each other"):
        named("directml-5.0").allows(x, y, 0.0, 1.0, scale=1.0)
    with pytest.raises(DialectError, match="no ScaleBias"):
        named("onnx-6").allows(x, y, 0.0, 1.0, scale=1.0, bias=0.0)
    with pytest.raises(UndefinedByDialectError):
        named("directml-5.0").allows(
            np.zeros(1, np.int8), np.zeros(1, np.int8), 0.0, 1.0, scale=1.0, bias=0.0
        )
