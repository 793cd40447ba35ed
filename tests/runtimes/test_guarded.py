"""The memory of the operands: what a runtime gets in each call."""

import numpy as np
import pytest

from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.guarded import ALL, Operands


def operands_of(guards):
    """Operands of calls of 65 entries, from 1 on, of uint16."""
    bits = np.arange(1, 101, dtype=np.uint16)
    request = Request(
        "contiguous", 65, bits, np.array([0, 7]), (bits[:2], bits[4:6]), guards=guards
    )
    operands = Operands(CLIP_SIGNATURE)
    operands.begin(request, np.dtype(np.uint16))
    return operands


def test_changed_operand_is_restored_before_the_next_call():
    operands = operands_of(ALL)
    for call in (0, 1, 0):
        x, _, _ = operands.of_call(call)
        assert x.shape == (65,)
        x.shape = (5, 13)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (3, "it wrote into its input X"),
        (-1, "it wrote before the start of X"),
        (65, "it wrote past the end of X"),
    ],
)
def test_unguarded_write_is_reported_and_restored(where, words):
    operands = operands_of(frozenset())
    x, _, _ = operands.of_call(0)
    memory = np.lib.stride_tricks.as_strided(x, (200,), (2,))
    shifted = np.ndarray((1,), np.uint16, x.base, x.ctypes.data - x.base.ctypes.data + 2 * where)
    shifted[...] = 7777
    assert list(operands.written()) == [words]
    assert list(operands.written()) == []
    assert memory[:65].tolist() == list(range(1, 66))
