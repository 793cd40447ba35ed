"""Numbers as stored scalars, exact to the bit."""

from __future__ import annotations

import struct

from onnx import TensorProto

# How Python's struct writes the float types that a Clip with attributes may have.
_FORM = {"FLOAT": "<f", "DOUBLE": "<d", "FLOAT16": "<e"}


def attribute_bits(value: float, onnx_name: str) -> bytes | None:
    """A FLOAT attribute as a value of another float type, None where that type does not have the number."""
    form = _FORM.get(onnx_name)
    if form is None:
        return None
    try:
        stored = struct.pack(form, value)
    except OverflowError:
        return None
    return stored if struct.unpack(form, stored)[0] == value else None


def scalar_tensor(name: str, onnx_name: str, stored: bytes) -> TensorProto:
    """A stored scalar."""
    return TensorProto(name=name, data_type=TensorProto.DataType.Value(onnx_name), raw_data=stored)
