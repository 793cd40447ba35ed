"""Refuse models with names that are no text, or with stored data that does not fit its dimensions.

onnx's checker reports other contradictions, and sees neither text nor the data of large tensors.
"""

from __future__ import annotations

import math
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from google.protobuf.descriptor import FieldDescriptor
from onnx import AttributeProto, TensorProto

from sonnx_clip.lint.tensors import element_type_name, quoted, show_dims, shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from google.protobuf.message import Message
    from onnx import ModelProto

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


# --- Stored data --------------------------------------------------------------------------------------------


_BYTES = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("FLOAT16", "BFLOAT16", "INT16", "UINT16"), 2),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 4),
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 8),
    "COMPLEX128": 16,
}


def check_stored_data(tensors: Iterable[TensorProto], path: Path) -> None:
    """Refuse stored data that does not fit its dimensions.

    Raises:
        UserError: naming the tensor.
    """
    for tensor in tensors:
        problem = _data_problem(tensor)
        if problem:
            raise malformed(problem, path, f"tensor {quoted(tensor.name)}")


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
