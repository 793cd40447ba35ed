"""Clip before version 11, whose bounds are FLOAT attributes: their exact values, as inputs have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import defs

from sonnx_clip.graph.arguments import operator_version, type_problem
from sonnx_clip.graph.constants import LIMIT, attribute_bits, limit_bits, profile_type
from sonnx_clip.graph.edit import NAME
from sonnx_clip.graph.normalise_inputs import one_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.profile import ProfileType


@dataclass(frozen=True)
class Bound:
    """One bound as it will be stored.

    Attributes:
        role: L or M.
        stored: its bytes in the element type of X.
        value: the number, for people.
        given: the attribute is set; else the bound is the version's default.
        assumed: it is the default only because the user said that no infinity reaches the node.
    """

    role: str
    stored: bytes
    value: float
    given: bool
    assumed: bool = False


@dataclass(frozen=True)
class Plan:
    """Both bounds of a node, in the element type of its X, or the reason why they are left as they are."""

    etype: ProfileType | None
    bounds: tuple[Bound, ...]
    reason: str | None = None


def plan(node: ClipNode, tensors: Sequence[Argument], *, assume_finite: bool) -> Plan:
    """How the attributes of a Clip-1 or Clip-6 become inputs without changing a result."""
    found = one_type(tensors[0])
    etype = profile_type(found)
    if found is None:
        return Plan(None, (), "the element type of X is not known, so neither is that of the inputs")
    problem = type_problem(operator_version(node), found)
    if etype is None or problem is not None:
        return Plan(None, (), problem or f"the profile does not define clip for {found}")
    bounds: list[Bound] = []
    for role in ("L", "M"):
        bound = _bound(node, etype, role, assume_finite=assume_finite)
        if isinstance(bound, str):
            return Plan(etype, (), bound)
        bounds.append(bound)
    low, high = (bound.value for bound in bounds)
    if math.isnan(low) or math.isnan(high):
        reason = (
            f"Clip-{operator_version(node)} does not say what a NaN bound does, and onnxruntime refuses it"
        )
        return Plan(etype, (), reason)
    if low > high:
        reason = (
            f"Clip-{operator_version(node)} does not say what min = {low:.9g} above max = {high:.9g} does"
        )
        return Plan(etype, (), f"{reason}, and onnxruntime refuses it")
    return Plan(etype, tuple(bounds))


def _bound(node: ClipNode, etype: ProfileType, role: str, *, assume_finite: bool) -> Bound | str:
    """A bound, or the reason why there is none."""
    name, version = NAME[role], operator_version(node)
    value = next((attribute.f for attribute in node.proto.attribute if attribute.name == name), None)
    if value is not None:
        stored = attribute_bits(value, etype.onnx)
        if stored is None and not math.isnan(value):
            return f"{etype.onnx} has no number {value:.9g}, and how {name} is rounded is not said"
        return Bound(role, stored or b"", value, given=True)
    default = defs.get_schema("Clip", version, "").attributes[name].default_value
    if default.name and etype.onnx == "FLOAT":
        return Bound(role, limit_bits(etype, role), default.f, given=False)
    # The default of the schema is that of FLOAT; no finite FLOAT16 lies beyond it, but many a DOUBLE does.
    if assume_finite and (not default.name or etype.onnx == "FLOAT16"):
        value = -math.inf if role == "L" else math.inf
        return Bound(role, limit_bits(etype, role), value, given=False, assumed=True)
    if default.name and etype.onnx == "DOUBLE":
        return (
            f"the text gives numeric_limits of DOUBLE for {name}, the schema {default.f:.9g}, and they differ"
        )
    schema = "the schema a number beyond it" if default.name else "the schema nothing"
    return (
        f"{name} is not set: the text gives the {LIMIT[role]} number of {etype.onnx}, {schema}; they differ "
        "where X is infinite. If no infinity reaches the node: --assume finite"
    )
