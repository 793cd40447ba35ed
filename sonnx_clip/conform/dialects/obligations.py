"""The obligations that the explanations of a disagreement name."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.paths import repo_file

if TYPE_CHECKING:
    from sonnx_clip.conform.dialects.explanations import Rule

OBLIGATIONS = "generated/why3/obligations.json"


@cache
def known_obligations() -> frozenset[str]:
    """The ids of all obligations of the theories."""
    rows = json.loads(repo_file(OBLIGATIONS).read_text(encoding="utf-8"))["obligations"]
    return frozenset(row["id"] for row in rows)


def is_shown(rule: Rule, etype: str) -> bool:
    """Whether an obligation of an element type speaks of a rule."""
    return any(f"{etype}.{goal}" in known_obligations() for goal in rule.goals)
