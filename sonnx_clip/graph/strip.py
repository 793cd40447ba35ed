"""Models made ready for shape inference: without bulky data, without declarations to be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.graph.functions import key
from sonnx_clip.graph.scope import is_default_domain
from sonnx_clip.graph.skim import KEPT_BYTES
from sonnx_clip.graph.tensors import DATA_FIELDS, all_tensors
from sonnx_clip.graph.walk import all_nodes, subgraphs

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

    from sonnx_clip.graph.functions import Key


def drop_bulky_data(model: ModelProto) -> None:
    """Take the content of large tensors out of a model; their types and dimensions stay."""
    for tensor in all_tensors(model):
        if tensor.ByteSize() > KEPT_BYTES:
            for field in DATA_FIELDS:
                tensor.ClearField(field)


def without_callers_values(model: ModelProto) -> ModelProto:
    """The model without the stored tensors that a caller may override, which are inputs of the graph too.

    What is computed from such a value is the caller's, so nothing may be inferred from it.
    """
    given = {value.name for value in model.graph.input}
    stored = (tensor.name for tensor in model.graph.initializer)
    if given.isdisjoint(stored):
        return model
    stripped = ModelProto()
    stripped.CopyFrom(model)
    kept = [tensor for tensor in stripped.graph.initializer if tensor.name not in given]
    del stripped.graph.initializer[:]
    stripped.graph.initializer.extend(kept)
    return stripped


def without_claims(model: ModelProto) -> ModelProto:
    """The model without declared types and shapes of values that nodes compute, and without callers' values.

    Inputs of the main graph and stored tensors keep theirs, and so do the outputs of operators that onnx does
    not know: nothing else says what these give.
    """
    stripped = ModelProto()
    stripped.CopyFrom(without_callers_values(model))
    known = {key(function) for function in model.functions}
    _strip(stripped.graph, known)
    for node in all_nodes(stripped.graph.node):
        for _, graph in subgraphs(node):
            _strip(graph, known)
            for value in graph.input if _known(node, known) else ():
                value.ClearField("type")
    for function in stripped.functions:
        function.ClearField("value_info")
    return stripped


def _known(node: NodeProto, functions: set[Key]) -> bool:
    domain = "" if is_default_domain(node.domain) else node.domain
    return key(node) in functions or defs.has(node.op_type, domain)


def _strip(graph: GraphProto, functions: set[Key]) -> None:
    kinds: dict[tuple[str, str, str], bool] = {}
    foreign: set[str] = set()
    for node in graph.node:
        kind = (node.domain, node.op_type, node.overload)
        if kind not in kinds:
            kinds[kind] = _known(node, functions)
        if not kinds[kind]:
            foreign.update(node.output)
    kept = [value for value in graph.value_info if value.name in foreign]
    graph.ClearField("value_info")
    graph.value_info.extend(kept)
    given = {value.name for value in graph.input} | foreign
    for value in graph.output:
        if value.name not in given:
            value.ClearField("type")
