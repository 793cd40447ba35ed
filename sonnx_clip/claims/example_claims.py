"""What is claimed of the worked examples of the page: of Clip alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.nodes import all_of, number, numbers, operator_of, same_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
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
