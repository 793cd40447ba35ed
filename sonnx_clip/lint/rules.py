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
    _rule_ids(reasons_of_file, file)
    for rule, reason in reasons_of_file.items():
        if rule not in chosen:
            reasons[rule] = reason
    candidates = chosen or list(profile().rules)
    judged = tuple(rule for rule in profile().rules if rule in candidates and rule not in reasons)
    if not judged:
        raise UserError("every rule is ignored", todo="ignore fewer rules")
    if chosen:
        others = [rule for rule in profile().rules if rule not in chosen and rule not in reasons]
        reasons |= dict.fromkeys(others, "")
    return RuleChoice(judged, {rule: reasons[rule] for rule in profile().rules if rule in reasons})


def _rule_ids(texts: Iterable[str], where: str) -> list[str]:
    """The ids in ``R1,R4``; UserError for one that is no rule."""
    ids = [id_.strip() for text in texts for id_ in text.split(",")]
    for id_ in ids:
        if id_ not in profile().rules:
            near = nearest(id_, profile().rules)
            hint = f"did you mean {near[0]}? " if near else ""
            rules = ", ".join(profile().rules)
            raise UserError(f"no rule is named '{id_}'", where, f"{hint}The rules: {rules}")
    return ids
