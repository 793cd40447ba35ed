"""Models of one Clip node in ONNX's textual syntax, and the Python text that makes one of a form.

Nothing here needs onnx: the checker writes reproducers where the runtime may not be installed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.conform.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.model_forms.axes import ModelForm
    from sonnx_clip.conform.operator_node import OperatorNode

# Opset 13 is the version on which the SONNX page is based. X has any rank, the bounds rank 0.
OPSET = 13
_NODE_OPSET = 14  # of other operators: the first in which Relu takes integers
ONNX_NAMES = {"float32": "float", "float64": "double"}
_DIMENSIONS = "ABCD"

_CONSTANTS = {
    "inputs": "",
    "initializers": "p.graph.initializer.extend([onnx.numpy_helper.from_array(v, n) for n, v in c])",
    "Constant nodes": (
        '[p.graph.node.insert(0, onnx.helper.make_node("Constant", [], [n],'
        " value=onnx.numpy_helper.from_array(v))) for n, v in c]"
    ),
}


def model_text(etype: str, opset: int = OPSET, shape: str = "[]", *, bounds_are_inputs: bool = True) -> str:
    """The model as text; bounds that are no inputs are yet to be added.

    Args:
        etype: the id of an element type.
        opset: the operator set.
        shape: of X: ``[2, 3]``, ``[A, B]``, empty at rank 0, and ``[]`` for one that is not declared.
        bounds_are_inputs: whether min and max are.
    """
    t = ONNX_NAMES.get(etype, etype)
    first, *bounds = CLIP_NODE.operands
    inputs = [f"{t}{shape} {first}", *(f"{t} {name}" for name in bounds if bounds_are_inputs)]
    return graph_text(opset, ", ".join(inputs), f"{t}{shape} y", _node(CLIP_NODE))


def node_text(etype: str, node: OperatorNode) -> str:
    """The model of a node whose operands have any shape."""
    t = ONNX_NAMES.get(etype, etype)
    inputs = ", ".join(f"{t}[] {name}" for name in node.operands)
    return graph_text(_NODE_OPSET, inputs, f"{t}[] y", _node(node))


def _node(node: OperatorNode) -> str:
    return f"y = {node.op_type}({node.call})"


def graph_text(opset: int, inputs: str, output: str, nodes: str) -> str:
    """A model as text, of the text of its inputs, its output and its nodes."""
    head = f'<ir_version: 8, opset_import: ["": {opset}]>'
    return f"{head} g ({inputs}) => ({output}) {{ {nodes} }}"


def text_of_form(etype: str, form: ModelForm, shape: Sequence[int]) -> str:
    """The text of a form, as by `model_text`, for X of a shape."""
    dimensions = list(_DIMENSIONS[: len(shape)]) if form.shape == "symbolic" else list(map(str, shape))
    declared = f"[{', '.join(dimensions)}]" if dimensions else ""
    if form.shape == "no rank":
        declared = "[]"
    return model_text(etype, form.opset, declared, bounds_are_inputs=form.bounds == "inputs")


def statements(etype: str, form: ModelForm, shape: Sequence[int]) -> list[str]:
    """Python statements that make the model ``p`` and its inputs ``d`` of the operands.

    Without single quotes, for the sake of shells.
    """
    constant = form.bounds != "inputs"
    made = f"p = onnx.parser.parse_model({json.dumps(text_of_form(etype, form, shape))})"
    first, *bounds = CLIP_NODE.operands
    named = ", ".join(f'("{name}", {name})' for name in bounds)
    given = [f"c = [{named}]", _CONSTANTS[form.bounds]] if constant else []
    given_alone = replace(CLIP_NODE, operands=(first,)) if constant else CLIP_NODE
    return [made, *given, f"d = {given_alone.inputs}"]
