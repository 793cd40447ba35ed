"""The C kernels from Python: the same checks as `sonnx_clip.clip`, and what is due, wherever it goes."""

import ctypes
from itertools import product

import numpy as np
import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import c, load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec

F = np.float32
L, M = F(0), F(1)
X = np.array([[-1.0, 0.5], [np.nan, 7.0]], F)
Y = np.array([[0.0, 0.5], [np.nan, 1.0]], F)
TYPES = [etype for etype in load_spec().element_types if etype.numpy is not None]


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_special_triples_are_what_the_oracle_says_bit_for_bit(etype):
    pool = np.array(special_patterns(etype), bits_type(etype.id)).view(numpy_type(etype.id))
    for i, k in product(range(len(pool)), repeat=2):
        lower, upper = pool[i, ...], pool[k, ...]
        assert same_bits(c.clip(pool, lower, upper), load_oracle().clip(pool, lower, upper))


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


@pytest.mark.parametrize("dtype", ["uint16", "float16", "float64"])
def test_as_a_runtime_it_conforms_to_the_bit(dtype):
    report = run_campaign(CheckOptions("sonnx-c", [dtype], policy="strict"))
    assert {klass.verdict for found in report.types for klass in found.classes} == {"conforms"}
    assert "-O3" in report.runtime_version
