"""What the checker itself costs: rows of the table of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.targets import Row


def rows(*, quick: bool = False) -> list[Row]:
    """The rows of the checker."""
    del quick
    return []
