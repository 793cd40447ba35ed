"""All triples of an 8-bit type at once; and whether bits are the same."""

import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.conform.compare import compare, same_bits
from sonnx_clip.conform.triples import COUNT, clip_under_every_max, compare_every_triple
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.adapters import onnx_reference, onnxruntime
from sonnx_clip.runtimes.clip_model import clip_of_many_nodes
from sonnx_clip.spec import load_spec


@pytest.mark.parametrize("name", ["int8", "uint8"])
def test_no_triple_deviates(name):
    found = compare_every_triple(name)
    assert (found.compared, found.deviating, found.first) == (COUNT**3, 0, None)


def test_the_oracle_gives_what_is_due_in_that_order():
    every = np.arange(-128, 128).astype(np.int8)
    out = np.empty((COUNT, COUNT), np.int8)
    for lower in every[::50]:
        clip_under_every_max(every, lower, every, out)
        for upper, row in zip(every[::50], out[::50], strict=True):
            assert np.array_equal(row, load_oracle().clip(every, lower, upper))
            assert np.array_equal(row, clip(every, lower, upper))


def test_one_wrong_result_of_all_is_found_and_named():
    def wrong(x, lower, upper, out):
        clip_under_every_max(x, lower, upper, out)
        if lower == -3:
            out[upper == 7, x == 5] += 1

    found = compare_every_triple("int8", wrong)
    assert (found.compared, found.deviating, found.first) == (COUNT**3, 1, (5, -3, 7))


def test_a_kernel_that_returns_min_for_inverted_bounds_deviates_wherever_they_are():
    def directml(x, lower, upper, out):
        np.maximum(lower, np.minimum(x, upper[:, None]), out=out)

    found = compare_every_triple("uint8", directml)
    assert found.deviating == COUNT * (COUNT * (COUNT - 1) // 2)
    assert found.first == (0, 1, 0)


@pytest.mark.parametrize(
    ("runtime", "name"), [(onnxruntime, "int8"), (onnxruntime, "uint8"), (onnx_reference, "int8")]
)
def test_every_triple_through_models_of_many_nodes(runtime, name):
    found = compare_every_triple(name, clip_of_many_nodes(runtime.RUNTIME.open_model))
    assert (found.compared, found.deviating, found.first) == (COUNT**3, 0, None)


def test_a_runtime_that_is_wrong_in_one_triple_of_all_is_found():
    right = onnxruntime.RUNTIME.open_model

    def opened(model):
        run = right(model)

        def wrong(inputs):
            found = run(inputs).copy()
            if inputs["l"] == -3:
                found.reshape(COUNT, COUNT)[7 + 128, 5 + 128] += 1
            return found

        return wrong

    found = compare_every_triple("int8", clip_of_many_nodes(opened))
    assert (found.compared, found.deviating, found.first) == (COUNT**3, 1, (5, -3, 7))


@pytest.mark.parametrize("answer", [np.zeros(COUNT**2, np.uint8), np.zeros(COUNT, np.int8)])
def test_an_answer_of_another_type_or_size_is_none(answer):
    with pytest.raises(ValueError, match="results of type"):
        compare_every_triple("int8", clip_of_many_nodes(lambda _: lambda _: answer))


def test_other_types_have_too_many():
    with pytest.raises(UserError, match="int16"):
        compare_every_triple("int16")


@pytest.mark.parametrize("name", ["int8", "uint16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 64, 1001])
def test_one_bit_anywhere_is_a_difference(name, length):
    pattern = np.arange(length).astype(bits_type(name))
    a, b = pattern.view(numpy_type(name)), pattern.copy()
    assert same_bits(a, b.view(a.dtype))
    for place in {0, length // 2, length - 1} & set(range(length)):
        b[place] ^= 1
        assert not same_bits(a, b.view(a.dtype))
        b[place] ^= 1
    wide = np.zeros((2, 2 * length), bits_type(name))
    wide[:, ::2] = pattern
    assert same_bits(wide[:, ::2], np.stack([pattern, pattern]))
    if length:
        wide[1, 0] ^= 1
        assert not same_bits(wide[:, ::2], np.stack([pattern, pattern]))


def test_zeros_and_nans_are_told_apart_by_their_bits():
    nan, other = np.array([0x7FC0_0000, 0x7FC0_0001], np.uint32).view(np.float32)
    assert same_bits(np.array([nan, -0.0]), np.array([nan, -0.0]))
    assert not same_bits(np.array([0.0], np.float32), np.array([-0.0], np.float32))
    assert not same_bits(np.array([nan]), np.array([other]))


def test_a_comparison_that_finds_nothing_says_so_of_no_place():
    bits = np.arange(20, dtype=np.uint32).reshape(2, 10)
    bounds = np.zeros(2, np.uint32)
    found = compare(load_spec().element_type("float32"), bits, bits.copy(), (bits, bounds, bounds), "strict")
    assert [len(part) for part in (found.rows, found.columns, found.latitude)] == [0, 0, 0]
