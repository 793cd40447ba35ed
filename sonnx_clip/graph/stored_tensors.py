"""Every tensor that a model stores, and the size of what inference needs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.graph.graph_names import Listings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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

# What is not larger than this is kept for inference: shapes, axes and sizes, which it reads.
KEPT_BYTES = 16_384


def all_tensors(model: ModelProto, listings: Listings | None = None) -> Iterator[TensorProto]:
    """Every stored tensor: initializers, attributes, both parts of sparse tensors, at any depth."""
    listings = listings or Listings()
    yield from _in_graph(model.graph, listings)
    for function in model.functions:
        yield from _in_attributes(function.attribute_proto, listings)
        yield from _in_nodes(function.node, listings)
    for training in model.training_info:
        yield from _in_graph(training.initialization, listings)
        yield from _in_graph(training.algorithm, listings)


def _in_graph(graph: GraphProto, listings: Listings) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _in_nodes(graph.node, listings)


def _in_nodes(nodes: Sequence[NodeProto], listings: Listings) -> Iterator[TensorProto]:
    for node in listings.of(nodes).carriers.values():
        yield from _in_attributes(node.attribute, listings)


def _in_attributes(attributes: Iterable[AttributeProto], listings: Listings) -> Iterator[TensorProto]:
    for attribute in attributes:
        yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)
        sparse_one = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
        for sparse in (*sparse_one, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _in_graph(graph, listings)
