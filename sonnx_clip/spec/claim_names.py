"""The names by which the claim of a finding speaks of what a reading or a dialect allows.

`onnx_body_returns(X, L, M, Y)`: the reading `onnx-body` allows the answer Y; a dialect likewise, for bounds
that are numbers of the element type. One that lets bounds be missing has `onnx_13_without_max(X, L, Y)`,
`onnx_13_without_min(X, M, Y)` and `onnx_13_without_bounds(X, Y)` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.findings import Theorem
    from sonnx_clip.spec.model import Spec


@dataclass(frozen=True)
class Allowed:
    """What such a name stands for.

    Args:
        reading: the id of the reading that decides.
        parameters: the variables that are given, in their order.
        dialect: the id of the dialect; None for a reading.
    """

    reading: str
    parameters: tuple[str, ...]
    dialect: str | None = None


def claim_names(spec: Spec) -> Mapping[str, Allowed]:
    """All such names, with what each stands for."""
    found = {f"{r.word}_returns": Allowed(r.id, ("X", "L", "M", "Y")) for r in spec.readings}
    for d in spec.whole_dialects:
        found[f"{d.word}_returns"] = Allowed(d.reading, ("X", "L", "M", "Y"), d.id)
        if d.missing is not None:
            for what, given in (("max", ("X", "L", "Y")), ("min", ("X", "M", "Y")), ("bounds", ("X", "Y"))):
                found[f"{d.word}_without_{what}"] = Allowed(d.reading, given, d.id)
    return found


def types_of_claim(spec: Spec, part: Theorem) -> tuple[ElementType, ...]:
    """The element types that a theorem of a finding speaks of, in the order of the file."""
    families, types = part.families or (), part.types or ()
    return tuple(etype for etype in spec.element_types if etype.family in families or etype.id in types)
