"""A large model read without its weights: the protobuf is walked, and the data of large tensors passed over.

Lint needs the length of stored data, never the data. Whatever this reader does not understand it leaves to
protobuf, which then reads the whole file.
"""

from __future__ import annotations

import secrets
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

if TYPE_CHECKING:
    from typing import BinaryIO

    from google.protobuf.message import Message

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
# No file can hold this key, so no model can claim a length for data that it does not have.
_MARK = f"sonnx-clip passed over {secrets.token_hex(16)}"


def skim(file: BinaryIO, size: int) -> bytes | None:
    """The model in a file of this size without the data of large tensors; None where it is irregular."""
    file.seek(0)
    try:
        return bytes(_message(file, size, ModelProto.DESCRIPTOR.full_name, 0))
    except _IrregularError:
        return None


def passed_over(tensor: TensorProto) -> dict[str, int]:
    """How many entries of which data field `skim` took from a tensor."""
    found: dict[str, int] = {}
    for entry in tensor.metadata_props:
        if entry.key == _MARK:
            name, _, count = entry.value.partition(" ")
            # Of a field given twice protobuf keeps the last, and of a list all parts.
            found[name] = int(count) + (0 if name == "raw_data" else found.get(name, 0))
    return found


class _IrregularError(Exception):
    """Not what a writer of protobuf writes."""


def _message(file: BinaryIO, end: int, kind: str, depth: int) -> bytearray:
    if depth > _DEPTH:
        raise _IrregularError
    result, inner, start = bytearray(), _INNER[kind], file.tell()
    while start < end:
        tag = _varint(file)
        length = _length(file, tag & 7)
        content = file.tell()
        stop = content + length
        if stop > end:
            raise _IrregularError
        large = tag & 7 == _BYTES and length > KEPT_BYTES
        if large and kind == _TENSOR and tag >> 3 in _DATA:
            result += _marked(*_DATA[tag >> 3], length)
        elif large and tag >> 3 in inner:
            lean = _message(file, stop, inner[tag >> 3], depth + 1)
            result += _written(tag) + _written(len(lean)) + lean
        else:
            file.seek(start)
            result += file.read(stop - start)
        file.seek(stop)
        start = stop
    return result


def _length(file: BinaryIO, wire: int) -> int:
    """How many bytes of content follow in a field of this wire type."""
    if wire == _BYTES:
        return _varint(file)
    if wire == _VARINT:
        _varint(file)
        return 0
    if wire not in (_FIXED64, _FIXED32):
        raise _IrregularError
    return 8 if wire == _FIXED64 else 4


def _varint(file: BinaryIO) -> int:
    number = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            raise _IrregularError
        number |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return number
    raise _IrregularError


def _written(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def _marked(name: str, size: int, length: int) -> bytes:
    if length % size:
        raise _IrregularError
    tensor = TensorProto()
    tensor.metadata_props.add(key=_MARK, value=f"{name} {length // size}")
    written: bytes = tensor.SerializeToString()
    return written
