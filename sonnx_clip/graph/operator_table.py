"""The table of operators, what each of them means in its next version (operator_steps.toml): its rows, when
one holds, and how nodes are rewritten.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TensorProto, helper, numpy_helper

from sonnx_clip.graph.edit import attribute_bits, scalar_tensor
from sonnx_clip.graph.schemas import default_of, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.graph.declared_tensors import Dims, TensorInfo

    Fresh = Callable[[str], str]


TABLE = Path(__file__).with_name("operator_steps.toml")
TYPES_ADDED = "types added"


@dataclass(frozen=True)
class OperatorStep:
    """One row: an operator from one of its versions to the next.

    Attributes:
        operator: its name in the old version.
        old: the version of the operator before.
        new: the one after.
        words: words of both versions, from their schemas.
        differs: what of the two schemas differs.
        why: why the meaning is the same.
        condition: when the row holds, for people; None where always.
        check: the function that decides the condition.
        rewritten: what is changed in the node, for people; None where nothing.
        by: the function that changes it.
        becomes: the name of the operator in the new version.
        unrun: why no runtime can compare the two versions; None where one does.
    """

    operator: str
    old: int
    new: int
    words: tuple[str, str]
    differs: tuple[str, ...]
    why: str
    condition: str | None = None
    check: str | None = None
    rewritten: str | None = None
    by: str | None = None
    becomes: str = ""
    unrun: str | None = None

    @property
    def title(self) -> str:
        """For people: ``Conv-1 to Conv-11``."""
        return f"{self.operator}-{self.old} to {self.becomes}-{self.new}"

    @property
    def kind(self) -> str:
        """identical, identical if, rewritten, or rewritten if."""
        return f"{'rewritten' if self.rewritten else 'identical'}{' if' if self.condition else ''}"


@cache
def operator_steps() -> dict[tuple[str, int], OperatorStep]:
    """All rows, by the name and the old version of the operator."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    rows = [_types_added(title, words) for title, words in table["types_added"].items()]
    rows += [_row(entry) for entry in table["step"]]
    found = {(row.operator, row.old): row for row in rows}
    assert len(found) == len(rows)
    return found


def _types_added(title: str, words: str) -> OperatorStep:
    operator, _, versions = title.partition(" ")
    old, new = map(int, versions.split("-"))
    why = "element types are added, and no word is changed"
    return OperatorStep(operator, old, new, (words, words), (TYPES_ADDED,), why, becomes=operator)


def _row(entry: dict[str, Any]) -> OperatorStep:
    both = entry.get("both")
    return OperatorStep(
        operator=entry["operator"],
        old=entry["versions"][0],
        new=entry["versions"][1],
        words=(both, both) if both else (entry["old"], entry["new"]),
        differs=tuple(entry["differs"]),
        why=entry["why"],
        condition=entry.get("if"),
        check=entry.get("check"),
        rewritten=entry.get("rewritten"),
        by=entry.get("by"),
        becomes=entry.get("becomes", entry["operator"]),
        unrun=entry.get("unrun"),
    )


def steps_between(operator: str, old: int, new: int) -> list[OperatorStep] | str:
    """The rows from one operator set to another; empty where the operator is the same in both.

    Returns:
        The rows in order, or the reason why there is none for a step.
    """
    rows: list[OperatorStep] = []
    version = version_of(operator, old)
    if version is None:
        return f"ai.onnx {old} has no operator {operator}"
    while True:
        wanted = version_of(operator, new)
        if wanted is None:
            return f"ai.onnx {new} has no operator {operator}"
        if version >= wanted:
            return rows
        row = operator_steps().get((operator, version))
        if row is None or row.new > new:
            return f"the table of operators has no row for {operator}-{version} to a later version"
        rows.append(row)
        operator, version = row.becomes, row.new


# ------------------------------------------------------------------------------------------------------------
# When a row of the table of operators holds: conditions on one node, by the names that the table gives


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


def _is_last_axis(node: NodeProto, here: Surroundings) -> bool:
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
    "last_axis": _is_last_axis,
}

# These read `Surroundings.known`, which takes shape inference to find out.
CHECKS_THAT_INFER = frozenset({"scalar_scale", "float_input", "last_axis"})


# ------------------------------------------------------------------------------------------------------------
# Nodes rewritten for the next version of their operator, by the names that the table of operators gives
#
# Each function changes a node, whose version is the old one, and returns the Constant nodes that go before
# it.


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


def _of_last_axis(node: NodeProto, _: Surroundings, __: Fresh) -> list[NodeProto]:
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
    "last_axis": _of_last_axis,
}
# These read `Surroundings.known`, which takes shape inference to find out.
REWRITES_THAT_INFER = frozenset({"pad_inputs"})
