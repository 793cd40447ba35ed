"""The C kernels from Python, wherever the result goes; tests/oracle/test_kernels.py compares every value."""

import ctypes

import numpy as np
import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.oracle import c

F = np.float32
L, M = F(0), F(1)
X = np.array([[-1.0, 0.5], [np.nan, 7.0]], F)
Y = np.array([[0.0, 0.5], [np.nan, 1.0]], F)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_in_place_elsewhere_and_into_strides():
    wide = np.full((2, 5), 9, F)
    outs = [X.copy(), np.empty((2, 2), F), np.empty((2, 2), F, order="F"), wide[:, 1::2], X.copy()[::-1]]
    for out in outs:
        assert c.clip(X, L, M, out=out) is out
        assert same_bits(np.ascontiguousarray(out), Y)
    assert wide[:, ::2].tolist() == [[9, 9, 9]] * 2
    x = X.copy()
    assert c.clip(x, L, M, out=x) is x
    assert same_bits(x, Y)


def test_the_raw_function_takes_pointers():
    x, y = np.array([1, 5, 9], np.uint64), np.zeros(4, np.uint64)
    c.functions()[np.dtype(np.uint64)](y.ctypes.data_as(ctypes.c_void_p), x.ctypes.data, 2, 6, 3)
    assert y.tolist() == [2, 5, 6, 0]


@pytest.mark.parametrize("dtype", ["float16"])
def test_as_a_runtime_it_conforms_to_the_bit(dtype):
    report = run_campaign(CheckOptions("sonnx-c", [dtype], policy="strict"))
    assert {klass.verdict for found in report.types for klass in found.classes} == {"conforms"}
    assert "-O3" in report.runtime_version
