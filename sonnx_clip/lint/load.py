"""Read an ONNX model from a file that may be anything. External data is located and never loaded."""

from __future__ import annotations

import stat
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, numpy_helper

from sonnx_clip.lint.tensors import quoted, show_dims, shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx import NodeProto

# Protobuf cannot serialize, and its readers refuse, a message of 2 GiB or more.
MAX_BYTES = 2**31 - 1
_BLOCK = 1 << 20
_DIGITS = 19  # no file has a number of bytes with more
# The types of attributes that hold neither a graph nor a tensor.
_SIMPLE = frozenset(
    AttributeProto.AttributeType.Value(name)
    for name in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS", "TYPE_PROTO", "TYPE_PROTOS")
)
_AGAIN = "give a complete binary .onnx file; export or copy the model again"


def read_model(path: Path, *, most: int = MAX_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        UserError: the path is missing, not a regular file, unreadable, empty or too large.
    """
    where = shown(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise UserError(f"this is {kind}", where=where, todo="give the path of an .onnx file")
        if status.st_size > most:
            raise _too_large(status.st_size, where)
        with path.open("rb") as file:
            data = file.read(status.st_size)
            while len(data) <= most and (more := file.read(_BLOCK)):
                data += more  # the file has grown meanwhile
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"cannot read the model: {reason}", where=where, todo="check the path") from error
    if len(data) > most:
        raise _too_large(len(data), where)
    if not data:
        raise UserError("the file is empty", where=where, todo="export or copy the model again")
    return data


def _too_large(size: int, where: str) -> UserError:
    return UserError(
        f"the file has {size} bytes, over the limit of 2 GiB of a protobuf message",
        where=where,
        todo="save the weights as external data (onnx.save with save_as_external_data=True)",
    )


def parse_model(data: bytes, path: Path) -> ModelProto:
    """The model in the content of a file.

    Raises:
        UserError: the bytes are no ONNX model, the model contradicts itself, or its external data lies
            outside its folder.
    """
    where = shown(str(path))
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        what = "not an ONNX model: the protobuf is broken, truncated or nested too deeply"
        raise UserError(what, where=where, todo=_AGAIN) from error
    # Protobuf reads many a foreign file as a message without fields, so the required ones are looked for.
    present = {
        "ir_version": model.ir_version > 0,
        "graph": model.HasField("graph"),
        "opset_import": len(model.opset_import) > 0,
    }
    missing = [name for name, there in present.items() if not there]
    if missing:
        what = f"not an ONNX model, or not all of one: no {', no '.join(missing)}"
        raise UserError(what, where=where, todo=_AGAIN)
    graphs, tensors = list(all_graphs(model.graph)), list(all_tensors(model))
    _check_names(model, graphs, tensors, path)
    for tensor in tensors:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            _check_external(tensor, path)
        else:
            _check_data(tensor, path)
    return model


def _check_names(
    model: ModelProto, graphs: Sequence[GraphProto], tensors: Sequence[TensorProto], path: Path
) -> None:
    """Refuse names that are not valid UTF-8, which protobuf hands over as bytes.

    Raises:
        UserError: saying where the first one is.
    """
    values = [value for graph in graphs for value in (*graph.input, *graph.output, *graph.value_info)]
    heads = [*graphs, *model.functions, *values, *tensors]
    names = [item.name for item in heads] + [
        entry.domain for entry in (*model.opset_import, *model.functions)
    ]
    names += [
        dim.dim_param
        for value in values
        if value.type.WhichOneof("value") == "tensor_type"
        for dim in value.type.tensor_type.shape.dim
    ]
    for function in model.functions:
        names += [*function.input, *function.output, function.overload]
    _check_text(names, path, "the names of graphs, functions and values")
    for body in (*graphs, *model.functions):
        try:  # joined by fields, which is fast; what fails is looked at node by node
            for field in _TEXTS:
                "".join(chain.from_iterable(map(field, body.node)))
        except TypeError:
            for index, node in enumerate(body.node):
                texts = [text for field in _TEXTS for text in field(node)]
                _check_text(texts, path, f"node {index} of {body.name!r}")


def _attribute_names(node: NodeProto) -> list[str]:
    return [text for one in node.attribute for text in (one.name, one.ref_attr_name)]


_TEXTS = (
    attrgetter("input"),
    attrgetter("output"),
    attrgetter("name", "op_type", "domain", "overload"),
    _attribute_names,
)


def _check_text(texts: Iterable[object], path: Path, place: str) -> None:
    bad = next((text for text in texts if not isinstance(text, str)), None)
    if bad is not None:
        what = f"the text {shown(repr(bad))} is not valid UTF-8"
        raise UserError(what, where=f"{shown(str(path))}, {place}", todo=_AGAIN)


def malformed(what: str, path: Path, place: str) -> UserError:
    """The refusal of a model to which ONNX gives no meaning."""
    where = f"{shown(str(path))}, {place}"
    return UserError(what, where=where, todo="correct the model; onnx.checker.check_model says more")


def _check_data(tensor: TensorProto, path: Path) -> None:
    """Refuse stored data that does not fit its dimensions, which onnx's checker does not compare.

    Raises:
        UserError: naming the tensor.
    """
    if tensor.data_type in (TensorProto.STRING, TensorProto.UNDEFINED) or tensor.HasField("segment"):
        return
    problem = "a dimension is below zero" if any(dim < 0 for dim in tensor.dims) else None
    try:
        numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        problem = shown(str(error))
    if problem:
        what = f"its dimensions {show_dims(tuple(tensor.dims))} do not fit its data: {problem}"
        raise malformed(what, path, f"tensor {quoted(tensor.name)}")


# --- Everything that a model stores -------------------------------------------------------------------------


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs that a node carries, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.type in _SIMPLE:
            continue
        if attribute.type == AttributeProto.GRAPH or attribute.HasField("g"):
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes and, after each, those of its subgraphs at any depth."""
    for node in nodes:
        yield node
        if node.attribute:
            for _, graph in subgraphs(node):
                yield from all_nodes(graph.node)


def all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """A graph and those within it at any depth."""
    yield graph
    for node in graph.node:
        if node.attribute:
            for _, inner in subgraphs(node):
                yield from all_graphs(inner)


def all_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Every stored tensor: initializers, attributes, both parts of sparse tensors, at any depth."""
    graphs = [model.graph]
    for training in model.training_info:
        graphs += [training.initialization, training.algorithm]
    for graph in (inner for outer in graphs for inner in all_graphs(outer)):
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield from (sparse.values, sparse.indices)
        yield from _in_attributes(one for node in graph.node for one in node.attribute)
    for function in model.functions:
        yield from _in_attributes(function.attribute_proto)
        yield from _in_attributes(one for node in all_nodes(function.node) for one in node.attribute)


def _in_attributes(attributes: Iterable[AttributeProto]) -> Iterator[TensorProto]:
    for attribute in attributes:
        if attribute.type in _SIMPLE:
            continue
        yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)
        sparse_one = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
        for sparse in (*sparse_one, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)


def external_files(model: ModelProto) -> list[str]:
    """The locations of a model's external data, relative to its folder."""
    entries = [entry for tensor in all_tensors(model) for entry in tensor.external_data]
    return list(dict.fromkeys(entry.value for entry in entries if entry.key == "location"))


# --- External data ------------------------------------------------------------------------------------------


def _check_external(tensor: TensorProto, path: Path) -> None:
    """Refuse data outside the model's folder or its own file. No data file is opened."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    where = f"{shown(str(path))}, tensor {quoted(tensor.name)}"
    if not location:
        what = "its data is external, but no location is given"
        raise UserError(what, where=where, todo="save the model again with its weights")
    reason = _outside(location, path.parent)
    if reason:
        raise UserError(
            f"its external data {quoted(location)} {reason}",
            where=where,
            todo="keep the data file in the model's folder and give its path relative to the model",
        )
    problem = _range_problem(entries, path.parent / location)
    if problem:
        what = f"its external data {quoted(location)}: {problem}"
        raise UserError(what, where=where, todo="save the model again with its weights")


def _range_problem(entries: Mapping[str, str], file: Path) -> str | None:
    """What is wrong with the offset and the length that a model gives."""
    numbers = {}
    for name in ("offset", "length"):
        text = entries.get(name, "0")
        if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
            return f"the {name} is {quoted(text)}, which is no number of bytes"
        numbers[name] = int(text)
    try:
        size = file.stat().st_size
    except (OSError, ValueError):
        return None  # lint needs no weights; what needs them reports that they are missing
    end = sum(numbers.values())
    return f"it ends at byte {end}, and the file has {size}" if end > size else None


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
        with suppress(FileNotFoundError, NotADirectoryError):  # reported elsewhere
            (base / location).stat()  # a circle of links, which `resolve` passes over from Python 3.13 on
    except (OSError, ValueError, RuntimeError) as error:
        return f"is no usable path ({shown(str(error))})"
    return None if inside else "leads out of the model's folder through a link"
