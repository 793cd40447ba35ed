from __future__ import annotations

import pytest

from tests.meta.judged import three_layouts
from tests.prove.fixtures import bench, real_bench

__all__ = ["bench", "real_bench"]


@pytest.fixture
def brief(monkeypatch):
    """A plan of few calls, for what is slow, hangs, or is the same in every layout."""
    from sonnx_clip.conform import local_judge

    monkeypatch.setattr(local_judge, "chosen", three_layouts)
