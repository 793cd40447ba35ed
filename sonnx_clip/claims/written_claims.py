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
