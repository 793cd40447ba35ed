"""Load an ONNX model from a file that may be anything. External data is located and never loaded."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, TensorProto, numpy_helper

from sonnx_clip.lint.safe_text import quoted, show_dims, shown
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 2**31 - 1
"""Protobuf reads no message of 2 GiB or more."""
_DIGITS = 19  # of 2**63 - 1, beyond which no file can have an offset
_SIMPLE = frozenset(
    AttributeProto.AttributeType.Value(name)
    for name in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS", "TYPE_PROTO", "TYPE_PROTOS")
)
"""Types of attributes without graphs and tensors."""
_NODE_TEXTS = (attrgetter("output"), attrgetter("name", "op_type", "domain", "overload"))
"""An input is checked where it is defined."""
_AGAIN = "use a complete binary .onnx file: export or copy the model again"


def read_model(path: Path) -> bytes:
    """The content of a regular file; UserError if it is not regular, unreadable, empty or too large."""
    where = shown(str(path))
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            what = f"the file has {size} bytes, over the limit of 2 GiB of a protobuf message"
            todo = "save the weights as external data (onnx.save with save_as_external_data=True)"
            raise UserError(what, where, todo)
        data = read_regular_bytes(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot read the model: {reason}", where, "name an .onnx file") from error
    if not data:
        raise UserError("the file is empty", where, "export or copy the model again")
    return data


def parse_model(data: bytes, path: Path) -> ModelProto:
    """Parse the content of a file; UserError if it is not an ONNX model, a name is not UTF-8, a tensor's data
    does not fit its dimensions, or its external data lies outside the model's folder.
    """
    where = shown(str(path))
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        what = "not an ONNX model: the protobuf is broken, truncated or nested too deeply"
        raise UserError(what, where, _AGAIN) from error
    # Protobuf parses many foreign files as a message without fields, so the required ones are looked for.
    presence = {
        "ir_version": model.ir_version > 0,
        "graph": model.HasField("graph"),
        "opset_import": len(model.opset_import) > 0,
    }
    missing = [field for field, is_present in presence.items() if not is_present]
    if missing:
        what = f"not an ONNX model, or an incomplete one: no {', no '.join(missing)}"
        raise UserError(what, where, _AGAIN)

    tensors = list(all_tensors(model))
    try:
        # Protobuf hands over names that are not valid UTF-8 as bytes. One join finds that such a name is
        # there faster than a test of each name.
        "".join(all_names(model, tensors))
    except TypeError:
        bad = next(text for text in all_names(model, tensors) if not isinstance(text, str))
        raise UserError(f"the name {shown(repr(bad))} is not valid UTF-8", where, _AGAIN) from None

    for tensor in tensors:
        # A file may have locations without the mark, or the mark without a location: both are checked.
        has_mark = tensor.data_location == TensorProto.EXTERNAL
        if has_mark or len(tensor.external_data) > 0:
            problem = _external_problem(tensor, path)
        else:
            problem = _data_problem(tensor)
        if problem is not None:
            raise malformed(problem, path, f"tensor {quoted(tensor.name)}")
    return model


def malformed(message: str, path: Path, place: str) -> UserError:
    """The error for a model without a meaning in ONNX."""
    where = f"{shown(str(path))}, {place}"
    return UserError(message, where, "correct the model; onnx.checker.check_model has details")


def all_names(model: ModelProto, tensors: Iterable[TensorProto]) -> Iterator[str]:
    """Every name that something in a model has or defines, those of its stored tensors among them."""
    # Maps over C getters: a generator for each of 100,000 nodes takes far longer.
    name_of = attrgetter("name")
    names_of_attribute = attrgetter("name", "ref_attr_name")
    parts: list[Iterable[str]] = [
        map(attrgetter("domain"), model.opset_import),
        map(name_of, tensors),
    ]
    for function in model.functions:
        # Inputs and outputs of a function are names, where those of a graph have types.
        parts += [function.input, function.output]
        parts.append([function.domain, function.overload])
    for body in bodies(model.graph, *model.functions):
        parts.append([body.name])
        parts.append(map(name_of, body.value_info))
        if not isinstance(body, FunctionProto):
            parts.append(map(name_of, body.input))
            parts.append(map(name_of, body.output))
        for texts_of in _NODE_TEXTS:
            node_texts = map(texts_of, body.node)
            parts.append(chain.from_iterable(node_texts))
        attribute_names = map(names_of_attribute, attributes_of(body))
        parts.append(chain.from_iterable(attribute_names))
    return chain.from_iterable(parts)


def _data_problem(tensor: TensorProto) -> str | None:
    """Why stored data does not fit its dimensions, which onnx's checker does not compare."""
    # Of an undefined type and of a segment onnx makes no array, whatever the dimensions are.
    is_typeless = tensor.data_type in (TensorProto.STRING, TensorProto.UNDEFINED)
    if is_typeless or tensor.HasField("segment"):
        return None
    problem = None
    if any(dim < 0 for dim in tensor.dims):
        # NumPy takes -1 for a size that it computes, so that it finds nothing wrong.
        problem = "a dimension is below zero"
    else:
        try:
            numpy_helper.to_array(tensor)
        except (ValueError, TypeError, KeyError) as error:
            problem = shown(str(error))
    if problem is None:
        return None
    return f"its dimensions {show_dims(tuple(tensor.dims))} contradict its data: {problem}"


# --- External data ------------------------------------------------------------------------------------------


def external_files(model: ModelProto) -> list[str]:
    """The locations of a model's external data, relative to its folder."""
    locations: dict[str, None] = {}
    for tensor in all_tensors(model):
        for entry in tensor.external_data:
            if entry.key == "location":
                locations[entry.value] = None
    return list(locations)


def _external_problem(tensor: TensorProto, path: Path) -> str | None:
    """Why external data is not to be read: outside the model's folder, or past the end of its file."""
    entries: dict[str, str] = {}
    # Of two locations the one that is checked here need not be the one that a runtime reads.
    for entry in tensor.external_data:
        if entry.key in entries:
            return f"its external data has more than one {quoted(entry.key)}"
        entries[entry.key] = entry.value
    location = entries.get("location", "")
    if not location:
        return "its data is external, but no location is given"
    folder = path.parent
    title = f"its external data {quoted(location)}"
    reason = _outside(location, folder)
    if reason is not None:
        return f"{title} {reason}: it must be in the model's folder"
    # Without a length the data ends with the file, so that only its offset is compared.
    end = 0
    for name in ("offset", "length"):
        text = entries.get(name, "0")
        # Python reads digits of other scripts too, and limits how many it reads.
        if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
            return f"{title}: the {name} is {quoted(text)}, not a number of bytes"
        end += int(text)
    try:
        size = (folder / location).stat().st_size
    except (OSError, ValueError):
        return None  # lint needs no weights; what needs them reports that they are missing
    if end <= size:
        return None
    return f"{title}: it ends at byte {end}, but the file has {size}"


def _outside(location: str, folder: Path) -> str | None:
    """Why a location is not to be followed; None where it lies in the folder or below it."""
    # A Windows path splits at both separators, and so the location is read as on both systems.
    windows = PureWindowsPath(location)
    if windows.drive or windows.root or ".." in windows.parts:
        return "is not a path below it"
    try:
        base = folder.resolve()
        target = base / location
        is_inside = target.resolve().is_relative_to(base)
        # From Python 3.13 on `resolve` passes over a circle of links; `stat` does not.
        target.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # lint needs no weights
    except (OSError, ValueError, RuntimeError) as error:
        return f"is not a usable path ({shown(str(error))})"
    return None if is_inside else "leads out of the model's folder through a link"


# --- Everything that a model stores -------------------------------------------------------------------------


def attributes_of(body: GraphProto | FunctionProto) -> Iterator[AttributeProto]:
    """The attributes of the nodes of a graph or function."""
    return chain.from_iterable(map(attrgetter("attribute"), body.node))


def subgraphs(attributes: Iterable[AttributeProto]) -> Iterator[tuple[str, GraphProto]]:
    """The graphs in the attributes of nodes, each with the name of its attribute."""
    for attribute in attributes:
        if attribute.type in _SIMPLE:
            continue

        if attribute.type == AttributeProto.GRAPH or attribute.HasField("g"):
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def bodies(*roots: GraphProto | FunctionProto) -> Iterator[GraphProto | FunctionProto]:
    """Graphs and functions, each followed by the graphs that its nodes carry at any depth.

    The graphs that a function has as defaults of its attributes are among them.
    """
    for root in roots:
        yield root
        defaults = root.attribute_proto if isinstance(root, FunctionProto) else ()
        yield from bodies_in(chain(defaults, attributes_of(root)))


def bodies_in(attributes: Iterable[AttributeProto]) -> Iterator[GraphProto | FunctionProto]:
    """The graphs in attributes, at any depth."""
    for _, graph in subgraphs(attributes):
        yield from bodies(graph)


def all_tensors(model: ModelProto, *, sparse: bool = True) -> Iterator[TensorProto]:
    """Every stored tensor: initializers, attributes and, by `sparse`, both parts of sparse tensors."""
    # Nothing judges the graphs for training, but they may name external data too.
    training: list[GraphProto] = []
    for info in model.training_info:
        training += [info.initialization, info.algorithm]
    for body in bodies(model.graph, *model.functions, *training):
        sparse_tensors = []
        attributes = attributes_of(body)
        if isinstance(body, FunctionProto):
            attributes = chain(body.attribute_proto, attributes)
        else:
            yield from body.initializer
            sparse_tensors += body.sparse_initializer
        for attribute in attributes:
            if attribute.type in _SIMPLE:
                continue
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("sparse_tensor"):
                sparse_tensors.append(attribute.sparse_tensor)
            sparse_tensors += attribute.sparse_tensors
        if sparse:
            for tensor in sparse_tensors:
                yield tensor.values
                yield tensor.indices


def copy_of(model: ModelProto) -> ModelProto:
    """A copy that shares nothing with the model."""
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy
