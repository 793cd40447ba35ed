"""Whether everything that the YAML states has its obligations: what nobody proves must not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.backends.numpy_kernels import goal_name, kernels_of
from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.claims.demanded import unmet
from sonnx_clip.claims.written_claims import WRITTEN
from sonnx_clip.trace.tracing import traced_kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.obligation import Kind, Obligation
    from sonnx_clip.spec import Spec

Wanted: TypeAlias = "tuple[str, tuple[str, ...], Kind]"  # an obligation, what it has to show, its kind


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each statement of the YAML that lacks an obligation, and each theory without a smoke test.

    A statement lacks one where no claim says of it what must be said, or where a claim is no obligation.

    Args:
        spec: what is stated.
        obligations: all that there are, whether they are asked about or not.
    """
    known = tuple(obligations)
    there = {(o.id, o.kind): frozenset(o.shows) for o in known}
    claims = tuple(every_claim(spec))
    lacking = [str(demand) for demand in unmet(spec, claims)]
    for id_, shows, kind in (*((c.id, c.shows, c.kind) for c in claims), *_beside_claims(spec)):
        left = [shown for shown in shows if shown not in there.get((id_, kind), ())]
        if left:
            lacking.append(f"{id_}: {left[0]} is stated, and no {kind} of this id shows it")
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"{file} {theory}: no smoke test" for file, theory in asked if (file, theory) not in tested
    ]


def _beside_claims(spec: Spec) -> Iterator[Wanted]:
    """What is shown of programs, and of the order of a type, which no claim states.

    Of Clip, each kernel that a planner of NumPy chooses, that no way is forgotten or dead; the C kernels.
    """
    cases = tuple(case.id for case in spec.cases)
    by_hand = spec.operator in WRITTEN
    for traced in traced_kernels(tuple(spec.element_types)) if by_hand else ():
        for what in (*kernels_of(traced), "ways_complete", "ways_inhabited"):
            yield f"{traced.etype.id}.{goal_name(traced, what)}", (traced.etype.id, *cases), "refinement"
    for etype in spec.element_types:
        yield f"{etype.id}.total", (etype.id,), "instance"
        if by_hand and etype.c is not None:
            yield f"{etype.id}.c_clip", (etype.id, *cases), "refinement"
