"""The versions of an operator in ONNX: facts from its schemas, and facts that only its text has.

Source of the texts: spec/sources/onnx-clip-versions.txt. No other module of this package knows which bounds
Clip has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from onnx import NodeProto, defs

if TYPE_CHECKING:
    from onnx.defs import OpSchema

    from sonnx_clip.lint.profile import Profile, ProfileType

BASED_ON = 13
"""The version on whose text the profile is based."""
EXPORT_AGAIN = f"export the model again with operator set {BASED_ON} or later"
"""The remedy where an older version cannot be in the profile."""


class Limit(NamedTuple):
    """The default of a bound that is not set."""

    number: str  # which number of the element type: lowest or highest
    words: str  # how the text writes it
    limits_nothing: str  # the property that says so, where the other bound is set

    def of(self, etype: ProfileType) -> bytes:
        """That number of an element type, as it is stored."""
        return etype.lowest if self.number == "lowest" else etype.highest


LIMITS = {
    "min": Limit("lowest", "numeric_limits::lowest()", "lowest_is_no_lower_bound"),
    "max": Limit("highest", "numeric_limits::max()", "highest_is_no_upper_bound"),
}
"""By the names of the bounds in ONNX."""
NEITHER_LIMITS = "widest_bounds_are_no_bound"
"""The property that states this if no bound is set."""


def is_default_domain(domain: str) -> bool:
    """Both spellings of the domain of the ONNX operators."""
    return domain in ("", "ai.onnx")


def is_clip(node: NodeProto) -> bool:
    """The node is the operator Clip of ai.onnx."""
    return node.op_type == "Clip" and is_default_domain(node.domain)


@cache
def schema(operator: str, opset: int) -> OpSchema:
    """The version of an operator that an operator set means.

    An operator set newer than the installed onnx counts as the newest that onnx has.
    """
    # A greater one need not fit the C++ int behind it.
    known = min(opset, defs.onnx_opset_version())
    return defs.get_schema(operator, known, "")


@cache
def versions(operator: str) -> tuple[int, ...]:
    """All versions of an operator, the oldest first."""
    every = range(1, defs.onnx_opset_version() + 1)
    opsets = [opset for opset in every if defs.has(operator, opset, "")]
    return tuple(dict.fromkeys(schema(operator, opset).since_version for opset in opsets))


@cache
def inputs(operator: str, version: int) -> tuple[str, ...]:
    """The names of the inputs of a version, in their order."""
    return tuple(operand.name for operand in schema(operator, version).inputs)


def inputs_since(profile: Profile) -> int:
    """The first version with every operand as an input; earlier versions have attributes."""
    operator = profile.signature.op_type
    operands = {operand.onnx for operand in profile.signature.operands}
    return next(
        version for version in versions(operator) if operands <= {*inputs(operator, version)}
    )


def types_of(operator: str, version: int) -> frozenset[str]:
    """The ONNX names of the element types that a version accepts as its first input."""
    types = schema(operator, version).inputs[0].types
    return frozenset(text.removeprefix("tensor(").removesuffix(")").upper() for text in types)


def type_problem(operator: str, version: int, element_type: str) -> str | None:
    """Why a version with this element type is no operator of ONNX; None where it is one."""
    if element_type in types_of(operator, version):
        return None
    later = (
        other
        for other in versions(operator)
        if other > version and element_type in types_of(operator, other)
    )
    newer = next(later, None)
    hint = f"; {operator}-{newer} is, from operator set {newer} on" if newer else ""
    return f"{operator}-{version} is not defined for {element_type}{hint}"
