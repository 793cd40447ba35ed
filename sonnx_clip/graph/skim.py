"""A large model read without its weights: the protobuf is walked, and the data of large tensors passed over,
wherever a tensor can be stored.
"""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
)
from onnx import TrainingInfoProto as Training

from sonnx_clip.graph.graph_names import Listings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from google.protobuf.message import Message


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


# ------------------------------------------------------------------------------------------------------------
# A large model read without its weights: the protobuf is walked, and the data of large tensors passed
# over
#
# Lint needs the length of stored data, never the data; normalise copies it from one file to the other.
# Whatever this reader does not understand it leaves to protobuf, which then reads the whole file.


# What is not larger than this is kept: shapes, axes and sizes, which inference reads.
KEPT_BYTES = 16_384
_DEPTH = 100  # that of protobuf
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WALKED: tuple[type[Message], ...] = (
    ModelProto,
    GraphProto,
    FunctionProto,
    NodeProto,
    AttributeProto,
    TensorProto,
    SparseTensorProto,
    Training,
)
# For each kind of message the fields that hold another of these kinds, by their numbers.
_INNER = {
    kind.DESCRIPTOR.full_name: {
        field.number: field.message_type.full_name
        for field in kind.DESCRIPTOR.fields
        if field.message_type is not None
        and field.message_type.full_name in {walked.DESCRIPTOR.full_name for walked in _WALKED}
    }
    for kind in _WALKED
}
_TENSOR = TensorProto.DESCRIPTOR.full_name
# The fields whose entries all have one size, with that size.
_DATA = {
    TensorProto.DESCRIPTOR.fields_by_name[name].number: (name, size)
    for name, size in (("raw_data", 1), ("float_data", 4), ("double_data", 8))
}
_DATA_NUMBER = {name: number for number, (name, _) in _DATA.items()}
# No file can hold this key, so no model can claim a length for data that it does not have.
_MARK = f"sonnx-clip passed over {os.urandom(16).hex()}"


_MARK_BYTES = _MARK.encode("ascii")
_VARINT_BYTES = 10
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Span:
    """A part of a file."""

    start: int
    length: int


def skim(file: BinaryIO, size: int) -> bytes | None:
    """The model in a file of this size without the data of large tensors; None where it is irregular."""
    try:
        return b"".join(_message(_Blocks(file), 0, size, ModelProto.DESCRIPTOR.full_name, 0))
    except _IrregularError:
        return None


def without_passed_over(model: ModelProto) -> ModelProto:
    """The model with an empty tensor wherever data was passed over, for what reads no shapes."""
    if not any(spans(tensor) for tensor in all_tensors(model)):
        return model
    result = deepcopy(model)
    for tensor in all_tensors(result):
        if spans(tensor):
            del tensor.dims[:]
            tensor.dims.append(0)
    return result


def passed_over(tensor: TensorProto) -> dict[str, int]:
    """How many entries of which data field `skim` took from a tensor."""
    found: dict[str, int] = {}
    for entry in tensor.metadata_props:
        if entry.key == _MARK:
            name, count, *_ = entry.value.split()
            # Of a field given twice protobuf keeps the last, and of a list all parts.
            found[name] = int(count) + (0 if name == "raw_data" else found.get(name, 0))
    return found


class _IrregularError(Exception):
    """Not what a writer of protobuf writes."""


class _Blocks:
    """A file read in blocks, by position."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = 0
        self._block = b""

    def varint(self, position: int) -> tuple[int, int]:
        """A number, and the position after it."""
        offset = position - self._start
        if not 0 <= offset <= len(self._block) - _VARINT_BYTES:
            self._start, offset = position, 0
            self._file.seek(position)
            self._block = self._file.read(_BLOCK)
        try:
            byte = self._block[offset]
            if byte < 128:
                return byte, position + 1
            return _long_varint(self._block, offset, position)
        except IndexError:
            raise _IrregularError from None

    def behind_short(self, start: int, end: int) -> int:
        """The position behind all fields from here on of which a length below 128 says where they end."""
        block, offset = self._block, start - self._start
        if offset < 0:
            return start
        last = min(len(block), end - self._start) - 1
        while offset < last:
            tag, length = block[offset], block[offset + 1]
            if tag & 135 != _BYTES or length > 127 or offset + 2 + length > last + 1:
                break
            offset += 2 + length
        return self._start + offset

    def part(self, start: int, stop: int) -> bytes:
        """The bytes from one position to another."""
        offset = start - self._start
        if offset >= 0 and stop - self._start <= len(self._block):
            return self._block[offset : stop - self._start]
        self._file.seek(start)
        found = self._file.read(stop - start)
        if len(found) != stop - start:
            raise _IrregularError
        return found


def _long_varint(block: bytes, offset: int, position: int) -> tuple[int, int]:
    number = 0
    for count in range(_VARINT_BYTES):
        byte = block[offset + count]
        number |= (byte & 127) << 7 * count
        if byte < 128:
            return number, position + count + 1
    raise _IrregularError


def _message(blocks: _Blocks, start: int, end: int, kind: str, depth: int) -> list[bytes]:
    """A message in pieces; what lies between those that are changed is kept as it is."""
    if depth > _DEPTH:
        raise _IrregularError
    found: list[bytes] = []
    inner, kept = _INNER[kind], start
    while start < end:
        start = blocks.behind_short(start, end)
        if start == end:
            break
        tag, content, length = _field(blocks, start)
        stop = content + length
        if stop > end:
            raise _IrregularError
        if length > KEPT_BYTES:
            new: list[bytes] | None = None
            if kind == _TENSOR and tag >> 3 in _DATA:
                new = [_marked(*_DATA[tag >> 3], Span(content, length))]
            elif tag >> 3 in inner:
                lean = _message(blocks, content, stop, inner[tag >> 3], depth + 1)
                new = [_written(tag), _written(sum(map(len, lean))), *lean]
            if new is not None:
                found += [blocks.part(kept, start), *new]
                kept = stop
        start = stop
    return [*found, blocks.part(kept, end)]


def _field(blocks: _Blocks, start: int) -> tuple[int, int, int]:
    """The tag of a field, where its content starts, and how many bytes that has."""
    tag, content = blocks.varint(start)
    wire = tag & 7
    if wire == _BYTES:
        length, content = blocks.varint(content)
        return tag, content, length
    if wire == _VARINT:
        return tag, blocks.varint(content)[1], 0
    if wire in (_FIXED64, _FIXED32):
        return tag, content, 8 if wire == _FIXED64 else 4
    raise _IrregularError


def _written(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def _marked(name: str, size: int, span: Span) -> bytes:
    if span.length % size:
        raise _IrregularError
    tensor = TensorProto()
    value = f"{name} {span.length // size} {span.start} {span.length}"
    tensor.metadata_props.add(key=_MARK, value=value)
    written: bytes = tensor.SerializeToString()
    return written


def pieces(model: ModelProto) -> list[bytes | Span]:
    """A model as its file has it: bytes, and where in the file the data lies that was passed over."""
    return _restored(model.SerializeToString(), ModelProto.DESCRIPTOR.full_name)[0]


def _restored(message: bytes, kind: str) -> tuple[list[bytes | Span], int]:
    """The pieces of a message of this kind, and how many bytes they have."""
    if _MARK_BYTES not in message:
        return [message], len(message)
    if kind == _TENSOR:
        return _restored_tensor(TensorProto.FromString(message))
    found: list[bytes | Span] = []
    size, start, kept = 0, 0, 0
    while start < len(message):  # which protobuf wrote just now, so it is regular
        tag, content = _long_varint(message, start, start)
        length = {_FIXED64: 8, _FIXED32: 4}.get(tag & 7, 0)
        if tag & 7 in (_BYTES, _VARINT):
            number, content = _long_varint(message, content, content)
            length = number if tag & 7 == _BYTES else 0
        stop = content + length
        if message.find(_MARK_BYTES, content, stop) >= 0:
            inside, count = _restored(message[content:stop], _INNER[kind][tag >> 3])
            head = message[kept:start] + _written(tag) + _written(count)
            found += [head, *inside]
            size += len(head) + count
            kept = stop
        start = stop
    return [*found, message[kept:]], size + len(message) - kept


def _restored_tensor(tensor: TensorProto) -> tuple[list[bytes | Span], int]:
    """A tensor with its data behind the rest: a reader of protobuf takes fields in any order."""
    data = [piece for pair in _taken(tensor) for piece in pair]
    found = [tensor.SerializeToString(), *data]
    return found, sum(len(one) if isinstance(one, bytes) else one.length for one in found)


def spans(tensor: TensorProto) -> list[tuple[str, Span]]:
    """The data that `skim` passed over: the name of the field, and where in the file it lies."""
    values = [entry.value.split() for entry in tensor.metadata_props if entry.key == _MARK]
    return [(name, Span(int(start), int(length))) for name, _, start, length in values]


def _taken(tensor: TensorProto) -> list[tuple[bytes, Span]]:
    """The same, each behind the bytes that protobuf writes before it; the tensor no longer says so."""
    found = spans(tensor)
    kept = [entry for entry in tensor.metadata_props if entry.key != _MARK]
    del tensor.metadata_props[:]
    tensor.metadata_props.extend(kept)
    return [
        (_written(_DATA_NUMBER[name] << 3 | _BYTES) + _written(span.length), span) for name, span in found
    ]


def restore(model: ModelProto, file: BinaryIO) -> None:
    """Put the data that was passed over back into a model."""
    for tensor in all_tensors(model):
        for head, span in _taken(tensor):
            file.seek(span.start)
            tensor.MergeFromString(head + file.read(span.length))
