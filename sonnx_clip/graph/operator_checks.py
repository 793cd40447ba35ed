"""When a row of the table of operators holds: conditions on one node, by the names that the table gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx import helper, numpy_helper

from sonnx_clip.graph.schemas import default_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import NodeProto, TensorProto

    from sonnx_clip.graph.declared_tensors import Dims, TensorInfo

_FLOATS = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")


@dataclass(frozen=True)
class Surroundings:
    """What is known where a node stands.

    Attributes:
        version: of the operator before the step.
        stored: tensors that no caller can change, by name.
        known: what shape inference is sure of, by name.
        upsampled: the node was an Upsample, whose scales are at least 1 by its text.
    """

    version: int
    stored: Mapping[str, TensorProto] = field(default_factory=dict)
    known: Mapping[str, TensorInfo] = field(default_factory=dict)
    upsampled: bool = False

    def dims(self, name: str) -> Dims | None:
        """The shape of a tensor."""
        if name in self.stored:
            return tuple(self.stored[name].dims)
        return self.known[name].dims if name in self.known else None

    def element_type(self, name: str) -> str | None:
        """The ONNX name of its element type."""
        return self.known[name].element_type if name in self.known else None


def attribute(node: NodeProto, name: str, version: int) -> object:
    """An attribute, or the default of the version of the operator; None where it has none."""
    for one in node.attribute:
        if one.name == name:
            return helper.get_attribute_value(one)
    default = default_of(node.op_type, version, name)
    return helper.get_attribute_value(default) if default else None


def _spatial_batch_norm(node: NodeProto, here: Surroundings) -> bool:
    return attribute(node, "spatial", here.version) == 1 and _one_output(node, here)


def _one_output(node: NodeProto, _: Surroundings) -> bool:
    return not any(node.output[1:])


def _no_auto_pad(node: NodeProto, here: Surroundings) -> bool:
    return attribute(node, "auto_pad", here.version) == b"NOTSET"


def _given_padding(node: NodeProto, here: Surroundings) -> bool:
    set_here = {one.name for one in node.attribute}
    auto_pad = attribute(node, "auto_pad", here.version)
    return auto_pad in (b"NOTSET", b"VALID") and "output_shape" not in set_here


def _scalar_scale(node: NodeProto, here: Surroundings) -> bool:
    return here.dims(node.input[1]) == ()


def _float_input(node: NodeProto, here: Surroundings) -> bool:
    return here.element_type(node.input[0]) in _FLOATS


def _scales_given(node: NodeProto, _: Surroundings) -> bool:
    return len(node.input) == 3 and bool(node.input[2])


def _resize_scales(node: NodeProto, here: Surroundings) -> bool:
    if attribute(node, "mode", here.version) == b"linear" or here.upsampled:
        return True
    scales = here.stored.get(node.input[1])
    return scales is not None and bool((numpy_helper.to_array(scales) >= 1).all())


def _last_axis(node: NodeProto, here: Surroundings) -> bool:
    dims = here.dims(node.input[0])
    axis = attribute(node, "axis", here.version)
    return axis == -1 or (dims is not None and axis == len(dims) - 1)


CHECKS: dict[str, Callable[[NodeProto, Surroundings], bool]] = {
    "spatial_batch_norm": _spatial_batch_norm,
    "one_output": _one_output,
    "no_auto_pad": _no_auto_pad,
    "given_padding": _given_padding,
    "scalar_scale": _scalar_scale,
    "float_input": _float_input,
    "scales_given": _scales_given,
    "resize_scales": _resize_scales,
    "last_axis": _last_axis,
}

# These read `Surroundings.known`, which takes shape inference to find out.
NEEDS_INFERENCE = frozenset({"scalar_scale", "float_input", "last_axis"})
