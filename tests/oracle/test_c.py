"""The C kernels from Python: the same checks as `sonnx_clip.clip`, and what is due, wherever it goes."""

import ctypes
from itertools import product

import numpy as np
import pytest

from sonnx_clip import RestrictionError
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import c, load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec
from tests.oracle.test_strict import REFUSED

F = np.float32
L, M = F(0), F(1)
X = np.array([[-1.0, 0.5], [np.nan, 7.0]], F)
Y = np.array([[0.0, 0.5], [np.nan, 1.0]], F)
TYPES = [etype for etype in load_spec().element_types if etype.numpy is not None]


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", REFUSED)
def test_violated_restriction_is_refused_by_its_tag(name):
    with pytest.raises(RestrictionError) as caught:
        c.clip(*REFUSED[name])
    assert caught.value.tag == name.split()[0]


def test_an_unfit_out_is_refused_and_not_written_to():
    for tag, out in {"C1": np.zeros(4, F), "C3": np.zeros((2, 2), np.float64)}.items():
        with pytest.raises(RestrictionError, match=tag):
            c.clip(X, L, M, out=out)
        assert not out.any()
    with pytest.raises(ValueError, match="read-only"):
        c.clip(X, L, M, out=np.broadcast_to(F(0), (2, 2)))


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


def test_overlapping_operands_and_bounds_are_read_first():
    for shift in (1, 2, -1, -2):
        memory = np.arange(12, dtype=np.int16)
        part, other = (memory[max(n, 0) :][: 12 - abs(n)] for n in (shift, -shift))
        due = np.minimum(np.maximum(part, 3), 8)
        c.clip(part, np.int16(3), np.int16(8), out=other)
        assert other.tolist() == due.tolist()
    x = np.array([0, 9, 5, 4, 6], np.uint8)
    c.clip(x, x[3, ...], x[4, ...], out=x)
    assert x.tolist() == [4, 6, 5, 4, 6]


def test_strided_and_unaligned_arrays_and_arrays_of_any_rank():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for view in (x[::-1, :, ::2], x.T, x[:, 1:2, ...], x[:0], x[1, 1, 1, ...]):
        assert same_bits(
            c.clip(view, np.int32(5), np.int32(9)), np.clip(view, np.int32(5), np.int32(9)).copy()
        )
    shifted = np.frombuffer(b"\0" + x.tobytes(), np.int32, offset=1)
    assert not shifted.flags.aligned
    assert c.clip(shifted, np.int32(5), np.int32(9)).tolist() == x.ravel().clip(5, 9).tolist()


def test_the_raw_function_takes_pointers():
    x, y = np.array([1, 5, 9], np.uint64), np.zeros(4, np.uint64)
    c.functions()[np.dtype(np.uint64)](y.ctypes.data_as(ctypes.c_void_p), x.ctypes.data, 2, 6, 3)
    assert y.tolist() == [2, 5, 6, 0]


@pytest.mark.parametrize("dtype", ["uint16", "float16", "float64"])
def test_as_a_runtime_it_conforms_to_the_bit(dtype):
    report = run_campaign(CheckOptions("sonnx-c", [dtype], policy="strict"))
    assert {klass.verdict for found in report.types for klass in found.classes} == {"conforms"}
    assert "-O3" in report.runtime_version
