"""What onnx's schemas say of the versions of an operator of ai.onnx."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from onnx import AttributeProto, defs

if TYPE_CHECKING:
    from sonnx_clip.graph.profile import OperatorHead


@cache
def version_of(operator: str, opset: int) -> int | None:
    """The version of an operator that an operator set means, None where it has none.

    An operator set that is newer than the installed onnx knows is taken for the newest that it knows.
    """
    known = min(opset, defs.onnx_opset_version())  # a greater one need not fit the C++ int behind it
    try:
        return int(defs.get_schema(operator, known, "").since_version)
    except defs.SchemaError:
        return None


@cache
def versions(operator: str) -> tuple[int, ...]:
    """All versions of an operator, the oldest first."""
    found = (version_of(operator, opset) for opset in range(1, defs.onnx_opset_version() + 1))
    return tuple(dict.fromkeys(version for version in found if version is not None))


@cache
def inputs(operator: str, version: int) -> tuple[str, ...]:
    """The names of the inputs of a version, in their order."""
    return tuple(one.name for one in defs.get_schema(operator, version, "").inputs)


@cache
def inputs_since(head: OperatorHead) -> int:
    """The first version that takes every operand as an input; those before have attributes."""
    wanted = {operand.onnx for operand in head.operands}
    return next(version for version in versions(head.operator) if wanted <= {*inputs(head.operator, version)})


@cache
def attributes(operator: str, version: int) -> frozenset[str]:
    """The names of the attributes of a version."""
    return frozenset(defs.get_schema(operator, version, "").attributes)


@cache
def default_of(operator: str, version: int, attribute: str) -> AttributeProto | None:
    """The default of an attribute of a version, None where it has none, or no such attribute."""
    found = defs.get_schema(operator, version, "").attributes.get(attribute)
    return found.default_value if found and found.default_value.name else None


@cache
def types_of(operator: str, version: int) -> frozenset[str]:
    """The ONNX names of the element types that a version takes as its first input."""
    names = (
        text.removeprefix("tensor(").removesuffix(")")
        for text in defs.get_schema(operator, version, "").inputs[0].types
    )
    return frozenset(name.upper() for name in names)


def type_problem(operator: str, version: int, element_type: str) -> str | None:
    """Why a version with this element type is no operator of ONNX; None where it is one."""
    if element_type in types_of(operator, version):
        return None
    later = (one for one in versions(operator) if one > version and element_type in types_of(operator, one))
    newer = next(later, None)
    hint = f"; {operator}-{newer} is, from operator set {newer} on" if newer else ""
    return f"{operator}-{version} is not defined for {element_type}{hint}"
