"""The benchmark lets `sonnx_clip.clip` find the C kernels: no test leaves that to the next."""

import pytest

from bench import native
from sonnx_clip.oracle import built, strict


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    """What was found is forgotten before the test and after it."""
    monkeypatch.setattr(built, "kernels", lambda: None)
    for cached in (native.let_clip_use_c, strict._plan_in_c):
        cached.cache_clear()
    yield
    for cached in (native.let_clip_use_c, strict._plan_in_c):
        cached.cache_clear()
