"""The ONNX models for these runs: one node Clip of any operator set, or what its page puts for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from sonnx_clip.root.dtypes import bits_type, numpy_type

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

    from sonnx_clip.explain.questions import Question

ENTRIES = 33
"""Entries of X, all the same: runtimes may take the last ones apart from those that fill a vector."""
_IR = 8  # the newest that every operator set asked here, and every runtime, knows
_ELEMENTS = {
    "float32": onnx.TensorProto.FLOAT,
    "float64": onnx.TensorProto.DOUBLE,
}


def value_of(bits: str, type_id: str) -> Any:
    """An array of shape () with these bits."""
    return np.array(int(bits, 16), bits_type(type_id)).view(numpy_type(type_id))


def feeds(question: Question) -> dict[str, Any]:
    """X and the bounds that are inputs, by the name of the input."""
    found = {"x": np.full(ENTRIES, value_of(question.x, question.type))}
    if not question.has_attributes:
        given = {"min": question.min, "max": question.max}
        found |= {name: value_of(bits, question.type) for name, bits in given.items() if bits is not None}
    return found


def model_of(question: Question) -> ModelProto:
    """The model whose only output is the answer."""
    element = _ELEMENTS.get(question.type)
    if element is None:
        element = onnx.TensorProto.DataType.Value(question.type.upper())
    names = list(feeds(question))
    if question.is_body:
        nodes = _body()
    elif question.is_equation:
        nodes = _equation()
    else:
        nodes = [_node(question, names)]
    graph = helper.make_graph(
        nodes,
        "question",
        [helper.make_tensor_value_info(n, element, [ENTRIES] if n == "x" else []) for n in names],
        [helper.make_tensor_value_info("y", element, [ENTRIES])],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", question.operator_set)], ir_version=_IR
    )


def _node(question: Question, names: list[str]) -> NodeProto:
    if question.has_attributes:
        given = {"min": question.min, "max": question.max}
        node = helper.make_node("Clip", ["x"], ["y"])
        for name, bits in given.items():
            if bits is not None:
                node.attribute.append(helper.make_attribute(name, float(value_of(bits, "float32"))))
        return node
    inputs = [name if name in names else "" for name in ("x", "min", "max")]
    while not inputs[-1]:
        inputs.pop()
    return helper.make_node("Clip", inputs, ["y"])


def _body() -> list[NodeProto]:
    """The function body of Clip-13 with both bounds, as spec/sources/onnx-clip-body.txt has it."""
    return [
        helper.make_node("Less", ["x", "min"], ["input_less_than_min"]),
        helper.make_node("Where", ["input_less_than_min", "min", "x"], ["tmp"]),
        helper.make_node("Less", ["max", "tmp"], ["output_large_than_max"]),
        helper.make_node("Where", ["output_large_than_max", "max", "tmp"], ["y"]),
    ]


def _equation() -> list[NodeProto]:
    """What the page of Clip-13 says that it is equivalent to, with both bounds."""
    return [
        helper.make_node("Max", ["x", "min"], ["greater"]),
        helper.make_node("Min", ["max", "greater"], ["y"]),
    ]
