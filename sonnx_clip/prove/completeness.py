"""Checks that nothing is left unproved in silence: each claim on the YAML has its obligation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.all_claims import every_claim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each claim that lacks its obligation, and each theory without a smoke test.

    Args:
        spec: what is stated.
        obligations: all of them, whether this run proves them or not.
    """
    # By id and kind: an obligation of another kind does not prove the claim.
    shown_by: dict[tuple[str, str], tuple[str, ...]] = {}
    tested: set[tuple[str, str]] = set()
    theories: dict[tuple[str, str], None] = {}
    for obligation in obligations:
        shown_by[obligation.id, obligation.kind] = obligation.shows
        theory = (obligation.file, obligation.theory)
        if obligation.kind == "smoke":
            tested.add(theory)
        elif obligation.kind != "instance":
            # An instance only has axioms of another theory as goals, and states none itself.
            theories[theory] = None

    lines: list[str] = []
    for claim in every_claim(spec):
        shown = shown_by.get((claim.id, claim.kind), ())
        lacking = [id_ for id_ in claim.shows if id_ not in shown]
        if lacking:
            reason = f"{lacking[0]} is stated, and no {claim.kind} of this id shows it"
            lines.append(f"{claim.id}: {reason}")
    # From contradictory axioms everything follows: what such a theory proves would say nothing.
    for file, name in theories:
        if (file, name) not in tested:
            lines.append(f"{file} {name}: no smoke test")
    return lines
