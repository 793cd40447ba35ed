"""The oracles of the dialects, judged by their own pages, by exact numbers, and by the specification."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonnx_clip.language.convert import convert
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle.dialect import dialect, named
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import DialectError, UndefinedByDialectError, UserError
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.dialects import defaults
from sonnx_clip.spec.readings import answers

SPEC = load_spec()
FLOAT = SPEC.element_type("float32")
ALL = [d.id for d in SPEC.dialects]
OF_ARRAYS = [id_ for id_ in ALL if id_ != "sonnx-real"]
INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
DTYPES = {
    name: numpy_type(name)
    for name in (*sorted(INTEGERS), "float16", "bfloat16", "float32", "float64")
}
BIG = {"int64", "uint64"}
F32_MAX = np.finfo(np.float32).max

# What the pages say, typed in from them again: types, ranks of X, how bounds are given.
PAGES = {
    "sonnx-int": (INTEGERS, range(9), "inputs"),
    "sonnx-float": ({"float16", "bfloat16", "float32", "float64"}, range(9), "inputs"),
    "sonnx-2026-01": ({"float16", "float32", "float64"} | INTEGERS, range(9), "inputs"),
    "onnx-1": ({"float16", "float32", "float64"}, range(9), "attributes"),
    "onnx-6": ({"float16", "float32", "float64"}, range(9), "attributes"),
    "onnx-11": ({"float16", "float32", "float64"}, range(9), "inputs"),
    "onnx-12": ({"float16", "float32", "float64"} | INTEGERS, range(9), "inputs"),
    "onnx-13": ({"float16", "bfloat16", "float32", "float64"} | INTEGERS, range(9), "inputs"),
    "directml-1.0": ({"float16", "float32"}, range(4, 5), "members"),
    "directml-2.1": ({"float16", "float32"} | INTEGERS - BIG, range(4, 5), "members"),
    "directml-3.0": ({"float16", "float32"} | INTEGERS - BIG, range(1, 9), "members"),
    "directml-5.0": ({"float16", "float32"} | INTEGERS, range(1, 9), "members"),
}


def bits(array):
    return np.asarray(array).view(f"u{np.asarray(array).dtype.itemsize}").reshape(-1).tolist()


def bound(id_, dtype, value):
    """A bound as a dialect takes it."""
    with np.errstate(over="ignore"):
        return (
            np.float32(value)
            if named(id_).row["bound_type"] == "float32"
            else np.asarray(value, dtype)
        )


@pytest.mark.parametrize("id_", OF_ARRAYS)
def test_every_page_is_kept_and_nothing_else_is_taken(id_):
    types, ranks, given_as = PAGES[id_]  # a dialect without a page is a KeyError
    oracle = named(id_)
    assert oracle.row["bounds"] == given_as
    for name, dtype in DTYPES.items():
        for rank in range(9):
            x = np.ones((1,) * rank, dtype)
            low, high = (bound(id_, dtype, value) for value in (0, 2))
            if name in types and rank in ranks:
                assert bits(oracle(x, low, high)) == bits(x)
            else:
                with pytest.raises(DialectError, match=id_) as caught:
                    oracle(x, low, high)
                assert caught.value.aspect == ("ranks" if name in types else "element_types")


@pytest.mark.parametrize(
    ("id_", "type_id"),
    [(d.id, type_id) for d in SPEC.dialects for type_id in d.element_types if type_id in DTYPES],
)
def test_special_numbers_get_what_the_specification_says(id_, type_id):
    """Every X and every pair of special bounds: the answer of the deciding reading, which the words allow."""
    oracle, whole = named(id_), SPEC.dialect(id_)
    etype, dtype = SPEC.element_type(type_id), DTYPES[type_id]
    values = [*special_patterns(etype)][::3]
    rank = whole.ranks.least
    x = np.array(values, f"u{dtype.itemsize}").view(dtype).reshape(-1, *(1,) * max(rank - 1, 0))
    given_type = FLOAT if whole.bound_type == "float32" else etype
    scalars = [*special_patterns(given_type)][::4]
    for low in scalars:
        for high in scalars:
            bounds = [
                np.array(p, f"u{given_type.width // 8}").view(DTYPES[given_type.id])[()]
                for p in (low, high)
            ]
            l, m = (
                convert(p, given_type, etype) if given_type is not etype else p for p in (low, high)
            )
            if l is None or m is None:
                with pytest.raises(UndefinedByDialectError):
                    oracle(x, *bounds)
                continue
            got = bits(oracle(x, *bounds))
            triples = [
                (value, *(as_seen(p, n, etype) for p, n in ((l, bounds[0]), (m, bounds[1]))))
                for value in values
            ]
            for y, triple in zip(got, triples, strict=True):
                assert y in answers(SPEC, etype, SPEC.reading(whole.answers), triple)
            assert oracle.allows(x, oracle(x, *bounds), *bounds).all()


def as_seen(pattern, given_bound, etype):
    """The bits of a converted bound; a NaN keeps the payload that NumPy gave it, which no page speaks of."""
    with np.errstate(invalid="ignore"):
        if etype.family == "float" and np.isnan(given_bound):
            return bits(np.asarray(given_bound).astype(DTYPES[etype.id]))[0]
    return pattern


@pytest.mark.parametrize("id_", ["onnx-1", "onnx-6", "onnx-11", "onnx-12", "onnx-13"])
def test_missing_bounds(id_):
    oracle = named(id_)
    for type_id in SPEC.dialect(id_).element_types:
        etype, dtype = SPEC.element_type(type_id), DTYPES[type_id]
        x = np.array(special_patterns(etype), f"u{dtype.itemsize}").view(dtype)
        low, high = (
            np.array(p, f"u{dtype.itemsize}").view(dtype)
            for p in defaults(SPEC, SPEC.dialect(id_), etype)
        )
        assert bits(oracle(x)) == bits(
            named("onnx-13")(x, low, high) if type_id in PAGES["onnx-13"][0] else x
        )
        if id_ not in ("onnx-1", "onnx-6"):  # their defaults are attributes, which are FLOAT
            one = bound(id_, dtype, 1)
            assert bits(oracle(x, max=one)) == bits(oracle(x, bound(id_, dtype, low), one))


def test_defaults_limit_infinities_and_great_doubles():
    infinite = [np.inf, -np.inf]
    half, double = np.array(infinite, np.float16), np.array([*infinite, 1e300])
    assert named("onnx-1")(half).tolist() == [65504, -65504]
    assert named("onnx-6")(half).tolist() == infinite
    assert named("onnx-11")(half).tolist() == [65504, -65504]
    most = np.finfo(np.float64).max
    assert named("onnx-1")(double).tolist() == [most, -most, 1e300]
    assert named("onnx-6")(double).tolist() == [F32_MAX, -F32_MAX, F32_MAX]
    assert named("onnx-13")(double).tolist() == [most, -most, 1e300]


@given(st.floats(width=32), st.sampled_from([n for n in DTYPES if n != "bfloat16"]))
def test_conversions_are_those_of_exact_numbers(number, type_id):
    etype, dtype = SPEC.element_type(type_id), DTYPES[type_id]
    pattern = bits(np.float32(number))[0]
    due = convert(pattern, FLOAT, etype)
    oracle = named("directml-5.0") if type_id != "float64" else named("onnx-6")
    if due is None:
        with pytest.raises(UndefinedByDialectError, match="undefined by the source"):
            oracle.bounds(dtype, np.float32(number), 0.0)
    else:
        (got,) = bits(oracle.bounds(dtype, np.float32(number), 0.0)[0])
        assert got == due or np.isnan(number)


def test_scale_bias_is_rounded_twice_in_the_element_type():
    x = np.full((1, 1, 1, 1), 0.1, np.float32)
    y = dialect("directml", "1.0")(x, -1.0, 1.0, scale=0.3, bias=-0.03)
    product = np.float32(np.float32(0.1) * np.float32(0.3))
    assert y.item() == np.float32(product + np.float32(-0.03))
    exact = Fraction(float(np.float32(0.1))) * Fraction(float(np.float32(0.3))) + Fraction(
        float(np.float32(-0.03))
    )
    assert y.item() != float(np.float32(float(exact)))


def test_in_place_is_for_those_that_say_so():
    x = np.array([-1.0, 3.0], np.float32)
    assert dialect("directml", "3.0")(x, 0.0, 1.0, out=x) is x
    assert x.tolist() == [0, 1]
    with pytest.raises(DialectError, match="does not work in place"):
        dialect("onnx", 13)(x, np.float32(0), np.float32(1), out=x)
    with pytest.raises(
        DialectError, match="must have the same DataType, DimensionCount, and Sizes"
    ) as caught:
        dialect("directml", "3.0")(x, 0.0, 1.0, out=np.zeros(3, np.float32))
    assert caught.value.aspect == "result"


@pytest.mark.parametrize(
    ("id_", "arguments", "says"),
    [
        ("onnx-6", ([1.0],), "x must be a NumPy array, not list"),
        ("onnx-6", (np.zeros(1, ">f4"),), "x is float32"),
        ("onnx-6", (np.zeros(1, np.float32), np.float64(1)), "min must be a FLOAT, not float64"),
        ("onnx-6", (np.zeros(1, np.float32), 1e39), "write inf for infinity"),
        ("onnx-13", (np.zeros(1, np.float32), 1.0), "min must be a scalar tensor of float32, not float"),
        ("onnx-13", (np.zeros(1, np.float32), np.zeros(1, np.float32)),
         r"not float32 of shape \(1,\) \(\"It must be a scalar\(tensor of empty shape\)\.\"\)"),
        ("onnx-13", (np.zeros(1, np.float32), np.float64(1)), r"not float64 of shape \(\)"),
        ("sonnx-float", (np.zeros(1, np.float32), None, np.float32(1)),
         "min must be given.*Input L must be set"),
        ("sonnx-2026-01", (np.zeros(1, np.float32), np.float32(0)), "max must be given"),
        ("directml-1.0", (np.zeros((1, 1, 1, 1), np.float32),), "min must be given"),
        ("sonnx-real", (np.zeros(1),), "x must be an array of Fraction"),
        ("sonnx-real", (np.array([1], object), 0, 1.5), "max must be a Fraction, not float"),
    ],
)  # fmt: skip
def test_refusal_is_reported(id_, arguments, says):
    with pytest.raises(DialectError, match=says):
        named(id_)(*arguments)


def test_the_reals_are_fractions():
    x = np.array([[Fraction(1, 3), 5], [-2, 0]], object)
    for version in ("real", "2026-01"):
        found = dialect("sonnx", version)(x, 0, Fraction(1, 2)).tolist()
        assert found == [[Fraction(1, 3), Fraction(1, 2)], [0, 0]]
    assert dialect("sonnx", "real")(x, 2, 1).tolist() == [[1, 1], [1, 1]]


def test_an_unknown_dialect_is_one_message():
    with pytest.raises(UserError, match="unknown dialect `onnx-7`"):
        dialect("onnx", 7)
    assert repr(dialect("onnx", 6)) == "<ONNX Clip-6: onnx-6>"
