"""What a model declares of one tensor: dense or sparse, element type, dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto, TensorShapeProto, TypeProto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Dims = tuple[int | str, ...]


@dataclass(frozen=True)
class TensorInfo:
    """One declaration of one tensor.

    Attributes:
        origin: where it stands: graph input, value_info, initializer, ...
        sparse: the declaration makes the tensor sparse.
        not_tensor: the kind of a value that is no tensor (sequence, map, optional), else None.
        element_type: the ONNX name (FLOAT, INT8, ...), None where it is not said.
        dims: a number per axis, or the text of a symbolic dimension; None where no shape is said.
    """

    origin: str
    sparse: bool = False
    not_tensor: str | None = None
    element_type: str | None = None
    dims: Dims | None = None


def symbols(dims: Dims) -> list[tuple[int, str]]:
    """The axes whose size is no number, with their text."""
    return [(axis, dim) for axis, dim in enumerate(dims) if isinstance(dim, str)]


def show_dims(dims: Dims) -> str:
    """A shape as text: ``[N, 3]``, ``[]`` for a scalar."""
    return "[" + ", ".join(str(dim) for dim in dims) + "]"


_SHOWN = 400
"""The most characters of a text from outside that are printed."""


def shown(text: str) -> str:
    """Text from outside as it is safe to print: shortened, on one line, control characters escaped."""
    if len(text) > _SHOWN:
        return f"{shown(text[: _SHOWN // 2])}… ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quoted(name: str) -> str:
    """A name from a model as it is safe to print, in quotes."""
    return f"'{shown(name)}'"


def element_type_name(code: int) -> str | None:
    """The ONNX name of an element type, None for UNDEFINED."""
    if code == TensorProto.UNDEFINED:
        return None
    known: dict[int, str] = {number: name for name, number in TensorProto.DataType.items()}
    return known.get(code, f"element type {code}")


def from_type(type_proto: TypeProto, origin: str) -> TensorInfo | None:
    """The declaration that a ValueInfoProto makes; None where it says nothing."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = type_proto.tensor_type
        dims = _type_dims(tensor.shape) if tensor.HasField("shape") else None
        return TensorInfo(origin, element_type=element_type_name(tensor.elem_type), dims=dims)
    if kind == "sparse_tensor_type":
        sparse = type_proto.sparse_tensor_type
        dims = _type_dims(sparse.shape) if sparse.HasField("shape") else None
        return TensorInfo(origin, sparse=True, element_type=element_type_name(sparse.elem_type), dims=dims)
    if kind is None:
        return None
    return TensorInfo(origin, not_tensor=kind.removesuffix("_type"))


def _type_dims(shape: TensorShapeProto) -> Dims:
    return tuple(_type_dim(dim) for dim in shape.dim)


def _type_dim(dim: TensorShapeProto.Dimension) -> int | str:
    # Exporters write -1 for "any size"; a size below zero is no number of entries.
    if dim.WhichOneof("value") == "dim_value":
        return dim.dim_value if dim.dim_value >= 0 else str(dim.dim_value)
    return shown(dim.dim_param) or "?"


def from_tensor(tensor: TensorProto, origin: str) -> TensorInfo:
    """The declaration that a stored dense tensor makes."""
    element_type = element_type_name(tensor.data_type)
    return TensorInfo(origin, element_type=element_type, dims=_stored_dims(tensor.dims))


def from_sparse(tensor: SparseTensorProto, origin: str) -> TensorInfo:
    """The declaration that a stored sparse tensor makes."""
    element_type = element_type_name(tensor.values.data_type)
    return TensorInfo(origin, sparse=True, element_type=element_type, dims=_stored_dims(tensor.dims))


def _stored_dims(dims: Iterable[int]) -> Dims:
    return tuple(dim if dim >= 0 else str(dim) for dim in dims)


_CONSTANTS: dict[str, Callable[[AttributeProto, str], TensorInfo]] = {
    "value": lambda a, origin: from_tensor(a.t, origin),
    "sparse_value": lambda a, origin: from_sparse(a.sparse_tensor, f"{origin} with sparse_value"),
    "value_float": lambda _, origin: TensorInfo(origin, element_type="FLOAT", dims=()),
    "value_floats": lambda a, origin: TensorInfo(origin, element_type="FLOAT", dims=(len(a.floats),)),
    "value_int": lambda _, origin: TensorInfo(origin, element_type="INT64", dims=()),
    "value_ints": lambda a, origin: TensorInfo(origin, element_type="INT64", dims=(len(a.ints),)),
    "value_string": lambda _, origin: TensorInfo(origin, element_type="STRING", dims=()),
    "value_strings": lambda a, origin: TensorInfo(origin, element_type="STRING", dims=(len(a.strings),)),
}


def from_constant(node: NodeProto) -> TensorInfo | None:
    """The declaration that a Constant node makes; None where its value is an attribute of the caller."""
    for attribute in node.attribute:
        if attribute.name in _CONSTANTS and not attribute.ref_attr_name:
            return _CONSTANTS[attribute.name](attribute, "Constant node")
    return None
