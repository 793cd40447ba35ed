"""Values against NumPy and ml_dtypes: all patterns of 8 and 16 bits, samples of the others."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonnx_clip.language import decode, encode, hex_float, show, show_bits
from sonnx_clip.language.values import comparison_key, equal, identical, integer_range, is_nan
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType

SPEC = load_spec()
MACHINE = [etype for etype in SPEC.element_types if etype.width]
FLOATS = [etype for etype in MACHINE if etype.family == "float"]
INTEGERS = [etype for etype in MACHINE if etype.family == "int"]
REAL, FLOAT32 = SPEC.element_type("real"), SPEC.element_type("float32")


def patterns_of(etype: ElementType) -> np.ndarray:
    """All patterns of a small type; of a large one random patterns and the neighbours of special ones."""
    if etype.width <= 16:
        return np.arange(1 << etype.width, dtype=f"u{etype.width // 8}")
    edges = [1 << bit for bit in range(etype.width)]
    near = {(edge + step) % (1 << etype.width) for edge in edges for step in (-2, -1, 0, 1)}
    rng = np.random.default_rng(1)
    unsigned = np.dtype(f"u{etype.width // 8}")
    random = rng.integers(0, np.iinfo(unsigned).max, 2000, unsigned)
    return np.concatenate([np.array(sorted(near), unsigned), random])


def numbers_of(etype: ElementType) -> list[tuple[int, object]]:
    """Pattern and NumPy scalar."""
    patterns = patterns_of(etype)
    return list(zip(map(int, patterns), patterns.view(numpy_type(etype.id)), strict=True))


@pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)
def test_decode_is_what_numpy_reads(etype: ElementType) -> None:
    for pattern, scalar in numbers_of(etype):
        number = decode(pattern, etype)
        if etype.family == "int":
            assert number == int(scalar)
        elif np.isfinite(scalar):
            assert number == Fraction(float(scalar))
        else:
            assert number == str(float(scalar)).replace("-nan", "nan")


@pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)
def test_show_and_hex_float_come_back(etype: ElementType) -> None:
    for pattern, _ in numbers_of(etype)[:: 1 if etype.width == 8 else 23]:
        if is_nan(pattern, etype):
            assert show(pattern, etype).removeprefix("-") == "nan"
            continue
        assert encode(show(pattern, etype), etype) == pattern
        assert encode(show_bits(pattern, etype), etype) == pattern
        if etype.family == "float":
            assert encode(hex_float(pattern, etype), etype) == pattern


@pytest.mark.parametrize(
    "etype", [SPEC.element_type("float64"), FLOAT32], ids=lambda etype: etype.id
)
@given(text=st.decimals(-(10**30), 10**30, allow_nan=False, allow_infinity=False).map(str))
def test_encode_rounds_as_numpy_does(etype: ElementType, text: str) -> None:
    # NumPy reads float32 through a double: only float64 is the judge, float32 where the double is exact.
    double = np.float64(text)
    if etype.id == "float64":
        assert encode(text, etype) == int(double.view(np.uint64))
    elif Fraction(float(double)) == Fraction(text):
        assert encode(text, etype) == int(np.float32(double).view(np.uint32))


@pytest.mark.parametrize("etype", [t for t in FLOATS if t.width == 16], ids=lambda etype: etype.id)
def test_halfway_goes_to_the_even_pattern(etype: ElementType) -> None:
    top = encode("highest", etype)
    for pattern in range(0, top, 13):
        low, high = decode(pattern, etype), decode(pattern + 1, etype)
        middle = (low + high) / 2
        text = f"0x{middle.numerator:x}p-{middle.denominator.bit_length() - 1}"
        even = pattern if pattern % 2 == 0 else pattern + 1
        assert encode(text, etype) == even
        assert encode(f"-{text}", etype) == even | 0x8000


def test_a_decimal_does_not_pass_through_a_double() -> None:
    # Just above the middle of two neighbours of 1: a double loses the last digit and ties to even.
    text = "1.000000059604644775390626"
    assert encode(text, FLOAT32) == 0x3F800001
    assert int(np.float32(np.float64(text)).view(np.uint32)) == 0x3F800000


@pytest.mark.parametrize("etype", FLOATS, ids=lambda etype: etype.id)
def test_constants_are_those_of_the_format(etype: ElementType) -> None:
    info = ml_dtypes.finfo(numpy_type(etype.id))
    values = {"highest": info.max, "lowest": info.min, "smallest_normal": info.smallest_normal}
    values["smallest_subnormal"] = info.smallest_subnormal
    for name, value in values.items():
        assert decode(encode(name, etype), etype) == Fraction(float(value))
    assert decode(encode("-inf", etype), etype) == "-inf"
    assert decode(encode("-highest", etype), etype) == Fraction(float(info.min))
    nan, minus_nan = encode("nan", etype), encode("-nan", etype)
    assert is_nan(nan, etype)
    assert nan ^ minus_nan == encode("-0", etype)
    assert encode("snan", etype) == encode("inf", etype) + 1
    assert np.isnan(np.array([nan], f"u{etype.width // 8}").view(numpy_type(etype.id)))[0]


@pytest.mark.parametrize("etype", INTEGERS, ids=lambda etype: etype.id)
def test_integers_are_exact_and_in_range(etype: ElementType) -> None:
    info = np.iinfo(etype.id)
    assert integer_range(etype) == (info.min, info.max)
    assert decode(encode("lowest", etype), etype) == info.min
    assert decode(encode("highest", etype), etype) == info.max
    assert decode(encode("1e1", etype), etype) == 10
    assert encode("-0", etype) == 0
    for text in (
        str(info.min - 1),
        str(info.max + 1),
        "9.5",
        "nan",
        "inf",
        "smallest_normal",
        "-1e99",
    ):
        with pytest.raises(UserError):
            encode(text, etype)


@pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)
def test_comparisons_are_those_of_numpy(etype: ElementType) -> None:
    numbers = numbers_of(etype)
    special = ["lowest", "highest", "0", "1"]
    if etype.family == "float":
        special += [
            "nan",
            "-nan",
            "inf",
            "-inf",
            "-0",
            "-1",
            "smallest_subnormal",
            "-smallest_normal",
        ]
    unsigned, dtype = f"u{etype.width // 8}", numpy_type(etype.id)
    key = partial(comparison_key, etype=etype)
    patterns = [encode(text, etype) for text in special]
    chosen = numbers[:: max(1, len(numbers) // 200)]
    chosen += list(zip(patterns, np.array(patterns, unsigned).view(dtype), strict=True))
    for a, x in chosen[-60:]:
        for b, y in chosen:
            assert (key(a) < key(b)) == bool(x < y)
            assert (key(a) <= key(b)) == bool(x <= y)
            assert equal(a, b, etype) == bool(x == y)
            assert identical(a, b) == (a == b)


def test_real_is_exact() -> None:
    assert encode("-6.1", REAL) == Fraction(-61, 10)
    assert encode("0x1.8p+1", REAL) == 3
    assert encode("-0", REAL) == 0
    assert show(Fraction(-61, 10), REAL) == "-6.1"
    assert show(Fraction(1, 3), REAL) == "1/3"
    assert show(Fraction(10), REAL) == "10"
    assert comparison_key(Fraction(1, 3), REAL) < comparison_key(Fraction(1, 2), REAL)
    assert not is_nan(Fraction(0), REAL)
    assert decode(Fraction(1, 3), REAL) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("text", "etype", "message"),
    [
        ("one", FLOAT32, "`one` is not a number"),
        ("1e9999999999", FLOAT32, "is not a number"),
        ("9" * 4500, FLOAT32, "is not a number"),
        ("0x7fc0", FLOAT32, "0x7fc0 has 16 bits, float32 has 32"),
        ("0x7fc0", REAL, "is a bit pattern; real has no bit patterns"),
        ("3.5e38", FLOAT32, "3.5e38 is too large for float32"),
        ("nan", REAL, "real has no `nan`"),
        ("0x1p-1", INTEGERS[0], "is not an integer"),
    ],
)
def test_invalid_number_is_refused(text: str, etype: ElementType, message: str) -> None:
    with pytest.raises(UserError) as caught:
        encode(text, etype)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("type_id", "number", "shown"),
    [
        ("float16", "highest", "65504"),
        ("float16", "-2049", "-2048"),
        ("bfloat16", "2147483648", "2147483648"),
        ("float32", "-2147483648", "-2147483648"),
        ("float32", "16777217", "16777216"),
        ("float64", "9007199254740992", "9007199254740992"),
        ("float32", "1e16", "1e+16"),
        ("float64", "1e15", "1000000000000000"),
        ("float16", "2048.5", "2048"),
        ("float32", "0.5", "0.5"),
    ],
)
def test_integer_below_10_to_the_16_is_shown_exactly(type_id: str, number: str, shown: str) -> None:
    etype = SPEC.element_type(type_id)
    assert show(encode(number, etype), etype) == shown


@pytest.mark.parametrize(
    ("text", "shown", "hexadecimal", "bits"),
    [
        ("-0", "-0", "-0x0p+0", "0x80000000"),
        ("nan", "nan", "nan", "0x7fc00000"),
        ("-inf", "-inf", "-inf", "0xff800000"),
        ("smallest_subnormal", "1e-45", "0x1p-149", "0x00000001"),
        ("highest", "3.4028235e+38", "0x1.fffffep+127", "0x7f7fffff"),
        ("0.1", "0.1", "0x1.99999ap-4", "0x3dcccccd"),
    ],
)
def test_people_read_float32(text: str, shown: str, hexadecimal: str, bits: str) -> None:
    value = encode(text, FLOAT32)
    assert show(value, FLOAT32) == shown
    assert hex_float(value, FLOAT32) == hexadecimal
    assert show_bits(value, FLOAT32) == bits
