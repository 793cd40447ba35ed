"""What is claimed of properties and of latitude: proved; or refuted, and proved under a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import (
    A,
    Y,
    all_of,
    any_of,
    compare,
    free_names,
    group,
    is_nan,
    let,
    negation,
    numbers,
    operator_of,
    other_bits,
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


def _meant(spec: Spec) -> Expr:
    """What latitude may speak of at all, as "narrow" states of each."""
    x, *_ = operator_of(spec).operands
    return any_of(compare(A, "==", Y), all_of(is_nan(A), is_nan(Y)), all_of(is_nan(A), is_nan(x)))


def property_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property: proved, or refuted at its witness and proved under its condition."""
    for p in spec.properties:
        if etype.family in p.families:
            yield from _property(spec, etype, p)


def of_result(spec: Spec, claim: Expr) -> Expr:
    """A condition on Y as one on the result of the cases."""
    return let("Y", operator_of(spec).result(), claim) if "Y" in free_names(claim) else claim


def _property(spec: Spec, etype: ElementType, p: Property) -> Iterator[Claim]:
    shows = (p.id, *p.shows)
    of = operator_of(spec)
    every = of.every_two() if spec.head.second in free_names(p.claim) else of.every()
    if etype.family in p.holds_for:
        yield Claim(
            etype.id, p.id, "holds", "theorem", shows, p.title, of_result(spec, p.claim), binders=(every,)
        )
        return
    yield Claim(
        etype.id, named.refuted(p.id), "refuted", "refutation", shows, f"refuted: {p.title}",
        of_result(spec, negation(group(p.claim))), witness=numbers(p.refuted_for[etype.family].texts()),
    )  # fmt: skip
    condition = p.repaired[etype.family]
    yield Claim(
        etype.id, named.repaired(p.id), "repaired", "theorem", shows, f"under its condition: {p.title}",
        of_result(spec, p.claim), premises=(group(condition),), binders=(every,),
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
        texts = c.inhabited_by.texts()
        texts[spec.head.second] = texts[spec.head.operands[0]]
        if ask(p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}):
            return texts
    what = f"no witness of a class meets the condition of {p.id} for {etype.family}: it may be empty"
    raise UserError(what, spec.file, "weaken the condition")


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    if etype.family != "float":
        return
    with_a = operator_of(spec).every("A")
    for entry in spec.latitude:
        yield Claim(
            etype.id, named.inhabited(entry.word), "used", "theorem", (entry.id,),
            f"some answer other than that of the cases uses {entry.id}",
            of_result(spec, all_of(group(entry.when), group(entry.accepts), other_bits(A, Y))),
            witness=numbers(entry.inhabited_by.texts()),
        )  # fmt: skip
        yield Claim(
            etype.id, f"{entry.word}_is_narrow", "narrow", "theorem", (entry.id,),
            f"what {entry.id} accepts has the value of the result, or is the NaN of X",
            _meant(spec), premises=(group(entry.when), group(entry.accepts)), binders=(with_a,),
            of_result=True,
        )  # fmt: skip


def latitude_reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the latitude of a float type has to do with the readings; the other types have none."""
    if etype.family != "float":
        return
    of = operator_of(spec)
    with_a = of.every("A")
    for entry in spec.latitude:
        named = (of.returns(spec.reading(id_), A) for id_ in entry.given_by)
        yield Claim(
            etype.id, f"{entry.word}_is_given", "given", "theorem", (entry.id, *entry.given_by),
            f"what {entry.id} accepts instead of the result is what {' or '.join(entry.given_by)} gives",
            any_of(*named), premises=(_accepted(entry), other_bits(A, Y)), binders=(with_a,), of_result=True,
        )  # fmt: skip
    granted = (group(_accepted(entry)) for entry in spec.latitude)
    accepts = any_of(same_bits(A, Y), *granted)
    for reading in readings_of_latitude(spec):
        yield Claim(
            etype.id, f"{reading.word}_is_accepted", "accepted", "theorem",
            (reading.id, *(entry.id for entry in spec.latitude)),
            f"what {reading.id} gives with the value of the result, or the NaN of X, some latitude accepts",
            accepts, premises=(of.returns(reading, A), group(_meant(spec))), binders=(with_a,),
            of_result=True,
        )  # fmt: skip


def _accepted(entry: Latitude) -> Expr:
    return all_of(group(entry.when), group(entry.accepts))
