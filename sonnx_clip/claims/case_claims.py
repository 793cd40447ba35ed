"""What is claimed of the cases, and of their classes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import (
    all_of,
    any_of,
    iff,
    implies,
    named_result,
    negation,
    numbers,
    operator_of,
    same_bits,
)
from sonnx_clip.claims.written_claims import written_claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.nodes import OperatorNodes
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, ValueClass


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
