"""The memory of the operands: what a runtime gets in each call."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from sonnx_clip.runtimes.calls import Request, entry_indices
from sonnx_clip.runtimes.guarded import ALL, WRITE, Operands
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN


def request_of(layout, guards=ALL, pool=100):
    length = 65 if layout.length is None else layout.length
    bits = np.arange(1, pool + 1, dtype=np.uint16)
    return Request(
        layout.id, length, bits, np.array([0, 0, 7, 99]), (bits[:4], bits[4:8]),
        at_start=np.array([True, False, False, True]), guards=guards,
    )  # fmt: skip


@pytest.mark.parametrize("guards", [ALL, ALL - {WRITE}, frozenset()], ids=["all", "writable", "none"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_each_call_gets_its_own_operands(layout, guards):
    request, operands = request_of(layout, guards), Operands()
    operands.begin(request, np.dtype(np.int16))
    for call, indices in enumerate(entry_indices(request)):
        x, lower, upper = operands.of_call(call)
        due = layout.arrange(request.pool[indices])
        assert (x.shape, x.dtype) == (due.shape, np.int16)
        assert x.strides == due.strides or not x.size
        assert x.tolist() == due.tolist()
        assert (lower.tolist(), upper.tolist()) == (request.scalars[0][call], request.scalars[1][call])
        assert not x.flags.writeable
        assert list(operands.written()) == []


def test_layouts_of_one_memory_follow_each_other():
    operands = Operands()
    for layout, pool in itertools.product([*LAYOUTS, *reversed(LAYOUTS)], [100, 130]):
        request = request_of(layout, pool=pool)
        operands.begin(request, np.dtype(np.uint16))
        for call in (3, 1, 2):
            x, _, _ = operands.of_call(call)
            assert x.reshape(-1).tolist() == request.pool[entry_indices(request)[call]].tolist()


def test_changed_operand_is_restored_before_the_next_call():
    operands = Operands()
    operands.begin(replace(request_of(PLAIN), at_start=None), np.dtype(np.uint16))
    for call in (0, 1, 0):
        x, _, _ = operands.of_call(call)
        assert x.shape == (65,)
        x.shape = (5, 13)


def test_result_in_the_memory_of_x_is_noticed():
    operands = Operands()
    operands.begin(request_of(PLAIN), np.dtype(np.uint16))
    x, _, _ = operands.of_call(0)
    assert operands.is_x(x[3:4])
    assert not operands.is_x(x.copy())
    assert not operands.is_x(x[:0])


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (3, "it wrote into its input X"),
        (-1, "it wrote before the start of X"),
        (65, "it wrote past the end of X"),
    ],
)
def test_unguarded_write_is_reported_and_restored(where, words):
    operands = Operands()
    operands.begin(request_of(PLAIN, frozenset()), np.dtype(np.uint16))
    x, _, _ = operands.of_call(0)
    memory = np.lib.stride_tricks.as_strided(x, (200,), (2,))
    shifted = np.ndarray((1,), np.uint16, x.base, x.ctypes.data - x.base.ctypes.data + 2 * where)
    shifted[...] = 7777
    assert list(operands.written()) == [words]
    assert list(operands.written()) == []
    assert memory[:65].tolist() == list(range(1, 66))
