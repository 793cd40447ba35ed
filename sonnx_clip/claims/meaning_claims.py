"""What is claimed of the cases and their classes, of properties and of latitude: proved; or refuted, and
proved under a condition.
"""

from __future__ import annotations

from itertools import combinations
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
    iff,
    implies,
    is_nan,
    let,
    named_result,
    negation,
    numbers,
    operator_of,
    other_bits,
    same_bits,
)
from sonnx_clip.claims.written_claims import written_claims
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.evaluate import readings_of_latitude

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Kind
    from sonnx_clip.claims.nodes import OperatorNodes
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Latitude, Property, ValueClass


CASES_COMPLETE, CASES_DISJOINT = "cases_complete", "cases_disjoint"


def case_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and mean what a person wrote of Clip."""
    of = operator_of(spec)
    ids = tuple(case.id for case in spec.cases)
    yield Claim(
        etype.id, CASES_COMPLETE, "complete", "theorem", ids,
        "every input falls into a case", one_of(of, ids), binders=(of.every(),),
    )  # fmt: skip
    yield Claim(
        etype.id, CASES_DISJOINT, "disjoint", "theorem", ids,
        "no input falls into two cases", no_two_of(of, ids), binders=(of.every(),),
    )  # fmt: skip
    results = all_of(*(implies(of.given(c.id), same_bits(of.result(), named_result(c))) for c in spec.cases))
    yield Claim(
        etype.id, "cases_results", "results", "theorem", ids,
        "each case gives the result that it names", results, binders=(of.every(),),
    )  # fmt: skip
    yield from written_claims(spec, etype)
    for case in spec.cases:
        yield _inhabited(of, etype, case)


def class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes part each case, and each is inhabited."""
    of = operator_of(spec)
    for case in spec.cases:
        classes = spec.classes_of(etype.family, case.id)
        ids = tuple(c.id for c in classes)
        yield Claim(
            etype.id, named.complete(case.id), "complete", "theorem", (case.id, *ids),
            f"every input of {case.id} falls into a class", iff(of.given(case.id), one_of(of, ids)),
            binders=(of.every(),),
        )  # fmt: skip
        if len(ids) > 1:
            yield Claim(
                etype.id, named.disjoint(case.id), "disjoint", "theorem", (case.id, *ids),
                f"no input of {case.id} falls into two classes", no_two_of(of, ids), binders=(of.every(),),
            )  # fmt: skip
        for c in classes:
            yield _inhabited(of, etype, c)


def _inhabited(of: OperatorNodes, etype: ElementType, entry: Case | ValueClass) -> Claim:
    return Claim(
        etype.id, named.inhabited(entry.id), "inhabited", "theorem", (entry.id,),
        f"some input falls into {entry.id}", of.given(entry.id),
        witness=numbers(entry.inhabited_by.texts()),
    )  # fmt: skip


def one_of(of: OperatorNodes, ids: tuple[str, ...]) -> Expr:
    """At least one of these cases or classes."""
    return any_of(*map(of.given, ids))


def no_two_of(of: OperatorNodes, ids: tuple[str, ...]) -> Expr:
    """No two of these cases or classes."""
    return all_of(*(negation(all_of(of.given(a), of.given(b))) for a, b in combinations(ids, 2)))


# --- What is claimed of properties and of latitude: proved; or refuted, and proved under a condition --------


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
    kind: Kind = "counterexample" if p.ours else "refutation"
    yield Claim(
        etype.id, named.refuted(p.id), "refuted", kind, shows, f"refuted: {p.title}",
        of_result(spec, negation(group(p.claim))), witness=numbers(p.refuted_for[etype.family].texts()),
    )  # fmt: skip
    condition = p.repaired[etype.family]
    yield Claim(
        etype.id, named.repaired(p.id), "repaired", "theorem", shows, f"under its condition: {p.title}",
        of_result(spec, p.claim), premises=(group(condition),), binders=(every,),
    )  # fmt: skip
    yield Claim(
        etype.id, named.nowhere_else(named.repaired(p.id)), "nowhere else", "theorem", shows,
        f"false outside its condition: {p.title}",
        of_result(spec, negation(group(p.claim))), premises=(negation(group(condition)),), binders=(every,),
    )  # fmt: skip
    yield Claim(
        etype.id, named.inhabited(named.repaired(p.id)), "repaired inhabited", "theorem", shows,
        f"some numbers meet the condition of: {p.title}", condition,
        witness=numbers(_numbers_that_meet(spec, etype, p)),
    )  # fmt: skip


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, str]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in reversed(spec.classes_of(etype.family)):
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
