"""`sonnx_clip.clip`: what it refuses, and that it writes what is due wherever it writes."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from sonnx_clip import RestrictionError, clip
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.folders import repo_file

F = np.float32
X = np.array([[-1.0, 0.5], [np.nan, 7.0]], F)
L, M = F(0), F(1)
pytestmark = pytest.mark.parametrize("by", ["numpy", "c"], indirect=True)


class FakeSparse:
    """What scipy.sparse offers, as far as it matters."""

    def todense(self):
        return X


REFUSED = {
    "R1": (X, None, M),
    "R2": (X, L, None),
    "R3": (FakeSparse(), L, M),
    "R3 masked": (np.ma.masked_array(X, X > 1), L, M),
    "R5": (X, np.float64(0), M),
    "R5 int bound": (X, L, np.int32(1)),
    "R5 python float": (X, 0.0, M),
    "R5 list": ([1.0, 2.0], L, M),
    "R5 swapped bytes of a bound": (X, np.array(0, ">f4"), M),
    "scalar_bounds": (X, np.zeros(1, F), M),
    "element_types bool": (X > 0, np.bool_(False), np.bool_(True)),
    "element_types complex": (X.astype(np.complex64), np.complex64(0), np.complex64(1)),
    "element_types object": (X.astype(object), L, M),
    "element_types swapped bytes": (X.astype(">f4"), np.array(0, ">f4"), np.array(1, ">f4")),
    "element_types float8": (X.astype(ml_dtypes.float8_e4m3fn), L, M),
}


@pytest.mark.parametrize("name", REFUSED)
def test_violated_restriction_is_refused_by_its_tag(name):
    with pytest.raises(RestrictionError) as caught:
        clip(*REFUSED[name])
    assert caught.value.tag == name.split()[0]
    assert str(caught.value).startswith(f"[{caught.value.tag}] ")


OUTS = {
    "C1": np.zeros(4, F),
    "C1 broadcast": np.zeros((1, 2, 2), F),
    "C3": np.zeros((2, 2), np.float64),
    "R3": np.ma.zeros((2, 2), F),
    "R5 scalar": F(0),
    "R5 list": [[0, 0], [0, 0]],
}


@pytest.mark.parametrize("name", OUTS)
def test_an_out_that_cannot_hold_the_result_is_refused(name):
    before = X.copy()
    with pytest.raises(RestrictionError) as caught:
        clip(X, L, M, out=OUTS[name])
    assert caught.value.tag == name.split()[0]
    assert X.tobytes() == before.tobytes()


def test_an_out_that_is_read_only_is_refused():
    out = np.zeros((2, 2), F)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        clip(X, L, M, out=out)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0, 2), (1,), (3, 4, 5)])
def test_every_shape_is_kept(shape):
    x = np.full(shape, 7, F)
    result = clip(x, L, M)
    assert type(result) is np.ndarray
    assert (result.shape, result.dtype) == (shape, F)
    assert np.all(result == 1)
    assert np.all(x == 7)


def test_scalars_and_subclasses_are_plain_arrays():
    assert clip(F(7), L, M).shape == ()
    result = clip(np.array([[7, 0.5]], F).view(np.matrix), L, M)
    assert type(result) is np.ndarray
    assert result.tolist() == [[1.0, 0.5]]


def test_bounds_inside_of_out_are_read_first():
    memory = np.array([5, -3, 20, np.nan, -0.0, 0, 12, 1, 30], F)
    for x, out in ((memory, memory), (memory.reshape(3, 3), memory.reshape(3, 3).T)):
        lower, upper = memory[0, ...], memory[2, ...]
        due = load_oracle().clip(x.copy(), lower.copy(), upper.copy())
        assert clip(x, lower, upper, out=out) is out
        assert out.tobytes() == due.tobytes()


def test_the_import_is_light():
    """It loads the oracle, and of what is installed ml_dtypes alone."""
    code = (
        "import sys, numpy; before = set(sys.modules); import sonnx_clip; sonnx_clip.clip;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names);"
        "print(*(name for name in sys.modules if name.startswith('sonnx_clip.')))"
    )
    installed, own = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=repo_file(".")
    ).stdout.splitlines()
    assert set(installed.split()) == {"sonnx_clip", "ml_dtypes"}
    assert {name.split(".")[1] for name in own.split()} == {"root", "oracle"}
