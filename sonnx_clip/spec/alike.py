"""What is found by evaluation, kept for every specification in which what decides it is written alike.

A command reads one specification. The tests read hundreds, each with one mistake, and most of what the checks
evaluate the mistake does not reach. What a finding says of its place is left out, so that an entry may move.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec.diagnostic import Diagnostic
    from sonnx_clip.spec.model import Spec

CORE: Final = (
    "operator", "operands", "result", "families", "element_types", "cases", "definitions", "classes",
)  # fmt: skip
"""What the cases and classes mean, and so any condition on the operands."""

_STATES: Final = 1024  # of sections and entries; the oldest is forgotten
_known: OrderedDict[tuple[str, ...], dict[Any, Any]] = OrderedDict()
_TREES: Final = 4096
_trees: dict[tuple[object, ...], Expr] = {}
_WRITTEN: Final = ("written", "")  # of a specification's memo


def as_written(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Each section of the file, entry by entry, as text: what two specifications are compared by."""
    return {
        name: tuple(map(json.dumps, section)) if isinstance(section, list) else (json.dumps(section),)
        for name, section in data.items()
    }


def remember(spec: Spec, written: Mapping[str, tuple[str, ...]]) -> None:
    """Note the sections from which a specification was read, as `as_written` gives them."""
    spec.memo[_WRITTEN] = written


def alike(spec: Spec, sections: Sequence[str], entry: tuple[str, int] | None = None) -> dict[Any, Any]:
    """A memo that specifications share in which some sections are written alike.

    Args:
        spec: the specification. A changed copy, or one that was kept, shares with none.
        sections: all that decides what is put into the memo,
        entry: and one entry of a further section, by its index.
    """
    key = ("alike", " ".join([*sections, *map(str, entry or ())]))
    found: dict[Any, Any] | None = spec.memo.get(key)
    if found is None:
        written = spec.memo.get(_WRITTEN)
        found = spec.memo[key] = {} if written is None else _shared(written, sections, entry)
    return found


def found_alike(
    spec: Spec,
    sections: Sequence[str],
    name: object,
    found: Iterable[Diagnostic],
    entry: tuple[str, int] | None = None,
) -> list[Diagnostic]:
    """What a check finds, once for all specifications in which what decides it is written alike.

    Args:
        spec: as for `alike`.
        sections: likewise.
        name: of the check, among those that these sections decide.
        found: what it finds in this specification; not begun where it is known.
        entry: as for `alike`.
    """
    known = alike(spec, sections, entry)
    if name not in known:
        known[name] = list(found)
    diagnostics: list[Diagnostic] = known[name]
    return diagnostics


def _shared(
    written: Mapping[str, tuple[str, ...]], sections: Sequence[str], entry: tuple[str, int] | None
) -> dict[Any, Any]:
    parts = [part for name in sections for part in (name, *written.get(name, ()))]
    key = (*parts, "", *((entry[0], written[entry[0]][entry[1]]) if entry else ()))
    found = _known.setdefault(key, {})
    _known.move_to_end(key)
    while len(_known) > _STATES:
        _known.popitem(last=False)
    return found


def known_tree(key: tuple[object, ...], parse: Callable[[], Expr]) -> Expr:
    """The tree of a condition, parsed once.

    Args:
        key: all that decides it: the text, where it stands, and what its names mean there.
        parse: makes it; what it raises is not kept.
    """
    found = _trees.get(key)
    if found is None:
        if len(_trees) >= _TREES:
            _trees.clear()
        found = _trees[key] = parse()
    return found


def forget() -> None:
    """Share nothing with what was read before: for a test that plants a mistake in what evaluates."""
    _known.clear()
    _trees.clear()


def moved(diagnostics: Iterable[Diagnostic], index: int) -> list[Diagnostic]:
    """Diagnostics about an entry, which is another entry of its section in this specification."""
    return [replace(one, way=(one.way[0], index, *one.way[2:])) for one in diagnostics]
