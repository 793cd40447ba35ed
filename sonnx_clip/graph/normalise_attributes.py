"""Clip before version 11, whose bounds are FLOAT attributes: their exact values, as inputs have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.graph.arguments import scalars
from sonnx_clip.graph.clip_text import LIMITS, unsaid
from sonnx_clip.graph.constants import attribute_bits
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.schemas import default_of, type_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.profile import OnnxOperand, ProfileType


@dataclass(frozen=True)
class Bound:
    """One bound as it will be stored.

    Attributes:
        operand: which it is.
        stored: its bytes in the element type of the node.
        value: the number, for people.
        given: the attribute is set; else the bound is the version's default.
        assumed: it is the default only because the user said that no infinity reaches the node.
    """

    operand: OnnxOperand
    stored: bytes
    value: float
    given: bool
    assumed: bool = False


@dataclass(frozen=True)
class BoundsPlan:
    """The bounds of a node, in the element type of its tensor, or the reason why they are left alone."""

    etype: ProfileType | None
    bounds: tuple[Bound, ...]
    reason: str | None = None


def plan(node: ClipNode, tensors: Sequence[Argument], *, assume_finite: bool) -> BoundsPlan:
    """How the attributes of a Clip-1 or Clip-6 become inputs without changing a result."""
    x = tensors[0]
    found = x.known_type
    if found is None:
        return BoundsPlan(
            None, (), f"the element type of {x.id} is not known, so neither is that of the inputs"
        )
    problem = type_problem(node.proto.op_type, node.version, found)
    etype = profile().element_type(found)
    if etype is None or problem is not None:
        return BoundsPlan(None, (), problem or f"the profile does not define clip for {found}")
    bounds: list[Bound] = []
    for tensor in scalars(tensors):
        bound = _bound(node, etype, x, tensor.operand, assume_finite=assume_finite)
        if isinstance(bound, str):
            return BoundsPlan(etype, (), bound)
        bounds.append(bound)
    left_open = unsaid({bound.operand.onnx: bound.value for bound in bounds})
    if left_open is not None:
        return BoundsPlan(etype, (), f"{node.operator} does not say {left_open}, and onnxruntime refuses it")
    return BoundsPlan(etype, tuple(bounds))


def _bound(
    node: ClipNode, etype: ProfileType, x: Argument, operand: OnnxOperand, *, assume_finite: bool
) -> Bound | str:
    """A bound, or the reason why there is none."""
    name, limit = operand.onnx, LIMITS[operand.onnx]
    value = next((attribute.f for attribute in node.proto.attribute if attribute.name == name), None)
    if value is not None:
        stored = attribute_bits(value, etype.onnx)
        if stored is None and not math.isnan(value):
            return f"{etype.onnx} has no number {value:.9g}, and how {name} is rounded is not said"
        return Bound(operand, stored or b"", value, given=True)
    default = default_of(node.proto.op_type, node.version, name)
    if default and etype.onnx == "FLOAT":
        return Bound(operand, limit.of(etype), default.f, given=False)
    # The default of the schema is that of FLOAT; no finite FLOAT16 lies beyond it, but many a DOUBLE does.
    if assume_finite and (not default or etype.onnx == "FLOAT16"):
        return Bound(operand, limit.of(etype), limit.beyond, given=False, assumed=True)
    if default and etype.onnx == "DOUBLE":
        return (
            f"the text gives numeric_limits of DOUBLE for {name}, the schema {default.f:.9g}, and they differ"
        )
    schema = "the schema a number beyond it" if default else "the schema nothing"
    return (
        f"{name} is not set: the text gives the {limit.number} number of {etype.onnx}, {schema}; they differ "
        f"where {x.id} is infinite. If no infinity reaches the node: --assume finite"
    )
