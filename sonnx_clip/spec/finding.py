"""What a check of the specification finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.names import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec.document import Document, Way


@dataclass(frozen=True)
class Finding:
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


def unknown(way: Way, id_: str, ids: Iterable[str], one: str) -> Iterator[Finding]:
    """A finding if an id is none of those that are there.

    Args:
        way: the path to the id.
        id_: what is written there.
        ids: those that are there.
        one: what a message calls what has such an id.
    """
    known = list(ids)
    if id_ not in known:
        yield Finding(way, f"there is no {one} `{id_}`", suggestion(id_, known, "there are"))


def raise_first(document: Document, findings: Iterable[Finding]) -> None:
    """Raise the UserError for the finding that stands first in the file, if there is any."""
    placed = [
        (document.key_position(finding.way) if finding.of_key else document.position(finding.way), finding)
        for finding in findings
    ]
    if placed:
        at, first = min(placed, key=lambda pair: (pair[0].line, pair[0].column))
        raise document.error(first.way, first.what, first.todo, at)
