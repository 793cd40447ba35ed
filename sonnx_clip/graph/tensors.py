"""Every tensor that a model stores, wherever it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

# The fields in which a TensorProto keeps its content inline.
DATA_FIELDS = (
    "raw_data",
    "float_data",
    "int32_data",
    "string_data",
    "int64_data",
    "double_data",
    "uint64_data",
)


def all_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Every stored tensor: initializers, attributes, both parts of sparse tensors, at any depth."""
    yield from _in_graph(model.graph)
    for function in model.functions:
        yield from _in_attributes(function.attribute_proto)
        yield from _in_nodes(function.node)
    for training in model.training_info:
        yield from _in_graph(training.initialization)
        yield from _in_graph(training.algorithm)


def _in_graph(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _in_nodes(graph.node)


def _in_nodes(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        if node.attribute:
            yield from _in_attributes(node.attribute)


def _in_attributes(attributes: Iterable[AttributeProto]) -> Iterator[TensorProto]:
    for attribute in attributes:
        yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)
        sparse_one = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
        for sparse in (*sparse_one, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _in_graph(graph)
