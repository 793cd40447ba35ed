"""Clip in disguise: other operators that limit values as Clip does; lint does not judge them.

Optimisers and exporters write them. They are reported as notes: a model without a Clip node may still clip.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx import GraphProto

from sonnx_clip.lint.model_file import bodies
from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.safe_text import quoted
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import FunctionProto, ModelProto, NodeProto

_RECURRENT = ("RNN", "GRU", "LSTM")
_QUANTISED = ("QuantizeLinear", "DequantizeLinear")
_LIMITING = ("Min", "Max", "Relu")
"""What bounds from one side: Min from above, the others from below."""


def disguise_notes(model: ModelProto, kinds: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """A note for each kind of Clip in disguise, and for a quantised model, whose Clips may be gone.

    Args:
        model: the model.
        kinds: how many nodes it has of each operator and domain.
    """
    disguises: Counter[str] = Counter()
    for body in bodies(model.graph, *model.functions):  # a pair lies in one body
        disguises.update(_fused(body))
        disguises.update(_pairs(body))
    for kind, count in disguises.items():
        times = f" ({count} times)" if count > 1 else ""
        yield f"{kind}{times}: it limits values as Clip does and was not judged"
    # In any domain: onnxruntime has quantised operators of its own.
    quantised = 0
    for (operator, _), count in kinds.items():
        if operator in _QUANTISED or operator.startswith("QLinear"):
            quantised += count
    if quantised:
        yield (
            f"the model is quantised ({counted(quantised, 'such node')}): quantisers remove a Clip"
            " whose bounds the range of the quantised type implies, and what is not in the model was"
            " not judged"
        )


def _fused(body: GraphProto | FunctionProto) -> Iterator[str]:
    """Nodes with an attribute that clips: of ONNX's operators only the recurrent ones have such."""
    for node in body.node:
        is_foreign = not is_default_domain(node.domain)
        if not is_foreign and node.op_type not in _RECURRENT:
            continue
        for attribute in node.attribute:
            if is_foreign and attribute.name == "activation" and attribute.s == b"Clip":
                yield f"{_operator(node)} with the activation Clip"
            if not is_foreign and attribute.name == "clip":
                yield f"{node.op_type} with the attribute clip = {attribute.f:g}"


def _pairs(body: GraphProto | FunctionProto) -> Iterator[str]:
    """One bound under the other: Min over Max or Relu, Max or Relu over Min, each with constants."""
    limiting = []
    for node in body.node:
        if node.op_type in _LIMITING and is_default_domain(node.domain):
            limiting.append(node)
    # What follows looks at every node and stored tensor, and most models leave here.
    if len({node.op_type for node in limiting}) < 2:
        return
    constants = _constants(body)
    bounding = [node for node in limiting if _limits(node, constants)]
    maker_of: dict[str, NodeProto] = {}
    for node in bounding:
        maker_of |= dict.fromkeys(node.output, node)
    for outer in bounding:
        for name in outer.input:
            inner = maker_of.get(name)
            if inner is None:
                continue
            # Two bounds on the same side, as Max over Relu, leave the other side open.
            outer_is_above = outer.op_type == "Min"
            inner_is_above = inner.op_type == "Min"
            if outer_is_above != inner_is_above:
                yield f"{outer.op_type} over {inner.op_type}"


def _constants(body: GraphProto | FunctionProto) -> set[str]:
    """The names of constants: what Constant nodes and a graph store."""
    names: set[str] = set()
    for node in body.node:
        if node.op_type == "Constant":
            names.update(node.output)
    if isinstance(body, GraphProto):
        names.update(tensor.name for tensor in body.initializer)
    return names


def _limits(node: NodeProto, constants: set[str]) -> bool:
    """Whether a node bounds a value by a constant, on one side."""
    if node.op_type == "Relu":
        return True  # by zero
    return any(name in constants for name in node.input)


def _operator(node: NodeProto) -> str:
    domain = "" if is_default_domain(node.domain) else f" of {quoted(node.domain)}"
    return f"{node.op_type}{domain}"
