"""What is claimed beside what a person wrote: that the cases of the YAML are the Clip of why3/clip.mlw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sonnx_clip.claims.claim import Claim
from sonnx_clip.claims.clip_operands import written_clip
from sonnx_clip.claims.nodes import operator_of, same_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

WRITTEN: Final = frozenset({"Clip"})
"""The operators of which a person wrote theories and kernels."""
WRITTEN_CONSTRAINTS: Final = frozenset({"C1", "C2", "C3"})
"""The constraints that why3/tensor.mlw states by hand."""
WRITTEN_ON_TENSORS: Final = "clip_tensor"
"""What why3/tensor.mlw calls the operator on tensors."""
STEPS: Final = (
    (
        "C2_when_inverted",
        "inverted bounds make every entry M",
        (
            "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
            " lt (value m) (value l) -> eq ((clip_tensor x l m).entry i) (value m)"
        ),
    ),
    (
        "C2_when_ordered",
        "else every entry of numbers lies between the bounds",
        (
            "forall x l m: tensor, i: index [(clip_tensor x l m).entry i]."
            " not nan (x.entry i) -> not nan (value l) -> not nan (value m) ->"
            " not lt (value m) (value l) -> let y = clip_tensor x l m in"
            " le (value l) (y.entry i) /\\ le (y.entry i) (value m)"
        ),
    ),
)
"""The lemmas on tensors, each with its title and its formula: with them the provers show C2."""


def written_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases mean what a person wrote; of other operators nobody wrote anything."""
    if spec.operator not in WRITTEN:
        return
    of = operator_of(spec)
    yield Claim(
        etype.id, "clip_is_cases", "written", "equivalence", tuple(case.id for case in spec.cases),
        "the cases of the YAML are the hand-written Clip", same_bits(of.result(), written_clip()),
        binders=(of.every(),),
    )  # fmt: skip
