"""Whether bits are the same."""

import numpy as np
import pytest

from sonnx_clip.root.dtypes import bits_type, numpy_type, same_bits


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


def test_zeros_and_nans_differ_by_their_bits():
    nan, other = np.array([0x7FC0_0000, 0x7FC0_0001], np.uint32).view(np.float32)
    assert same_bits(np.array([nan, -0.0]), np.array([nan, -0.0]))
    assert not same_bits(np.array([0.0], np.float32), np.array([-0.0], np.float32))
    assert not same_bits(np.array([nan]), np.array([other]))
