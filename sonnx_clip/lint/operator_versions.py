"""The versions of an operator in ONNX: facts from its schemas, and facts that only its text has.

Source of the texts: spec/sources/onnx-clip-versions.txt. No other module of this package knows which bounds
Clip has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from onnx import NodeProto, defs

from sonnx_clip.lint.profile import profile

if TYPE_CHECKING:
    from onnx import FunctionProto
    from onnx.defs import OpSchema

    from sonnx_clip.lint.profile import ProfileType

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


def is_clip_function(function: FunctionProto) -> bool:
    """A local function has the name of the operator Clip of ai.onnx."""
    return function.name == "Clip" and is_default_domain(function.domain)


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
    since: dict[int, None] = {}  # most operator sets keep the version of the one before
    for opset in range(1, defs.onnx_opset_version() + 1):
        if defs.has(operator, opset, ""):
            since[schema(operator, opset).since_version] = None
    return tuple(since)


@cache
def inputs(operator: str, version: int) -> tuple[str, ...]:
    """The names of the inputs of a version, in their order."""
    return tuple(operand.name for operand in schema(operator, version).inputs)


@cache
def inputs_since() -> int:
    """The first version with every operand as an input; earlier versions have attributes."""
    signature = profile().signature
    operands = {operand.onnx for operand in signature.operands}
    for version in versions(signature.op_type):
        if operands.issubset(inputs(signature.op_type, version)):
            return version
    raise ValueError(f"no version of {signature.op_type} has all operands as inputs")


def types_of(operator: str, version: int) -> frozenset[str]:
    """The ONNX names of the element types that a version accepts as its first input."""
    # A schema writes tensor(float16) where a model has FLOAT16.
    texts = schema(operator, version).inputs[0].types
    names = (text.removeprefix("tensor(").removesuffix(")") for text in texts)
    return frozenset(map(str.upper, names))


def type_problem(operator: str, version: int, element_type: str) -> str | None:
    """Why a version with this element type is no operator of ONNX; None where it is one."""
    if element_type in types_of(operator, version):
        return None
    # A newer version may have the type: then an export with its operator set helps.
    problem = f"{operator}-{version} is not defined for {element_type}"
    for newer in versions(operator):
        if newer > version and element_type in types_of(operator, newer):
            return f"{problem}; {operator}-{newer} is, from operator set {newer} on"
    return problem
