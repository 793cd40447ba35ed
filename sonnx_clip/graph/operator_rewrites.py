"""Nodes rewritten for the next version of their operator, by the names that the table of operators gives.

Each function changes a node, whose version is the old one, and returns the Constant nodes that go before it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from onnx import NodeProto, TensorProto, helper

from sonnx_clip.graph.constants import attribute_bits, scalar_tensor
from sonnx_clip.graph.operator_checks import Surroundings, attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fresh = Callable[[str], str]


class NotRewritableError(Exception):
    """The node cannot be said in the words of the new version; the message says why."""


def take_out(node: NodeProto, *names: str) -> None:
    """Remove attributes."""
    kept = [one for one in node.attribute if one.name not in names]
    del node.attribute[:]
    node.attribute.extend(kept)


def _constant(node: NodeProto, fresh: Fresh, name: str, code: int, numbers: Sequence[float]) -> NodeProto:
    tensor = helper.make_tensor(fresh(f"{node.output[0]}_{name}"), code, [len(numbers)], numbers)
    return helper.make_node("Constant", [], [tensor.name], name=tensor.name, value=tensor)


def _add_input(node: NodeProto, position: int, constant: NodeProto) -> list[NodeProto]:
    node.input.extend([""] * (position + 1 - len(node.input)))
    node.input[position] = constant.output[0]
    return [constant]


def _list_input(
    node: NodeProto, here: Surroundings, fresh: Fresh, name: str, position: int, code: int = TensorProto.INT64
) -> list[NodeProto]:
    """A list that is an attribute becomes an input; nothing where it is not set."""
    numbers = attribute(node, name, here.version)
    if numbers is None:
        return []
    take_out(node, name)
    assert isinstance(numbers, list)
    return _add_input(node, position, _constant(node, fresh, name, code, numbers))


def _slice_inputs(node: NodeProto, here: Surroundings, fresh: Fresh) -> list[NodeProto]:
    starts = attribute(node, "starts", here.version)
    if attribute(node, "axes", here.version) is None and isinstance(starts, list):
        node.attribute.append(helper.make_attribute("axes", list(range(len(starts))), attr_type=7))
    pairs = enumerate(("starts", "ends", "axes"), start=1)
    return [made for position, name in pairs for made in _list_input(node, here, fresh, name, position)]


def _topk_input(node: NodeProto, here: Surroundings, fresh: Fresh) -> list[NodeProto]:
    count = attribute(node, "k", here.version)
    assert isinstance(count, int)
    take_out(node, "k")
    return _add_input(node, 1, _constant(node, fresh, "k", TensorProto.INT64, [count]))


def _pad_inputs(node: NodeProto, here: Surroundings, fresh: Fresh) -> list[NodeProto]:
    value, mode = (attribute(node, name, here.version) for name in ("value", "mode"))
    take_out(node, "value")
    made = _list_input(node, here, fresh, "pads", 1)
    assert isinstance(value, float)
    if mode != b"constant" or (value == 0 and math.copysign(1, value) > 0):
        return made
    element_type = here.element_type(node.input[0])
    stored = attribute_bits(value, element_type) if element_type else None
    if element_type is None or stored is None:
        raise NotRewritableError(f"its value {value:.9g} is not known to be a {element_type or 'number'}")
    tensor = scalar_tensor(fresh(f"{node.output[0]}_value"), element_type, stored)
    constant = helper.make_node("Constant", [], [tensor.name], name=tensor.name, value=tensor)
    return made + _add_input(node, 2, constant)


def _dropped(node: NodeProto, _: Surroundings, __: Fresh, name: str) -> list[NodeProto]:
    take_out(node, name)
    return []


def _renamed(node: NodeProto, _: Surroundings, __: Fresh, operator: str) -> list[NodeProto]:
    node.op_type = operator
    return []


def _resize_asymmetric(node: NodeProto, _: Surroundings, fresh: Fresh) -> list[NodeProto]:
    modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    node.attribute.extend(helper.make_attribute(name, mode) for name, mode in modes.items())
    scales = node.input[1]
    node.input.append(scales)
    return _add_input(node, 1, _constant(node, fresh, "roi", TensorProto.FLOAT, []))


def _last_axis(node: NodeProto, _: Surroundings, __: Fresh) -> list[NodeProto]:
    take_out(node, "axis")
    node.attribute.append(helper.make_attribute("axis", -1))
    return []


REWRITES: dict[str, Callable[[NodeProto, Surroundings, Fresh], list[NodeProto]]] = {
    "axes_input": partial(_list_input, name="axes", position=1),
    "split_input": partial(_list_input, name="split", position=1),
    "upsample_input": partial(_list_input, name="scales", position=1, code=TensorProto.FLOAT),
    "slice_inputs": _slice_inputs,
    "topk_input": _topk_input,
    "pad_inputs": _pad_inputs,
    "drop_ratio": partial(_dropped, name="ratio"),
    "drop_spatial": partial(_dropped, name="spatial"),
    "upsample_resize": partial(_renamed, operator="Resize"),
    "scatter_elements": partial(_renamed, operator="ScatterElements"),
    "resize_asymmetric": _resize_asymmetric,
    "last_axis": _last_axis,
}
# These read `Surroundings.known`, which takes shape inference to find out.
NEEDS_INFERENCE = frozenset({"pad_inputs"})
