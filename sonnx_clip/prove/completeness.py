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
    known = tuple(obligations)
    there = {(o.id, o.kind): o.shows for o in known}
    lacking = [
        f"{claim.id}: {left[0]} is stated, and no {claim.kind} of this id shows it"
        for claim in every_claim(spec)
        if (
            left := [
                shown for shown in claim.shows if shown not in there.get((claim.id, claim.kind), ())
            ]
        )
    ]
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"{file} {theory}: no smoke test" for file, theory in asked if (file, theory) not in tested
    ]
