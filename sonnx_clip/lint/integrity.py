"""Refuse models that contradict themselves: runtimes need not agree on what they mean.

onnx's checker reports most contradictions, and lint lists what it reports. These it lets pass.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from google.protobuf.descriptor import FieldDescriptor
from onnx import AttributeProto, TensorProto

from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.tensors import element_type_name, quoted, show_dims, shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from google.protobuf.message import Message
    from onnx import GraphProto, ModelProto, NodeProto

DATA_FIELDS = (
    "raw_data",
    "float_data",
    "int32_data",
    "string_data",
    "int64_data",
    "double_data",
    "uint64_data",
)
"""The fields in which a TensorProto keeps its content."""

SIMPLE = frozenset(
    AttributeProto.AttributeType.Value(name)
    for name in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS", "TYPE_PROTO", "TYPE_PROTOS")
)
"""The types of attributes that hold neither a graph nor a tensor."""

# Prose that nothing here reads, and in which old exporters left other encodings.
_PROSE = frozenset({"doc_string", "metadata_props", "producer_name", "producer_version"})
_TEXTS = (attrgetter("input"), attrgetter("output"), attrgetter("name", "op_type", "domain"))


def malformed(what: str, path: Path, place: str) -> UserError:
    """The refusal of a model of which ONNX does not say what it means."""
    where = f"{shown(str(path))}, {place}"
    return UserError(what, where=where, todo="correct the model; onnx.checker.check_model says more")


# --- Text: protobuf hands a string that is not UTF-8 over as bytes ------------------------------------------


def bad_text(model: ModelProto) -> str | None:
    """The field path of the first string that is not valid UTF-8, for example ``graph.node[3].input[0]``."""
    nodes = model.graph.node
    try:  # by far the most strings are names of nodes and their tensors
        for get in _TEXTS:
            "".join(chain.from_iterable(map(get, nodes)))
    except TypeError:
        return _bad_field(model)
    for attribute in (one for node in nodes for one in node.attribute):
        plain = isinstance(attribute.name, str) and isinstance(attribute.ref_attr_name, str)
        if not plain or (attribute.type not in SIMPLE and _bad_field(attribute)):
            return _bad_field(model)
    found = _bad_field(model, but="graph")
    if found is None:
        inside = _bad_field(model.graph, but="node")
        found = None if inside is None else f"graph.{inside}"
    return found


def _bad_field(message: Message, but: str = "") -> str | None:
    for field, value in message.ListFields():
        if field.name == but or field.name in _PROSE:
            continue
        if field.type not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
            continue
        single = isinstance(value, str | bytes) or hasattr(value, "ListFields")
        for number, item in enumerate([value] if single else cast("Iterable[object]", value)):
            found = _bad_item(item)
            if found is not None:
                return f"{field.name}{'' if single else f'[{number}]'}{found}"
    return None


def _bad_item(item: object) -> str | None:
    if isinstance(item, str | bytes):
        return "" if isinstance(item, bytes) else None
    found = _bad_field(cast("Message", item))
    return None if found is None else f".{found}"


# --- Stored data, names and constants -----------------------------------------------------------------------


_BYTES = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("FLOAT16", "BFLOAT16", "INT16", "UINT16"), 2),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 4),
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 8),
    "COMPLEX128": 16,
}
_VALUE_TYPES = {
    "value": AttributeProto.TENSOR,
    "sparse_value": AttributeProto.SPARSE_TENSOR,
    "value_float": AttributeProto.FLOAT,
    "value_floats": AttributeProto.FLOATS,
    "value_int": AttributeProto.INT,
    "value_ints": AttributeProto.INTS,
    "value_string": AttributeProto.STRING,
    "value_strings": AttributeProto.STRINGS,
}


def check_integrity(model: ModelProto, path: Path, tensors: Iterable[TensorProto]) -> None:
    """Refuse stored data that does not fit its dimensions, names given twice, Constants with two values.

    Args:
        model: as it was read.
        path: its file.
        tensors: all that it stores.

    Raises:
        UserError: naming the tensor, the node, or the graph with the name.
    """
    for tensor in tensors:
        problem = _data_problem(tensor)
        if problem:
            raise malformed(problem, path, f"tensor {quoted(tensor.name)}")
    _check_graph(model.graph, f"graph {quoted(model.graph.name)}", path)
    identities = [(f.domain, f.name, f.overload) for f in model.functions]
    for function, identity in zip(model.functions, identities, strict=True):
        title = f"function {quoted(f'{function.domain}::{function.name}')}"
        if identities.count(identity) > 1:
            raise malformed("the model has two functions of this name", path, title)
        _check_names([*function.input, *_made(function.node)], title, path)
        _check_nodes(function.node, title, path)


def _data_problem(tensor: TensorProto) -> str | None:
    """What is wrong with the number of entries of a stored tensor. No entry is decoded."""
    if tensor.data_location == TensorProto.EXTERNAL or tensor.HasField("segment"):
        return None
    filled = [field for field in DATA_FIELDS if len(getattr(tensor, field)) > 0]
    if len(filled) > 1:
        return f"its data stand in several fields: {', '.join(filled)}"
    kind = element_type_name(tensor.data_type)
    wanted = math.prod(max(dim, 0) for dim in tensor.dims)
    field = filled[0] if filled else None
    length = len(getattr(tensor, field)) if field else 0
    if length in _lengths(kind, field, wanted) and not any(dim < 0 for dim in tensor.dims):
        return None
    unit = "bytes of raw data" if field == "raw_data" else "entries"
    dims = show_dims(tuple(tensor.dims))
    return f"its dimensions {dims} do not fit its {length} {unit} ({kind or 'no type'})"


def _lengths(kind: str | None, field: str | None, wanted: int) -> tuple[int, ...]:
    """The lengths that a field may have for so many entries."""
    if kind is not None and kind.startswith("COMPLEX") and field != "raw_data":
        return (2 * wanted,)
    if (field != "raw_data" and kind in _BYTES) or kind == "STRING" or field is None:
        return (wanted,)
    if kind in _BYTES:
        return (wanted * _BYTES[kind],)
    if kind is not None and kind.startswith("FLOAT8"):
        return (wanted,)
    # Packed types have two or four entries in a byte; not every writer packs them.
    return (wanted, -(-wanted // 2), -(-wanted // 4))


def _made(nodes: Iterable[NodeProto]) -> list[str]:
    return [name for node in nodes for name in node.output if name]


def _check_graph(graph: GraphProto, title: str, path: Path) -> None:
    inputs = [value.name for value in graph.input]
    stored = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    made = _made(graph.node)
    for names in ([*stored, *made], [*inputs, *made]):
        _check_names(names, title, path)
    _check_nodes(graph.node, title, path)


def _check_names(names: Sequence[str], title: str, path: Path) -> None:
    if len(set(names)) == len(names):
        return
    twice = next(name for name, count in Counter(names).items() if count > 1)
    raise malformed(f"the name {quoted(twice)} is given to two tensors", path, title)


def _check_nodes(nodes: Iterable[NodeProto], title: str, path: Path) -> None:
    for index, node in enumerate(nodes):
        if node.op_type == "Constant" and is_default_domain(node.domain):
            name = quoted(node.name or " ".join(node.output))
            _check_constant(node, f"node {index} {name} of {title}", path)
            continue
        for attribute in node.attribute:
            if attribute.type in SIMPLE:
                continue
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                _check_graph(graph, f"{title} > {node.op_type} node {index}, {shown(attribute.name)}", path)


def _check_constant(node: NodeProto, place: str, path: Path) -> None:
    names = [attribute.name for attribute in node.attribute]
    if len(names) != 1 or names[0] not in _VALUE_TYPES:
        found = ", ".join(map(quoted, names)) or "none"
        raise malformed(f"a Constant has exactly one value attribute; here: {found}", path, place)
    attribute = node.attribute[0]
    if not attribute.ref_attr_name and attribute.type != _VALUE_TYPES[names[0]]:
        what = f"the attribute {quoted(names[0])} of a Constant holds a value of another kind"
        raise malformed(what, path, place)
