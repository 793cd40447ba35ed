import uuid

import pytest

from tests.meta.judged import carriers, three_layouts
from tests.prove.fixtures import bench, real_bench

__all__ = ["bench", "real_bench"]


@pytest.fixture
def brief(monkeypatch):
    """A plan of few calls, for what is slow, hangs, or is the same in every layout."""
    from sonnx_clip.conform import judge

    monkeypatch.setattr(judge, "chosen", three_layouts)


@pytest.fixture
def mark():
    """A word that no other process carries; nothing that carries it may be left at the end."""
    word = str(uuid.uuid4().int)
    yield word
    assert not carriers(word)
