"""The exported vectors alone kill every planted wrong implementation that is wrong on values."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.suite import suites_of
from sonnx_clip.export.write_export import write_export
from sonnx_clip.root.dtypes import numpy_type
from tests.export.conftest import npz
from tests.export.read_npz import judge
from tests.meta import planted
from tests.meta.test_implementations import CAUGHT, COVERED

__all__ = ["npz"]

# Their results are right; they harm the memory of others, or refuse what may be refused in a layout.
NOT_ON_VALUES = {
    "right": "", "loses_payload": "", "returns_one_buffer": "", "writes_into_x": "",
    "refuses_what_is_not_aligned": ", unaligned, ", "refuses_rank_0": ", 0-d, ",
}  # fmt: skip
CASES = {key: untouched for key, (_, untouched) in CAUGHT.items() if key[0] not in NOT_ON_VALUES}
CASES["wrong_where_not_aligned", "int32"] = set()


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_wrong_implementation_is_killed(name, dtype, npz):
    found = judge(npz, dtype, getattr(planted, name))
    assert found.wrong
    assert not CASES[name, dtype] & found.wrong.keys()


@pytest.mark.parametrize("name", COVERED)
def test_accepted_deviation_fails_only_under_strict_policy(name, npz):
    assert judge(npz, "float32", getattr(planted, name)).wrong == {}
    assert judge(npz, "float32", getattr(planted, name), "strict").wrong.keys() >= COVERED[name][0]


@pytest.mark.parametrize(("name", "layout"), NOT_ON_VALUES.items())
def test_deviation_outside_of_values_is_not_killed(name, layout, npz):
    """What refuses is wrong in the layout alone that it may refuse."""
    wrong = judge(npz, "float32", getattr(planted, name)).wrong
    assert all(layout and layout in told for told in wrong.values())


def test_vectors_that_are_all_one_kill_little(npz, tmp_path, monkeypatch):
    """What decides is what is in them: without NaN bounds and without lengths the same mistakes live."""
    one = suites_of(clip_operator(), ["float32"])[0]
    pair = int(np.flatnonzero(one.tables[0].scalars[1].view(numpy_type("float32")) > 0)[0])
    calls = (next(c for c in one.calls if c.pair == pair and c.length == 33),)
    poor = replace(one, vectors=one.vectors[:1], calls=calls)
    monkeypatch.setattr("sonnx_clip.export.write_export.suites_of", lambda *_: [poor])
    write_export(clip_operator(), "npz", tmp_path / "poor")
    for name in ("tail_of_seven", "wrong_above_1024", "nan_min_propagates"):
        assert judge(npz, "float32", getattr(planted, name)).wrong
        assert not judge(tmp_path / "poor", "float32", getattr(planted, name)).wrong


def test_a_changed_expectation_is_seen(npz, tmp_path):
    """The reader compares: a right function is wrong by a file of which one number was changed."""
    shutil.copytree(npz, tmp_path / "changed")
    with np.load(npz / "int8.npz") as file:
        arrays = dict(file)
    arrays["special_expected"][0, 0] ^= 1
    np.savez(tmp_path / "changed/int8.npz", **arrays)
    assert judge(npz, "int8", planted.right).wrong == {}
    assert judge(tmp_path / "changed", "int8", planted.right).wrong
