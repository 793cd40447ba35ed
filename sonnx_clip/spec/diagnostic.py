"""What a check of the specification says is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec.document import Document, Way


@dataclass(frozen=True)
class Diagnostic:
    """Something that is wrong with a value of the file.

    Args:
        way: the path to the value.
        what: what is wrong.
        todo: what is expected.
        of_key: whether it is the key that is wrong, not its value.
    """

    way: Way
    what: str
    todo: str | None = None
    of_key: bool = False


def unknown(way: Way, id_: str, ids: Iterable[str], one: str) -> Iterator[Diagnostic]:
    """A diagnostic if an id is none of those that are there.

    Args:
        way: the path to the id.
        id_: what is written there.
        ids: those that are there.
        one: what a message calls what has such an id.
    """
    known = list(ids)
    if id_ not in known:
        yield Diagnostic(way, f"there is no {one} `{id_}`", suggestion(id_, known, "there are"))


def raise_first(document: Document, diagnostics: Iterable[Diagnostic]) -> None:
    """Raise the UserError for the diagnostic that stands first in the file, if there is any."""
    placed = [
        (
            document.key_position(diagnostic.way) if diagnostic.of_key else document.position(diagnostic.way),
            diagnostic,
        )
        for diagnostic in diagnostics
    ]
    if placed:
        at, first = min(placed, key=lambda pair: (pair[0].line, pair[0].column))
        raise document.error(first.way, first.what, first.todo, at)
