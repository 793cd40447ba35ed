"""The garbage collector is put off inside and on again afterwards, whatever happens."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.isolated import without_collection

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """As in a command; the tests' own objects are frozen otherwise (conftest.py)."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_it_is_off_inside_and_on_afterwards() -> None:
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
    assert gc.get_freeze_count() == 0
