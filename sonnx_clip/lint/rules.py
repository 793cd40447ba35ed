"""Which rules `lint` judges: all, those that are selected, or all but those that are ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.lint.profile import profile
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class RuleChoice:
    """The rules to judge, and those left out with their reasons."""

    judged: tuple[str, ...]
    ignored: Mapping[str, str]  # the reason is empty where the command line left the rule out


def rules_to_judge(
    selected: Sequence[str],
    ignored: Sequence[str],
    reasons_of_file: Mapping[str, str],
    file: str = "",
) -> RuleChoice:
    """The rules by ``--select``, ``--ignore`` and the settings file; a rule that is selected is judged.

    Raises:
        UserError: a rule is unknown, both selected and ignored, or none is left.
    """
    chosen = _rule_ids(selected, "--select")
    left_out = _rule_ids(ignored, "--ignore")
    contradictory = [rule for rule in chosen if rule in left_out]
    if contradictory:
        raise UserError(
            f"{listed(contradictory)} is selected and ignored", todo="remove one of the options"
        )
    reasons = dict.fromkeys(left_out, "")
    _rule_ids(reasons_of_file, file)  # for its error alone: an id of the file may be misspelt
    for rule, reason in reasons_of_file.items():
        # The command line is more specific than the file, so a rule that it selects is judged.
        if rule not in chosen:
            reasons[rule] = reason

    judged = []
    ignored_in_order: dict[str, str] = {}
    for rule in profile().rules:
        is_selected = not chosen or rule in chosen
        if is_selected and rule not in reasons:
            judged.append(rule)
        else:
            ignored_in_order[rule] = reasons.get(rule, "")
    if not judged:
        raise UserError("every rule is ignored", todo="ignore fewer rules")
    return RuleChoice(tuple(judged), ignored_in_order)


def _rule_ids(texts: Iterable[str], where: str) -> list[str]:
    """The ids in ``R1,R4``; UserError for one that is no rule."""
    ids: list[str] = []
    for text in texts:
        ids += map(str.strip, text.split(","))
    rules = profile().rules
    for id_ in ids:
        if id_ not in rules:
            near = nearest(id_, rules)
            hint = f"did you mean {near[0]}? " if near else ""
            todo = f"{hint}The rules: {', '.join(rules)}"
            raise UserError(f"no rule is named '{id_}'", where, todo)
    return ids
