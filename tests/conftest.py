"""Which tests measure coverage: it doubles the time of what runs, and need not see the same code often."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What runs here is measured where it is tested: each mistake repeats it.
PLANTED = ("meta",)
# Parameters are types, values and layouts here: the first few go through the code that all go through.
ALIKE = ("conform", "oracle", "render", "trace")
MEASURED = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what pytest-cov leaves out: what it reports is less than what the tests run, never more."""
    seen: Counter[str] = Counter()
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        name = item.nodeid.partition("[")[0]
        seen[name] += 1
        if folder in PLANTED or (folder in ALIKE and seen[name] > MEASURED):
            item.add_marker(pytest.mark.no_cover)
