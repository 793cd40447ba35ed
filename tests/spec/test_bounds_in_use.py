"""Bounds in use: which of them an element type holds, and the values of X around them."""

from __future__ import annotations

import pytest

from sonnx_clip.conform.operator import clip_operator, machine_types
from sonnx_clip.language import decode, encode
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.bounds_in_use import bounds_in_use, holds, neighbours, values_around, values_at

SPEC = load_spec()
TYPES = [etype.id for etype in machine_types((), clip_operator())]


def sides(name, *texts):
    """The bits of a pair of bounds in an element type."""
    etype = SPEC.element_type(name)
    return tuple(None if text == "absent" else encode(text, etype) for text in texts)


def pairs(name):
    return [used.sides for used in bounds_in_use(SPEC, SPEC.element_type(name))]


@pytest.mark.parametrize("name", TYPES)
def test_every_element_type_has_relu6_and_each_pair_once(name):
    found = pairs(name)
    assert found[0] == sides(name, "0", "6")
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("number", "holding", "lacking"),
    [
        ("320", ["uint16", "int16", "bfloat16", "float16"], ["int8", "uint8"]),
        ("-1", ["int8", "int64", "float16"], ["uint8", "uint16", "uint32", "uint64"]),
        ("1e-12", ["bfloat16", "float32", "float64"], ["float16", "int8", "uint64"]),
        ("65504", ["float16", "float32", "uint16"], ["bfloat16", "int16", "uint8"]),
        ("4294967295", ["uint32", "int64", "float64"], ["int32", "float32", "bfloat16"]),
        ("0.1", ["float16", "float64"], ["int32", "uint8"]),  # a fraction is rounded
        ("inf", ["bfloat16", "float64"], ["int8", "uint64"]),
        ("lowest", ["float32", "int8", "uint8"], []),
    ],
)
def test_number_is_held_exactly_or_skipped(number, holding, lacking):
    assert all(holds(number, SPEC.element_type(name)) for name in holding)
    assert not any(holds(number, SPEC.element_type(name)) for name in lacking)


@pytest.mark.parametrize(
    ("low", "high", "holding", "lacking"),
    [
        ("0", "320", "int16", "int8"),
        ("-1", "1", "int8", "uint8"),
        ("1e-12", "absent", "bfloat16", "float16"),
        ("0", "65504", "float16", "bfloat16"),
    ],
)
def test_pair_that_a_type_cannot_hold_is_skipped(low, high, holding, lacking):
    assert sides(holding, low, high) in pairs(holding)
    reasons = {used.reason for used in SPEC.bounds_in_use if used.texts == (low, high)}
    assert reasons
    assert not reasons & {used.reason for used in bounds_in_use(SPEC, SPEC.element_type(lacking))}


def test_absent_side_has_no_bits():
    whole = {
        used.sides: used.is_whole for used in bounds_in_use(SPEC, SPEC.element_type("float32"))
    }
    assert whole[sides("float32", "0", "absent")] is False
    assert whole[sides("float32", "absent", "absent")] is False
    assert whole[sides("float32", "0", "6")] is True


def test_pairs_with_equal_bits_in_a_type_are_one():
    """Of int16, -32768 and 32767 are lowest and highest too."""
    bounds = sides("int16", "lowest", "highest")
    in_int16 = bounds_in_use(SPEC, SPEC.element_type("int16"))
    assert [used.reason for used in in_int16 if used.sides == bounds] == ["the range of int16"]


AROUND = [
    # type, bounds, and values of X that show a mistake there
    ("int8", ("0", "6"), ["-1", "0", "1", "3", "5", "6", "7", "lowest", "highest"]),
    ("uint8", ("0", "6"), ["0", "1", "3", "5", "6", "7", "highest"]),
    ("int64", ("lowest", "6"), ["lowest", "-9223372036854775807", "5", "6", "7", "highest"]),
    ("uint64", ("0", "highest"), ["0", "1", "18446744073709551614", "highest"]),
    (
        "float32",
        ("0", "6"),
        [
            "7", "5", "1", "-1", "3", "6", "0x1.7ffffep+2", "0x1.800002p+2", "0", "-0",
            "smallest_subnormal", "-smallest_subnormal", "lowest", "highest", "inf", "-inf", "nan",
        ],
    ),
    ("float16", ("-inf", "0"), ["lowest", "-1", "-0", "0", "1", "inf", "nan"]),
    ("bfloat16", ("1e-12", "1"), ["1e-12", "1", "2", "0", "-0"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bounds", "texts"), AROUND)
def test_values_around_bounds_show_a_mistake_at_them(name, bounds, texts):
    etype = SPEC.element_type(name)
    found = values_around(sides(name, *bounds), etype)
    assert {encode(text, etype) for text in texts} <= set(found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", TYPES)
def test_values_at_all_bounds_in_use_are_values_of_the_type(name):
    etype = SPEC.element_type(name)
    for used in bounds_in_use(SPEC, etype):
        given = [side for side in used.sides if side is not None]
        found = values_at(given, etype)
        assert set(given) <= set(found)
        assert all(0 <= value < 1 << etype.width for value in found)


@pytest.mark.parametrize(
    ("name", "number", "texts"),
    [
        ("int8", "-1", ["-2", "0"]),
        ("int8", "highest", ["126"]),
        ("uint8", "0", ["1"]),
        ("float32", "0", ["-smallest_subnormal", "smallest_subnormal"]),
        ("float32", "-0", ["-smallest_subnormal", "smallest_subnormal"]),
        ("float64", "highest", ["0x1.ffffffffffffep+1023", "inf"]),
        ("float16", "inf", ["highest"]),
        ("float16", "nan", []),
    ],
)
def test_neighbours_are_the_next_values_of_the_type(name, number, texts):
    etype = SPEC.element_type(name)
    found = list(neighbours(encode(number, etype), etype))
    assert found == [encode(text, etype) for text in texts]
    assert "nan" not in {decode(value, etype) for value in found}
