"""Renders generated/why3/titles.json: what each rendered goal says, as one sentence for people."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from sonnx_clip.whyml.rendered_goals import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.claim import Obligation


def render_titles(obligations: Iterable[Obligation]) -> Mapping[str, str]:
    """The titles of the obligations of all rendered theories, as one file by its path in the repository.

    A goal of many element types usually says the same in all of them: its title is under its name, once.
    Where it differs, as with the numbers of a type, each title is under the id of its obligation.
    """
    by_goal: dict[str, dict[str, str]] = defaultdict(dict)
    for obligation in obligations:
        by_goal[obligation.name][obligation.id] = obligation.title

    titles: dict[str, str] = {}
    for goal, by_id in by_goal.items():
        # Of a goal of one element type too, whose title is then under its name.
        distinct = set(by_id.values())
        if len(distinct) == 1:
            titles[goal] = distinct.pop()
        else:
            titles |= by_id
    return {TITLES: json.dumps(titles, indent=1, ensure_ascii=False) + "\n"}
