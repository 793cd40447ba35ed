"""A mistake that a person can make in spec/clip.yaml."""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """A text is replaced where it first stands in the file; the message names the path, with these words.

    `§` in the replacement marks where the message must point; it is taken out before the file is read.
    `[…]` in the path stands for the number of an entry in its section.
    """

    name: str
    old: str
    new: str
    where: str
    says: tuple[str, ...]


def m(name: str, old: str, new: str, where: str, *says: str) -> Mistake:
    return Mistake(name, old, new, where, says)
