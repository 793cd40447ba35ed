"""A goal as it stands in a rendered theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.claims.obligation import Kind


@dataclass(frozen=True)
class Goal:
    """A goal as the template prints it: a step is one that later goals of its module may use, a lemma."""

    name: str
    kind: Kind
    shows: tuple[str, ...]
    title: str
    statement: str
    is_step: bool = False
