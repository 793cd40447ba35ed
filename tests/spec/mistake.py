"""A mistake that a person can make in spec/clip.yaml."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """What is replaced by what, the path that the message must name, and its words."""

    name: str
    old: str
    new: str
    where: str
    says: tuple[str, ...]


def m(name: str, old: str, new: str, where: str, *says: str) -> Mistake:
    return Mistake(name, old, new, where, says)
