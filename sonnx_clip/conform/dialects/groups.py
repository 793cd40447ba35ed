"""Disagreements of all operator sets, types and forms, gathered by what explains them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.conform.dialects.comparison_record import Group, Place
from sonnx_clip.conform.dialects.obligations import known_obligations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.dialects.judge import Judged, RuleShare


class Groups:
    """Gathers what accounts for the disagreements of the forms of a runtime.

    Where several rules would do for a form, the one that does for most forms is taken.
    """

    def __init__(self) -> None:
        self._judged: list[Judged] = []

    def add(self, judged: Judged) -> None:
        """Add a form."""
        self._judged.append(judged)

    def all(self) -> tuple[Group, ...]:
        """The groups: those without an explanation first, then those that account for most."""
        fits = Counter(id_ for judged in self._judged for id_ in judged.choices)
        found: dict[str, list[tuple[Judged, RuleShare]]] = {}
        for judged in self._judged:
            chosen = max(judged.choices, key=lambda id_: fits[id_], default=None)
            for part in (*judged.refused, *(judged.choices[chosen] if chosen is not None else ())):
                found.setdefault(part.rule.id, []).append((judged, part))
        made = [self._group(parts) for parts in found.values()]
        return tuple(sorted(made, key=lambda group: (group.kind != "unexplained", -group.count)))

    def _group(self, parts: list[tuple[Judged, RuleShare]]) -> Group:
        known, first = known_obligations(), parts[0][1]
        named = [f"{judged.cell.type}.{goal}" for judged, part in parts for goal in part.rule.goals]
        return Group(
            id=first.rule.id,
            kind=first.rule.kind,
            words=first.rule.words,
            places=tuple(
                Place(opset=j.cell.opset, type=j.cell.type, form=j.cell.form, count=part.count)
                for j, part in parts
            ),
            witness=first.witness,
            obligations=tuple(id_ for id_ in dict.fromkeys(named) if id_ in known),
            fits_too=_fits_too(first.rule.id, [judged.choices for judged, _ in parts]),
        )


def _fits_too(id_: str, choices: list[Mapping[str, tuple[RuleShare, ...]]]) -> tuple[str, ...]:
    """The other rules that would do for all of these forms."""
    return tuple(
        other for other in choices[0] if other != id_ and all(id_ in c and other in c for c in choices)
    )
