from __future__ import annotations

import pytest

from tests.prove.fixtures import bench, real_bench

__all__ = ["bench", "real_bench"]


@pytest.fixture
def brief(monkeypatch):
    """A plan of few calls, for what is slow, hangs, or is the same in every layout."""
    from sonnx_clip.conform import campaign, vectors

    plan = vectors.plan

    def first(etype):
        wanted = {"contiguous", "length-7", "rank-2"}
        for request, table in plan(etype):
            if request.layout in wanted:
                wanted -= {request.layout}
                yield request, table

    monkeypatch.setattr(campaign, "plan", first)
