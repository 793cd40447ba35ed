"""What is claimed by worked examples: those of the SONNX page, and those of the pages of dialects, entry by
entry or for all X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim
from sonnx_clip.claims.clip_operands import X, returns
from sonnx_clip.claims.nodes import (
    Y,
    Z,
    all_of,
    compare,
    group,
    iff,
    number,
    numbers,
    operator_of,
    same_bits,
    same_value,
    value,
)
from sonnx_clip.spec.dialect_examples import ComputedBy, bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialect_examples import DialectExample
    from sonnx_clip.spec.entries import Example


def example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            yield _example(spec, etype, example)


def _example(spec: Spec, etype: ElementType, example: Example) -> Claim:
    of = operator_of(spec)
    _, *scalars = of.operands
    entries = (
        same_bits(of.result(number(x), *scalars), number(y))
        for x, y in zip(example.X, example.Y, strict=True)
    )
    return Claim(
        etype.id, named.example(example.id), "example", "theorem", (example.id,),
        f"the worked example {example.id}", all_of(*entries),
        witness=numbers({name: getattr(example, name) for name in spec.head.scalars}),
    )  # fmt: skip


# --- What is claimed by the worked examples on the pages of dialects: entry by entry, or for all X ----------


def dialect_example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The examples that are said of an element type, in the order of the file."""
    for example in spec.dialect_examples:
        if example.type == etype.id:
            yield _claim(spec, etype, example)


def _claim(spec: Spec, etype: ElementType, example: DialectExample) -> Claim:
    """The entries of the result are all that the dialect allows; or, for all X, it has the computed value."""
    low, high = map(value, bounds_of(spec, example))
    reading = spec.reading(spec.dialect(example.dialect).reading)
    name, shows = named.example(example.id), (example.id, example.dialect)
    if isinstance(example.Y, ComputedBy):
        theirs = returns(spec.reading(example.Y.reading), X, number(example.Y.L), number(example.Y.M), Z)
        finite = (compare(number("-inf"), "<", X), compare(X, "<", number("inf")))
        said = (
            f"{example.dialect} has the value that {example.Y.reading} computes, for every X that is finite"
        )
        return Claim(
            etype.id, name, "example", "theorem", shows, f"the worked example {example.id}: {said}",
            same_value(Y, Z),
            (*(finite if etype.family == "float" else ()), returns(reading, X, low, high), theirs),
            (Binder(("X", "Y", "Z")),),
        )  # fmt: skip
    entries = (
        group(iff(returns(reading, number(x), low, high), same_bits(Y, number(y)))) for x, y in example.pairs
    )
    return Claim(
        etype.id, name, "example", "theorem", shows,
        f"the worked example {example.id}: {example.dialect} allows the listed results and no others",
        all_of(*entries), binders=(Binder(("Y",)),),
    )  # fmt: skip
