"""The operators of spec/ mean what NumPy and IEEE 754 say of them, on special values of every type."""

import json
from itertools import product

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 by it
import numpy as np
import pytest

from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import integer_range
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.operators import known_operators, specification
from tests.command import printed, run

UNARY = {
    "abs": np.abs,
    "neg": np.negative,
    "identity": lambda x: x,
    "relu": lambda x: np.where(x < 0, np.zeros((), x.dtype), x),
}
BINARY = {"max": np.maximum, "min": np.minimum}
OTHERS = [name for name in known_operators() if name != "clip"]


def machine_types(name):
    return [etype for etype in specification(name).element_types if etype.width is not None]


def as_values(patterns, etype):
    return np.array(patterns, f"u{etype.width // 8}").view(etype.numpy)


def test_there_are_seven_operators():
    assert sorted(known_operators()) == sorted(["clip", *UNARY, *BINARY])


@pytest.mark.parametrize("name", UNARY)
def test_one_tensor_is_as_in_numpy(name):
    spec = specification(name)
    for etype in machine_types(name):
        ask = evaluator(spec, etype)
        patterns = [x for x in special_patterns(etype) if ask.is_defined(x)]
        with np.errstate(invalid="ignore"):
            due = np.asarray(UNARY[name](as_values(patterns, etype)))
        found = as_values([ask.result(x) for x in patterns], etype)
        nans = np.not_equal(due, due)
        assert np.array_equal(nans, np.not_equal(found, found))
        bits = [of.view(f"u{etype.width // 8}")[~nans].tolist() for of in (found, due)]
        assert bits[0] == bits[1], etype.id


@pytest.mark.parametrize("name", BINARY)
def test_two_tensors_are_as_in_numpy(name):
    """Of zeros of opposite sign NumPy returns either; the profile orders them."""
    spec = specification(name)
    zero_of_tie = {"max": False, "min": True}[name]  # whether it is -0
    for etype in machine_types(name):
        pairs = list(product(special_patterns(etype), repeat=2))
        ask = evaluator(spec, etype)
        u, w = (as_values(column, etype) for column in zip(*pairs, strict=True))
        found = as_values([ask.result(*pair) for pair in pairs], etype)
        with np.errstate(invalid="ignore"):
            due = BINARY[name](u, w)
            nans = np.not_equal(due, due)
            assert np.array_equal(nans, np.not_equal(found, found))
            tied = (u == w) & (u == 0) & (np.signbit(u) != np.signbit(w))
            assert np.array_equal(found[~nans], due[~nans])
        assert set(np.signbit(found[tied]).tolist()) <= {zero_of_tie}


@pytest.mark.parametrize("name", ["abs", "neg"])
def test_the_least_integer_is_outside_the_domain(name):
    spec = specification(name)
    for etype in spec.types_of("int"):
        least = integer_range(etype)[0] % (1 << etype.width)
        outside = [x for x in special_patterns(etype) if not evaluator(spec, etype).is_defined(x)]
        assert outside == [least]


def test_explain_says_that_operands_are_outside_the_domain():
    done = run("explain", "int8", "--operator", "neg", "--x", "lowest", cwd=repo_root())
    assert "outside the domain" in done.stdout
    told = json.loads(printed("explain", "int8", "--operator", "neg", "--x", "-127", "--json"))
    assert (told["in_domain"], told["result"]["decimal"]) == (True, "127")


@pytest.mark.parametrize("named", [["float32", "--operator", "max"], ["max", "float32"]])
def test_operands_are_options_of_explain(named):
    words = printed("explain", *named, "--u", "-0", "--w=0", "--json")
    told = json.loads(words)
    assert [told[key]["bits"] for key in ("u", "w", "result")] == [
        "0x80000000",
        "0x00000000",
        "0x00000000",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--operator", "max", "--x", "1"], "Max has no operand --x\n  it has --u, --w"),
        (["--operator", "max", "--u", "1"], "the option --w is missing"),
        (["--operator", "mox", "--u", "1"], "there is no operator `mox`\n  did you mean `max`"),
        (["--operator", "max", "--u", "one", "--w", "1"], "--u: `one` is not a number"),
        (["--x", "1", "--min", "0"], "the option --max is missing"),
        (["--operator", "max", "--u", "one"], "the option --w is missing"),
        (["max", "float32", "--u", "1"], "not 3 words"),
    ],
)
def test_wrong_operands_are_refused(options, words):
    done = run("explain", "float32", *options, cwd=repo_root())
    assert done.returncode == 2
    assert words in done.stderr
