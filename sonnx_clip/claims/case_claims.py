"""What is claimed of the cases, of their classes, and of the worked examples of the page."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import (
    ALL,
    TRIPLE,
    L,
    M,
    all_of,
    any_of,
    cases,
    given,
    iff,
    implies,
    negation,
    number,
    numbers,
    same_bits,
    written_clip,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Example, ValueClass


CASES_COMPLETE, CASES_DISJOINT = "cases_complete", "cases_disjoint"


def case_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and mean the hand-written Clip."""
    ids = tuple(case.id for case in spec.cases)
    yield Claim(
        etype.id, CASES_COMPLETE, "complete", "theorem", ids,
        "every input falls into a case", one_of(ids), binders=(ALL,),
    )  # fmt: skip
    yield Claim(
        etype.id, CASES_DISJOINT, "disjoint", "theorem", ids,
        "no input falls into two cases", no_two_of(ids), binders=(ALL,),
    )  # fmt: skip
    variables = dict(zip("XLM", TRIPLE, strict=True))
    results = all_of(*(implies(given(c.id), same_bits(cases(), variables[c.result])) for c in spec.cases))
    yield Claim(
        etype.id, "cases_results", "results", "theorem", ids,
        "each case gives the result that it names", results, binders=(ALL,),
    )  # fmt: skip
    yield Claim(
        etype.id, "clip_is_cases", "written", "equivalence", ids,
        "the cases of the YAML are the hand-written Clip", same_bits(cases(), written_clip()), binders=(ALL,),
    )  # fmt: skip
    for case in spec.cases:
        yield _inhabited(etype, case)


def class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes part each case, and each is inhabited."""
    for case in spec.cases:
        classes = spec.classes_of(etype.family, case.id)
        ids = tuple(c.id for c in classes)
        yield Claim(
            etype.id, named.complete(case.id), "complete", "theorem", (case.id, *ids),
            f"every input of {case.id} falls into a class", iff(given(case.id), one_of(ids)), binders=(ALL,),
        )  # fmt: skip
        if len(ids) > 1:
            yield Claim(
                etype.id, named.disjoint(case.id), "disjoint", "theorem", (case.id, *ids),
                f"no input of {case.id} falls into two classes", no_two_of(ids), binders=(ALL,),
            )  # fmt: skip
        for c in classes:
            yield _inhabited(etype, c)


def _inhabited(etype: ElementType, entry: Case | ValueClass) -> Claim:
    return Claim(
        etype.id, named.inhabited(entry.id), "inhabited", "theorem", (entry.id,),
        f"some input falls into {entry.id}", given(entry.id), witness=numbers(entry.inhabited_by.texts()),
    )  # fmt: skip


def one_of(ids: tuple[str, ...]) -> Expr:
    """At least one of these cases or classes."""
    return any_of(*map(given, ids))


def no_two_of(ids: tuple[str, ...]) -> Expr:
    """No two of these cases or classes."""
    return all_of(*(negation(all_of(given(a), given(b))) for a, b in combinations(ids, 2)))


def example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            yield _example(etype, example)


def _example(etype: ElementType, example: Example) -> Claim:
    entries = (
        same_bits(cases(number(x), L, M), number(y)) for x, y in zip(example.X, example.Y, strict=True)
    )
    return Claim(
        etype.id, named.example(example.id), "example", "theorem", (example.id,),
        f"the worked example {example.id}", all_of(*entries),
        witness=numbers({"L": example.L, "M": example.M}),
    )  # fmt: skip
