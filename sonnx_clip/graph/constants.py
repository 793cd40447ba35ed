"""Bounds as stored scalars, exact to the bit."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from onnx import TensorProto

from sonnx_clip.graph.profile import element_types

if TYPE_CHECKING:
    from sonnx_clip.graph.profile import ProfileType

LIMIT = {"L": "lowest", "M": "highest"}
# How Python's struct writes the float types that a Clip with attributes may have.
_FORM = {"FLOAT": "<f", "DOUBLE": "<d", "FLOAT16": "<e"}


@cache
def profile_type(onnx_name: str | None) -> ProfileType | None:
    """The element type of the profile with this ONNX name, None where it has none."""
    return next((one for one in element_types() if one.onnx == onnx_name), None)


def limit_bits(etype: ProfileType, role: str) -> bytes:
    """The lowest (for L) or highest (for M) number of an element type, as it is stored."""
    return etype.lowest if role == "L" else etype.highest


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
