"""By which kernels `sonnx_clip.clip` computes in a test: by those of NumPy, unless the test asks for C."""

import pytest

from sonnx_clip.oracle import built, c, strict
from sonnx_clip.oracle.plan import PLANNERS


@pytest.fixture(autouse=True)
def by(request, monkeypatch):
    """``numpy`` or ``c``: what this user has built takes no part."""
    chosen = getattr(request, "param", "numpy")
    functions = {dtype: c.kernel(dtype) for dtype in PLANNERS} if chosen == "c" else None
    strict._plan_in_c.cache_clear()
    monkeypatch.setattr(built, "kernels", lambda: functions)
    yield chosen
    strict._plan_in_c.cache_clear()
