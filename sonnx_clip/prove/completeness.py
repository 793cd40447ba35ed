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
    shown_by: dict[tuple[str, str], tuple[str, ...]] = {}
    tested: set[tuple[str, str]] = set()
    theories: dict[tuple[str, str], None] = {}
    for o in obligations:
        shown_by[o.id, o.kind] = o.shows
        if o.kind == "smoke":
            tested.add((o.file, o.theory))
        elif o.kind != "instance":
            theories[o.file, o.theory] = None

    lines: list[str] = []
    for claim in every_claim(spec):
        shown = shown_by.get((claim.id, claim.kind), ())
        lacking = [id_ for id_ in claim.shows if id_ not in shown]
        if lacking:
            lines.append(
                f"{claim.id}: {lacking[0]} is stated, and no {claim.kind} of this id shows it"
            )
    for file, theory in theories:
        if (file, theory) not in tested:
            lines.append(f"{file} {theory}: no smoke test")
    return lines
