"""The garbage collector is put off inside and on again afterwards, whatever happens."""

from __future__ import annotations

import gc

import pytest

from sonnx_clip.root.isolated import without_collection


def test_it_is_off_inside_and_on_afterwards() -> None:
    frozen = gc.get_freeze_count()
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), without_collection():
        raise KeyError
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
