"""Whether a scalar is an input of the node, and what stands in its place if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.graph.clip_text import LIMITS
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.normalise_attributes import plan
from sonnx_clip.graph.schemas import default_of, inputs
from sonnx_clip.graph.verdict import Problem, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.clip_nodes import ClipNode

_NORMALISE = "sonnx-clip normalise MODEL.onnx -o OUT.onnx makes the bound an input, or says what prevents it"
_INLINE = "inline the function (onnx.inliner.inline_local_functions); then sonnx-clip normalise can follow"


def bound_problem(node: ClipNode, tensors: Sequence[Argument], bound: Argument) -> Problem | None:
    """Why one of the tensors of a node is not set, None where it is."""
    if bound.name is not None:
        return None
    if bound.operand.onnx in inputs(node.proto.op_type, node.version):
        message, remedy = _input_form(node, tensors[0], bound)
    else:
        message = _attribute_form(node, bound)
        reason = plan(node, tensors, assume_finite=False).reason
        remedy = reason or (_INLINE if node.scope.in_function else _NORMALISE)
    return Problem(bound.id, None, Verdict.VIOLATES, message, remedy)


def _attribute_form(node: ClipNode, bound: Argument) -> str:
    name, value = bound.operand.onnx, _attribute(node, bound)
    if value is not None:
        return f"{node.operator} has no input {bound.id}; the bound is the attribute {name} = {value}"
    default = default_of(node.proto.op_type, node.version, name)
    says = f"so its default {default.f:.9g} applies" if default else "and it has no default"
    return f"{node.operator} has no input {bound.id}; its attribute {name} is not set either, {says}"


def _input_form(node: ClipNode, x: Argument, bound: Argument) -> tuple[str, str]:
    name, position = bound.operand.onnx, bound.operand.position
    title = f"input {bound.id} ({name})"
    how = "is the empty name" if len(node.proto.input) > position else "is absent"
    if bound.left_out is not None:
        how = f"is the function's input {quoted(bound.left_out)}, which the call leaves out"
    message = f"{title} is not set: input {position} of the node {how}"
    value = _attribute(node, bound)
    if value is not None:
        message += f"; the attribute {name} = {value} means nothing to {node.operator}"
        return message, f"set {title} to a scalar {value} of {x.id}'s element type"
    limit = LIMITS.get(name)
    without = f"; without it ONNX takes {limit.words} of that type" if limit else ""
    return message, f"set {title} to a scalar of {x.id}'s element type{without}"


def _attribute(node: ClipNode, bound: Argument) -> str | None:
    found = next((one for one in node.proto.attribute if one.name == bound.operand.onnx), None)
    if found is None:
        return None
    if found.ref_attr_name:
        return f"(the caller's attribute {quoted(found.ref_attr_name)})"
    return f"{found.f:.9g}"
