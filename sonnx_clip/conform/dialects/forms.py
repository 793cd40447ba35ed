"""The ways in which a model can give bounds to Clip, and a model of one Clip node for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import onnx
from onnx import helper

from sonnx_clip.conform.dtypes import numpy_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

Way: TypeAlias = Literal["both", "no min", "no max", "none"]
WAYS: tuple[Way, ...] = ("both", "no min", "no max", "none")

_IR_VERSION = 8  # known to every runtime: what is refused is the operator set, not the file


@dataclass(frozen=True)
class BoundsForm:
    """How bounds are given.

    Args:
        id: its name in reports.
        way: which bounds there are.
        inputs: the inputs of the node after X; an empty name is a missing one.
        attributes: the attributes of the node.
    """

    id: str
    way: Way
    inputs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The bounds that there are, by name."""
        return tuple(name for name in (*self.inputs, *self.attributes) if name)


_AS_ATTRIBUTES = (
    BoundsForm("both", "both", attributes=("min", "max")),
    BoundsForm("no min", "no min", attributes=("max",)),
    BoundsForm("no max", "no max", attributes=("min",)),
    BoundsForm("none", "none"),
)
_AS_INPUTS = (
    BoundsForm("both", "both", ("min", "max")),
    BoundsForm("no min", "no min", ("", "max")),
    BoundsForm("no max", "no max", ("min",)),
    BoundsForm("no max, empty name", "no max", ("min", "")),
    BoundsForm("none", "none"),
    BoundsForm("none, empty names", "none", ("", "")),
)


def forms_of(bounds: str) -> tuple[BoundsForm, ...]:
    """The forms of a dialect whose bounds are ``attributes`` or ``inputs``."""
    return _AS_ATTRIBUTES if bounds == "attributes" else _AS_INPUTS


def newest_opset() -> int:
    """The newest operator set that the installed onnx knows."""
    return int(onnx.defs.onnx_opset_version())


def clip_version(opset: int) -> int:
    """The version of Clip that an operator set means; UserError if onnx does not know the set."""
    if not 1 <= opset <= newest_opset():
        raise UserError(
            f"there is no operator set {opset}",
            todo=f"choose one from 1 to {newest_opset()}, the newest that onnx {onnx.__version__} knows",
        )
    return int(onnx.defs.get_schema("Clip", opset, "").since_version)


def clip_model(opset: int, etype: str, form: BoundsForm, attributes: Mapping[str, float]) -> bytes:
    """A serialised model of one Clip node: X of one dimension, bounds that are inputs of none.

    Args:
        opset: the operator set.
        etype: the id of the element type.
        form: how bounds are given.
        attributes: the values of the form's attributes.
    """
    of = helper.np_dtype_to_tensor_dtype(numpy_type(etype))
    inputs = [helper.make_tensor_value_info("x", of, [None])]
    inputs += [helper.make_tensor_value_info(name, of, []) for name in form.inputs if name]
    node = helper.make_node("Clip", ["x", *form.inputs], ["y"])
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    graph = helper.make_graph([node], "clip", inputs, [helper.make_tensor_value_info("y", of, [None])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_IR_VERSION)
    return bytes(model.SerializeToString())
