"""Planted mistakes; what they run is measured where it is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prove.fixtures import bench, real_bench

__all__ = ["bench", "real_bench"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage is not measured here: it doubles the time of what is repeated for every mistake."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.no_cover)
