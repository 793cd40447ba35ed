"""What is claimed of properties and of latitude: proved; or refuted, and proved under a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.nodes import (
    ALL,
    A,
    X,
    Y,
    all_of,
    any_of,
    cases,
    compare,
    free_names,
    group,
    is_nan,
    let,
    negation,
    numbers,
    other_bits,
    returns,
    same_bits,
)
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.answers import readings_of_latitude

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Latitude, Property

_WITH_A = Binder(("X", "L", "M", "A"))
_MEANT = any_of(compare(A, "==", Y), all_of(is_nan(A), is_nan(Y)), all_of(is_nan(A), is_nan(X)))
"""What latitude may speak of at all, as "narrow" states of each."""


def property_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property: proved, or refuted at its witness and proved under its condition."""
    for p in spec.properties:
        if etype.family in p.families:
            yield from _property(spec, etype, p)


def of_result(claim: Expr) -> Expr:
    """A condition on Y as one on the result of the cases."""
    return let("Y", cases(), claim) if "Y" in free_names(claim) else claim


def _property(spec: Spec, etype: ElementType, p: Property) -> Iterator[Claim]:
    shows = (p.id, *p.shows)
    every = Binder(("X", "X2", "L", "M")) if "X2" in free_names(p.claim) else ALL
    if etype.family in p.holds_for:
        yield Claim(etype.id, p.id, "holds", "theorem", shows, p.title, of_result(p.claim), binders=(every,))
        return
    yield Claim(
        etype.id, named.refuted(p.id), "refuted", "refutation", shows, f"refuted: {p.title}",
        of_result(negation(group(p.claim))), witness=numbers(p.refuted_for[etype.family].texts()),
    )  # fmt: skip
    condition = p.repaired[etype.family]
    yield Claim(
        etype.id, named.repaired(p.id), "repaired", "theorem", shows, f"under its condition: {p.title}",
        of_result(p.claim), premises=(group(condition),), binders=(every,),
    )  # fmt: skip
    yield Claim(
        etype.id, named.inhabited(named.repaired(p.id)), "repaired inhabited", "theorem", shows,
        f"some numbers meet the condition of: {p.title}", condition,
        witness=numbers(_numbers_that_meet(spec, etype, p)),
    )  # fmt: skip


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, str]:
    """The first of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in spec.classes_of(etype.family):
        texts = {**c.inhabited_by.texts(), "X2": c.inhabited_by.X}
        if ask(p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}):
            return texts
    what = f"no witness of a class meets the condition of {p.id} for {etype.family}: it may be empty"
    raise UserError(what, "spec/clip.yaml", "weaken the condition")


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    if etype.family != "float":
        return
    for entry in spec.latitude:
        yield Claim(
            etype.id, named.inhabited(entry.word), "used", "theorem", (entry.id,),
            f"some answer other than that of the cases uses {entry.id}",
            of_result(all_of(group(entry.when), group(entry.accepts), other_bits(A, Y))),
            witness=numbers(entry.inhabited_by.texts()),
        )  # fmt: skip
        yield Claim(
            etype.id, f"{entry.word}_is_narrow", "narrow", "theorem", (entry.id,),
            f"what {entry.id} accepts has the value of the result, or is the NaN of X",
            _MEANT, premises=(group(entry.when), group(entry.accepts)), binders=(_WITH_A,), of_result=True,
        )  # fmt: skip


def latitude_reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the latitude of a float type has to do with the readings; the other types have none."""
    if etype.family != "float":
        return
    for entry in spec.latitude:
        named = (returns(spec.reading(id_), y=A) for id_ in entry.given_by)
        yield Claim(
            etype.id, f"{entry.word}_is_given", "given", "theorem", (entry.id, *entry.given_by),
            f"what {entry.id} accepts instead of the result is what {' or '.join(entry.given_by)} gives",
            any_of(*named), premises=(_accepted(entry), other_bits(A, Y)), binders=(_WITH_A,), of_result=True,
        )  # fmt: skip
    granted = (group(_accepted(entry)) for entry in spec.latitude)
    accepts = any_of(same_bits(A, Y), *granted)
    for reading in readings_of_latitude(spec):
        yield Claim(
            etype.id, f"{reading.word}_is_accepted", "accepted", "theorem",
            (reading.id, *(entry.id for entry in spec.latitude)),
            f"what {reading.id} gives with the value of the result, or the NaN of X, some latitude accepts",
            accepts, premises=(returns(reading, y=A), group(_MEANT)), binders=(_WITH_A,), of_result=True,
        )  # fmt: skip


def _accepted(entry: Latitude) -> Expr:
    return all_of(group(entry.when), group(entry.accepts))
