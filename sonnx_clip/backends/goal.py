"""A goal as it stands in a rendered theory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.claims.obligation import Kind

_BINDER = re.compile(r"^forall (?P<names>\w+(?: \w+)*)(?P<rest>: .*)$", re.DOTALL)


def _bind_used(match: re.Match[str]) -> str:
    used = set(re.findall(r"\w+", match["rest"].partition(".")[2]))
    return f"forall {' '.join(name for name in match['names'].split() if name in used)}{match['rest']}"


@dataclass(frozen=True)
class Goal:
    """A goal as the template prints it."""

    name: str
    kind: Kind
    shows: tuple[str, ...]
    title: str
    statement: str

    def __post_init__(self) -> None:
        """Bind only what the formula uses: Why3 warns of the rest."""
        object.__setattr__(self, "statement", _BINDER.sub(_bind_used, self.statement))

    @property
    def is_step(self) -> bool:
        """Whether later goals of the module may use it: Why3 calls that a lemma."""
        return self.name.endswith(("_when_inverted", "_when_ordered", "_refuting_entry"))
