"""Counts as people say them, for what the commands print."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number and what it counts, in the plural but for one: ``1 type``, ``3131 obligations``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def headline(obligations: int, by_definition: int, repeats: int) -> str:
    """How many distinct questions there are: what holds by definition or repeats another is none."""
    distinct = counted(obligations - by_definition - repeats, "distinct question")
    return (
        f"{distinct} in {counted(obligations, 'obligation')}"
        f" ({by_definition} by definition, {counted(repeats, 'repeat')} of another)"
    )
