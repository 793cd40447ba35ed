"""Clip in disguise: other operators that limit values as Clip does; lint does not judge them.

Optimisers and exporters write them. They are reported as notes: a model without a Clip node may still clip.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx import AttributeProto, GraphProto, helper

from sonnx_clip.lint.model_file import bodies
from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.tensors import quoted
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import FunctionProto, ModelProto, NodeProto

_RECURRENT = ("RNN", "GRU", "LSTM")
_QUANTISED = ("QuantizeLinear", "DequantizeLinear")
_LOWER = ("Max", "Relu")
"""What bounds from below; Min bounds from above."""


def disguise_notes(model: ModelProto) -> Iterator[str]:
    """A note for each kind of Clip in disguise, and for a quantised model, whose Clips may be gone."""
    found: Counter[str] = Counter()
    for body in bodies(model.graph, *model.functions):
        found.update(_fused(body))
        found.update(_pairs(body))
    for kind, count in found.items():
        times = f" ({count} times)" if count > 1 else ""
        yield f"{kind}{times}: it limits values as Clip does and was not judged"
    quantised = sum(
        node.op_type in _QUANTISED or node.op_type.startswith("QLinear")
        for body in bodies(model.graph, *model.functions)
        for node in body.node
    )
    if quantised:
        yield (
            f"the model is quantised ({counted(quantised, 'such node')}): quantisers remove a Clip"
            " whose bounds the range of the quantised type implies, and what is not in the model was"
            " not judged"
        )


def _fused(body: GraphProto | FunctionProto) -> Iterator[str]:
    """Nodes with an attribute that clips."""
    for node in body.node:
        for attribute in node.attribute:
            if attribute.name == "activation" and attribute.s == b"Clip":
                yield f"{_operator(node)} with the activation Clip"
            recurrent = node.op_type in _RECURRENT and is_default_domain(node.domain)
            if recurrent and attribute.name == "clip" and attribute.type == AttributeProto.FLOAT:
                number = helper.get_attribute_value(attribute)
                yield f"{node.op_type} with the attribute clip = {number:g}"


def _pairs(body: GraphProto | FunctionProto) -> Iterator[str]:
    """One bound under the other: Min over Max or Relu, Max or Relu over Min, each with constants."""
    nodes = [node for node in body.node if is_default_domain(node.domain)]
    constant = {name for node in nodes if node.op_type == "Constant" for name in node.output}
    if isinstance(body, GraphProto):
        constant |= {tensor.name for tensor in body.initializer}
    maker = {name: node for node in nodes for name in node.output}
    for outer in nodes:
        for name in outer.input:
            inner = maker.get(name)
            if inner is None or not _limits(outer, constant) or not _limits(inner, constant):
                continue
            if (outer.op_type == "Min") != (inner.op_type == "Min"):
                yield f"{outer.op_type} over {inner.op_type}"


def _limits(node: NodeProto, constant: set[str]) -> bool:
    """Whether a node bounds a value by a constant, on one side."""
    if node.op_type == "Relu":
        return True
    return node.op_type in ("Min", *_LOWER) and any(name in constant for name in node.input)


def _operator(node: NodeProto) -> str:
    domain = "" if is_default_domain(node.domain) else f" of {quoted(node.domain)}"
    return f"{node.op_type}{domain}"
