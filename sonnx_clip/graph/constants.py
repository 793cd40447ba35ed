"""Bounds as stored scalars, exact to the bit."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from onnx import TensorProto

from sonnx_clip.spec import load_spec
from sonnx_clip.spec.values import encode

if TYPE_CHECKING:
    from sonnx_clip.spec.types import ElementType

LIMIT = {"L": "lowest", "M": "highest"}
# How Python's struct writes the float types that a Clip with attributes may have.
_FORM = {"FLOAT": "<f", "DOUBLE": "<d", "FLOAT16": "<e"}


@cache
def profile_type(onnx_name: str | None) -> ElementType | None:
    """The element type of the profile with this ONNX name, None where it has none."""
    return next((t for t in load_spec().element_types if t.onnx is not None and t.onnx == onnx_name), None)


def limit_bits(etype: ElementType, role: str) -> bytes:
    """The lowest (for L) or highest (for M) number of a machine type, as it is stored."""
    assert etype.width is not None  # only `real` has none, and no tensor has that type
    pattern = int(encode(LIMIT[role], etype)) % (1 << etype.width)
    return pattern.to_bytes(etype.width // 8, "little")


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
