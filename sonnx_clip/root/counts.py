"""Counts as people say them, for what the commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """A number and what it counts, in the plural but for one: ``1 type``, ``3131 obligations``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names as people list them: ``X, L and M``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def headline(obligations: int, by_definition: int, repeats: int) -> str:
    """How many distinct questions there are: what holds by definition or repeats another is none."""
    distinct = counted(obligations - by_definition - repeats, "distinct question")
    return (
        f"{distinct} in {counted(obligations, 'obligation')}"
        f" ({by_definition} by definition, {counted(repeats, 'repeat')} of another)"
    )
