"""R1 and R2: whether the bounds are inputs of the node, and what stands in their place if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import NodeProto, defs

from sonnx_clip.graph.arguments import BOUNDS_ARE_INPUTS_SINCE, Argument, operator_version
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.normalise_attributes import plan
from sonnx_clip.graph.verdict import Problem, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.clip_nodes import ClipNode

_ATTRIBUTE = {"L": "min", "M": "max"}
_POSITION = {"L": 1, "M": 2}
_NORMALISE = "sonnx-clip normalise MODEL.onnx -o OUT.onnx makes the bound an input, or says what prevents it"
_INLINE = "inline the function (onnx.inliner.inline_local_functions); then sonnx-clip normalise can follow"
_LIMIT = {"L": "lowest()", "M": "max()"}


def bound_problem(node: ClipNode, tensors: Sequence[Argument], role: str) -> Problem | None:
    """Why R1 (for L) or R2 (for M) is violated, None where the input is set."""
    bound = tensors[_POSITION[role]]
    if bound.name is not None:
        return None
    version = operator_version(node)
    if version < BOUNDS_ARE_INPUTS_SINCE:
        message = _attribute_form(node.proto, bound.role, version)
        reason = plan(node, tensors, assume_finite=False).reason
        remedy = reason or (_INLINE if node.scope.in_function else _NORMALISE)
    else:
        message, remedy = _input_form(node.proto, bound, version)
    return Problem(bound.role, None, Verdict.VIOLATES, message, remedy)


def _attribute_form(node: NodeProto, role: str, version: int) -> str:
    name = _ATTRIBUTE[role]
    value = _attribute(node, name)
    if value is None:
        default = _default(version, name)
        return f"Clip-{version} has no input {role}; its attribute {name} is not set either, {default}"
    return f"Clip-{version} has no input {role}; the bound is the attribute {name} = {value}"


def _input_form(node: NodeProto, bound: Argument, version: int) -> tuple[str, str]:
    role = bound.role
    name, position = _ATTRIBUTE[role], _POSITION[role]
    how = "is the empty name" if len(node.input) > position else "is absent"
    if bound.left_out is not None:
        how = f"is the function's input {quoted(bound.left_out)}, which the call leaves out"
    message = f"input {role} ({name}) is not set: input {position} of the node {how}"
    value = _attribute(node, name)
    if value is not None:
        message += f"; the attribute {name} = {value} means nothing to Clip-{version}"
        return message, f"set input {role} ({name}) to a scalar {value} of X's element type"
    return message, (
        f"set input {role} ({name}) to a scalar of X's element type; "
        f"without it ONNX takes numeric_limits::{_LIMIT[role]} of that type"
    )


def _attribute(node: NodeProto, name: str) -> str | None:
    found = next((attribute for attribute in node.attribute if attribute.name == name), None)
    if found is None:
        return None
    if found.ref_attr_name:
        return f"(the caller's attribute {quoted(found.ref_attr_name)})"
    return f"{found.f:.9g}"


def _default(version: int, name: str) -> str:
    attribute = defs.get_schema("Clip", version, "").attributes[name]
    if not attribute.default_value.name:
        return "and it has no default"
    return f"so its default {attribute.default_value.f:.9g} applies"
