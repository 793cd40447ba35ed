"""ONNX models of one node, built from the text of `model_forms`: of Clip in any form, or of another node."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
from onnx import helper, numpy_helper

from sonnx_clip.runtimes.model_forms import ATTRIBUTES, model_text, node_text, text_of_form
from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.operator_node import OperatorNode
    from sonnx_clip.runtimes.runtime import ClipFunction, OpenModel


def one_node_model(etype: str, node: OperatorNode = CLIP_NODE) -> onnx.ModelProto:
    """The model of a node whose operands are inputs, so that one session serves all calls of a type."""
    return onnx.parser.parse_model(model_text(etype) if node is CLIP_NODE else node_text(etype, node))


def function_of_model(open_model: OpenModel, etype: str, node: OperatorNode = CLIP_NODE) -> ClipFunction:
    """A function of the operands of a node, by a model of it alone."""
    run = open_model(one_node_model(etype, node).SerializeToString())
    return lambda *operands: run(dict(zip(node.operands, operands, strict=True)))


def parse_call(etype: str) -> str:
    """The Python text that makes the model of Clip; without single quotes, for the sake of shells."""
    return f"onnx.parser.parse_model({json.dumps(model_text(etype))})"


def model_of_form(
    etype: str, form: ModelForm, shape: Sequence[int], bounds: Sequence[Any]
) -> onnx.ModelProto:
    """The model of a form for X of a shape; `statements` of model_forms.py says the same in Python text.

    The bounds, min and max of shape (), are part of it where they are constants.
    """
    model = onnx.parser.parse_model(text_of_form(etype, form, shape))
    for name, bound in zip(CLIP_NODE.operands[1:], bounds, strict=True):
        if name not in form.bound_names:
            continue
        if form.bounds == "initializers":
            model.graph.initializer.append(numpy_helper.from_array(bound, name))
        if form.bounds == "Constant nodes":
            node = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(bound))
            model.graph.node.insert(0, node)
        if form.bounds == "attributes":
            model.graph.node[0].attribute.append(helper.make_attribute(ATTRIBUTES[name], float(bound)))
    return model
