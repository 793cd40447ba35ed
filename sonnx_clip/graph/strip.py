"""Models made ready for shape inference: without bulky data, without declarations to be believed."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from onnx import GraphProto, defs

from sonnx_clip.graph.clip_nodes import inner_graphs
from sonnx_clip.graph.functions import key
from sonnx_clip.graph.graph_names import is_default_domain
from sonnx_clip.graph.listing import Listings
from sonnx_clip.graph.skim import KEPT_BYTES
from sonnx_clip.graph.stored_tensors import DATA_FIELDS, all_tensors

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, ValueInfoProto

    from sonnx_clip.graph.functions import Key


def drop_bulky_data(model: ModelProto, listings: Listings | None = None) -> None:
    """Take the content of large tensors out of a model; their types and dimensions stay."""
    for tensor in all_tensors(model, listings):
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
    stripped = deepcopy(model)
    kept = [tensor for tensor in stripped.graph.initializer if tensor.name not in given]
    del stripped.graph.initializer[:]
    stripped.graph.initializer.extend(kept)
    return stripped


def without_claims(model: ModelProto, listings: Listings | None = None) -> bytes:
    """The model without declared types and shapes of values that nodes compute, and without callers' values.

    Inputs of the main graph and stored tensors keep theirs, and so do the outputs of operators that onnx does
    not know: nothing else says what these give.

    The claims are taken out of the model and put back: to copy its nodes would take longer.

    Args:
        model: the same afterwards.
        listings: of its nodes, where somebody keeps them.

    Returns:
        It as protobuf.
    """
    model = without_callers_values(model)
    listings = listings or Listings()
    known = {key(function) for function in model.functions}
    inner = list(inner_graphs(model.graph.node, listings))
    holders: list[GraphProto | FunctionProto] = [
        model.graph,
        *(graph for _, graph in inner),
        *model.functions,
    ]
    kept = [_declarations(holder) for holder in holders]
    try:
        _strip(model.graph, known, listings)
        for node, graph in inner:
            _strip(graph, known, listings)
            for value in graph.input if _known(key(node), known) else ():
                value.ClearField("type")
        for function in model.functions:
            function.ClearField("value_info")
        written: bytes = model.SerializeToString()
    finally:
        for holder, values in zip(holders, kept, strict=True):
            for field, declared in values.items():
                holder.ClearField(field)
                getattr(holder, field).extend(declared)
    return written


def _declarations(holder: GraphProto | FunctionProto) -> dict[str, list[ValueInfoProto]]:
    """What a graph or function declares of its values, by field."""
    fields = ("value_info", "input", "output") if isinstance(holder, GraphProto) else ("value_info",)
    return {field: deepcopy(list(getattr(holder, field))) for field in fields}


def _known(kind: Key, functions: set[Key]) -> bool:
    domain, operator, _ = kind
    return kind in functions or defs.has(operator, domain)


def _strip(graph: GraphProto, functions: set[Key], listings: Listings) -> None:
    listing = listings.of(graph.node)
    strange = {
        (domain, operator, overload)
        for domain, operator, overload in set(listing.kinds)
        if not _known(("" if is_default_domain(domain) else domain, operator, overload), functions)
    }
    foreign: set[str] = set()
    if strange:
        for kind, results in zip(listing.kinds, listing.outputs, strict=True):
            if kind in strange:
                foreign.update(results)
    kept = [value for value in graph.value_info if value.name in foreign]
    graph.ClearField("value_info")
    graph.value_info.extend(kept)
    given = {value.name for value in graph.input} | foreign
    for value in graph.output:
        if value.name not in given:
            value.ClearField("type")
