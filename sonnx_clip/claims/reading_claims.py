"""Claims on readings in one element type: beside the cases, class by class, and beside another reading where
a finding contrasts the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import (
    C,
    Y,
    all_of,
    any_of,
    group,
    iff,
    let,
    negation,
    number,
    numbers,
    operator_of,
    other_bits,
    replaced,
    same_bits,
    same_value,
)
from sonnx_clip.spec.findings import Contrast
from sonnx_clip.spec.reading_classes import reading_classes
from sonnx_clip.spec.readings import leaves_values_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.claims.claim import Aspect
    from sonnx_clip.claims.nodes import OperatorNodes
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Conditions, Reading, Witness
    from sonnx_clip.spec.findings import Side
    from sonnx_clip.spec.reading_classes import Difference


def region(of: OperatorNodes, regions: Conditions, etype: ElementType) -> Expr | None:
    """Where something agrees with the cases, as a whole; None for everywhere."""
    found = regions.get(etype.family)
    return None if found is None else group(replaced(found, "Y", of.result()))


def candidates(of: OperatorNodes, etype: ElementType) -> tuple[Expr, ...]:
    """All answers that readings allow, but for payloads of NaNs."""
    nans = (number("nan"), number("-nan")) if etype.family == "float" else ()
    return (*of.operands, *nans)


def reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each reading does beside the cases, then the pairs of readings that findings contrast."""
    for reading in spec.readings:
        yield from beside_cases(spec, etype, reading)
    yield from contrast_claims(spec, etype)


def beside_cases(spec: Spec, etype: ElementType, r: Reading) -> Iterator[Claim]:
    """What a reading answers, and where that is the result of the cases, by value and bit for bit."""
    of = operator_of(spec)
    yield Claim(
        etype.id, named.answers(r.word), "answers", "theorem", (r.id,),
        f"{r.id} allows an answer for every input",
        any_of(*(of.returns(r, y) for y in of.operands)), binders=(of.every(),),
    )  # fmt: skip
    where, same = region(of, r.agrees, etype), same_value(Y, of.result())
    if where is not None and leaves_values_open(spec, etype, r):
        yield _agrees(
            of,
            etype,
            r,
            "values",
            f"{r.id} has the value of the cases in its region",
            (where, of.returns(r)),
            same,
        )
        yield _nowhere_else(
            of, etype, r, "values", where, f"outside its region {r.id} allows an answer of another value",
            lambda y: negation(same_value(y, of.result())),
        )  # fmt: skip
    else:
        exactly = same if where is None else iff(same, where)
        yield _agrees(
            of,
            etype,
            r,
            "values",
            f"{r.id} has the value of the cases exactly there",
            (of.returns(r),),
            exactly,
        )
    if where is not None:
        witness = r.differs_at[etype.family]
        yield _differs(of, etype, r, "values", witness, where, lambda y: same_value(y, C))
    where = region(of, r.agrees_bitwise, etype)
    within = () if where is None else (where,)
    yield _agrees(
        of, etype, r, "bits", f"{r.id} has the bits of the cases in its region",
        (*within, of.returns(r)), same_bits(Y, of.result()),
    )  # fmt: skip
    if where is not None:
        yield _nowhere_else(
            of, etype, r, "bits", where, f"outside its region {r.id} allows an answer of other bits",
            lambda y: other_bits(y, of.result()),
        )  # fmt: skip
        witness = r.differs_bitwise_at[etype.family]
        yield _differs(of, etype, r, "bits", witness, where, lambda y: same_bits(y, C))


def _agrees(
    of: OperatorNodes,
    etype: ElementType,
    r: Reading,
    aspect: Aspect,
    title: str,
    premises: tuple[Expr, ...],
    conclusion: Expr,
) -> Claim:
    return Claim(
        etype.id, named.agrees(r.word, aspect), "agrees", "theorem", (r.id,), title,
        conclusion, premises, (of.every("Y"),), aspect=aspect,
    )  # fmt: skip


def _nowhere_else(
    of: OperatorNodes,
    etype: ElementType,
    r: Reading,
    aspect: Aspect,
    where: Expr,
    title: str,
    what: Callable[[Expr], Expr],
) -> Claim:
    return Claim(
        etype.id, named.nowhere_else(named.agrees(r.word, aspect)), "nowhere else", "theorem", (r.id,),
        title, _some(of, etype, r, what), (negation(where),), (of.every(),), aspect=aspect,
    )  # fmt: skip


def _some(of: OperatorNodes, etype: ElementType, r: Reading, what: Callable[[Expr], Expr]) -> Expr:
    return any_of(*(all_of(of.returns(r, y), what(y)) for y in candidates(of, etype)))


def _differs(
    of: OperatorNodes,
    etype: ElementType,
    r: Reading,
    aspect: Aspect,
    witness: Witness,
    where: Expr,
    agrees: Callable[[Expr], Expr],
) -> Claim:
    answers = _some(of, etype, r, lambda y: negation(group(agrees(y))))
    return Claim(
        etype.id, named.differs(r.word, aspect), "differs", "theorem", (r.id,),
        f"{r.id} differs from the cases outside its region",
        let("C", of.result(), all_of(negation(where), group(answers))),
        witness=numbers({name: witness.texts()[name] for name in of.head.operands}), aspect=aspect,
    )  # fmt: skip


def contrast_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Two readings differ at the numbers of a finding that contrasts them; the first finding counts."""
    of = operator_of(spec)
    found: dict[tuple[str, ...], Contrast] = {}
    for witness in (w for finding in spec.findings for w in finding.witnesses if isinstance(w, Contrast)):
        if witness.type == etype.id and witness.L is not None and witness.M is not None:
            first, *further = (_reading_of(spec, side) for side in witness.answers)
            for pair in ({first, id_} for id_ in further):
                if len(pair) == 2 and not pair & {"cases", None}:
                    found.setdefault(tuple(r.id for r in spec.readings if r.id in pair), witness)
    for ids, witness in found.items():
        one, other = map(spec.reading, ids)
        apart = (
            all_of(of.returns(one, y), of.returns(other, z), negation(same_value(y, z)))
            for y in candidates(of, etype)
            for z in candidates(of, etype)
            if y != z
        )
        yield Claim(
            etype.id, named.apart(one.word, other.word), "differs from", "theorem", ids,
            f"{one.id} and {other.id} do not allow the same values", any_of(*apart),
            witness=numbers({name: getattr(witness, name) for name in of.head.operands}), aspect="values",
        )  # fmt: skip


def _reading_of(spec: Spec, side: Side) -> str | None:
    """The reading that a side follows; None where it answers with bounds of its own."""
    of_dialect = {dialect.id: dialect.reading for dialect in spec.whole_dialects}
    return of_dialect.get(side.by, side.by) if side.L is None and side.M is None else None


# --- What is claimed of readings class by class: where each has what the cases give, and where not ----------


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
                other.append(group(_class_differs(of, reading, found.klass, difference, aspect)))
    if same:
        yield Claim(
            etype.id, named.in_classes(reading.word, aspect, same=True), "agrees in classes", "theorem",
            (reading.id,),
            f"in {_classes(len(same))} {reading.id} has the {aspect} of the cases",
            _class_agrees(of, aspect), (group(any_of(*same)), of.returns(reading)), (of.every("Y"),),
            aspect=aspect,
        )  # fmt: skip
    if other:
        yield Claim(
            etype.id, named.in_classes(reading.word, aspect, same=False), "differs in classes", "theorem",
            (reading.id,),
            f"in {_classes(len(other))} {reading.id} allows other {aspect} somewhere",
            all_of(*other), aspect=aspect,
        )  # fmt: skip


def _class_differs(
    of: OperatorNodes, reading: Reading, klass: str, found: Difference, aspect: Aspect
) -> Expr:
    at = dict(zip(of.head.operands, map(number, found.at), strict=True))
    answer = at.get(found.answer) or number(found.answer)
    body = all_of(of.given(klass), of.returns(reading), negation(group(_class_agrees(of, aspect))))
    for name, what in reversed({**at, "Y": answer}.items()):
        body = let(name, what, body)
    return body


def _class_agrees(of: OperatorNodes, aspect: Aspect) -> Expr:
    return same_bits(Y, of.result()) if aspect == "bits" else same_value(Y, of.result())


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count} classes"
