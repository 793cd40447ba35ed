"""What is claimed of readings class by class: where each has what the cases give, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import (
    Y,
    all_of,
    any_of,
    group,
    let,
    negation,
    number,
    operator_of,
    same_bits,
    same_value,
)
from sonnx_clip.spec.reading_classes import reading_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Aspect
    from sonnx_clip.claims.nodes import OperatorNodes
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.reading_classes import Difference


def reading_class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each reading does in the classes, by value and then bit for bit."""
    for reading in spec.readings:
        for aspect in ("values", "bits"):
            if etype.family in reading.regions(bitwise=aspect == "bits"):
                yield from _of(spec, etype, reading, aspect)


def _of(spec: Spec, etype: ElementType, reading: Reading, aspect: Aspect) -> Iterator[Claim]:
    same, other = [], []
    of = operator_of(spec)
    for found in reading_classes(spec, etype.family):
        if found.reading == reading.id:
            difference = found.difference(bitwise=aspect == "bits")
            if difference is None:
                same.append(of.given(found.klass))
            else:
                other.append(group(_differs(of, reading, found.klass, difference, aspect)))
    if same:
        yield Claim(
            etype.id, named.in_classes(reading.word, aspect, same=True), "agrees in classes", "theorem",
            (reading.id,),
            f"in {_classes(len(same))} {reading.id} has the {aspect} of the cases",
            _agrees(of, aspect), (group(any_of(*same)), of.returns(reading)), (of.every("Y"),), aspect=aspect,
        )  # fmt: skip
    if other:
        yield Claim(
            etype.id, named.in_classes(reading.word, aspect, same=False), "differs in classes", "theorem",
            (reading.id,),
            f"in {_classes(len(other))} {reading.id} allows other {aspect} somewhere",
            all_of(*other), aspect=aspect,
        )  # fmt: skip


def _differs(of: OperatorNodes, reading: Reading, klass: str, found: Difference, aspect: Aspect) -> Expr:
    at = dict(zip(of.head.operands, map(number, found.at), strict=True))
    answer = at.get(found.answer) or number(found.answer)
    body = all_of(of.given(klass), of.returns(reading), negation(group(_agrees(of, aspect))))
    for name, value in reversed({**at, "Y": answer}.items()):
        body = let(name, value, body)
    return body


def _agrees(of: OperatorNodes, aspect: Aspect) -> Expr:
    return same_bits(Y, of.result()) if aspect == "bits" else same_value(Y, of.result())


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count} classes"
