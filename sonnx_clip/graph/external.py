"""External data: where a model says that its weights lie."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

from sonnx_clip.errors import UserError
from sonnx_clip.graph.declared import quoted, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def check_external_data(model: ModelProto, path: Path) -> None:
    """Refuse a model whose weights lie outside its own folder. No data file is opened.

    Raises:
        UserError: a location is missing, absolute, climbs with ``..`` or leads out through a link.
    """
    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            _check(tensor, path)


def _check(tensor: TensorProto, path: Path) -> None:
    location = {entry.key: entry.value for entry in tensor.external_data}.get("location", "")
    where = f"{shown(str(path))}, tensor {quoted(tensor.name)}"
    if not location:
        raise UserError(
            "its data is external, but no location is given",
            where=where,
            todo="save the model again with its weights",
        )
    reason = _outside(location, path.parent)
    if reason:
        raise UserError(
            f"its external data {quoted(location)} {reason}",
            where=where,
            todo="keep the data file in the model's folder and give its path relative to the model",
        )


def _outside(location: str, folder: Path) -> str | None:
    windows = PureWindowsPath(location)
    if PurePosixPath(location).is_absolute() or windows.drive or windows.root:
        return "is an absolute path"
    # Windows reads both separators, so a location is judged as both systems would read it.
    if ".." in windows.parts:
        return "climbs with '..'"
    try:
        base = folder.resolve()
        inside = (base / location).resolve().is_relative_to(base)
    except (OSError, ValueError, RuntimeError) as error:
        return f"is no usable path ({shown(str(error))})"
    return None if inside else "leads out of the model's folder through a link"


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
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
        yield from _in_attributes(node.attribute)


def _in_attributes(attributes: Iterable[AttributeProto]) -> Iterator[TensorProto]:
    for attribute in attributes:
        yield from (attribute.t, *attribute.tensors)
        for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _in_graph(graph)
