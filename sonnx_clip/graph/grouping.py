"""Groups like findings of many nodes, so that a report has them once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

_Item = TypeVar("_Item")

# So many of a group of equal things are named; JSON and SARIF name all.
NAMED = 3
MORE = "… and "


def grouped(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Items with equal keys together, in the order of the first of each."""
    groups: dict[Hashable, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def some(texts: Sequence[str], count: int | None = None) -> list[str]:
    """The first few texts, each once, and how many more there are (of `count`, if not all are given)."""
    each = list(dict.fromkeys(texts))
    more = (len(each) if count is None else count) - NAMED
    return [*each[:NAMED], *([f"{MORE}{more} more"] if more > 0 else [])]
