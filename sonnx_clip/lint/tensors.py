"""What a model declares of one tensor: dense or sparse, element type, dimensions, the value of a scalar."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto, TypeProto, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Dims = tuple[int | str, ...]
_SHOWN = 400
"""The most characters of a text from outside that are printed."""


@dataclass(frozen=True)
class TensorInfo:
    """One declaration of one tensor.

    Attributes:
        origin: where it stands: graph input, value_info, initializer, ...
        sparse: the declaration makes the tensor sparse.
        not_tensor: the kind of a value that is no tensor (sequence, map, optional), else None.
        element_type: the ONNX name (FLOAT, INT8, ...), None where it is not given.
        dims: a number per axis, or the text of a symbolic dimension; None where no shape is given.
        value: the one entry of a stored tensor, exactly; None where there are more, or it is stored
            elsewhere. It is text, because 0 and -0 are equal numbers.
    """

    origin: str
    sparse: bool = False
    not_tensor: str | None = None
    element_type: str | None = None
    dims: Dims | None = None
    value: str | None = None


def symbols(dims: Dims) -> list[tuple[int, str]]:
    """The axes whose size is no number, with their text."""
    return [(axis, dim) for axis, dim in enumerate(dims) if isinstance(dim, str)]


def compatible(a: Dims, b: Dims) -> bool:
    """One tensor can have both shapes."""
    if len(a) != len(b):
        return False
    return all(x == y or isinstance(x, str) or isinstance(y, str) for x, y in zip(a, b, strict=True))


def show_dims(dims: Dims) -> str:
    """A shape as text: ``[N, 3]``, ``[]`` for a scalar."""
    return "[" + ", ".join(str(dim) for dim in dims) + "]"


def show_number(value: float) -> str:
    """A bound for people."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


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
    if kind is None:
        return None
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return TensorInfo(origin, not_tensor=kind.removesuffix("_type"))
    tensor = getattr(type_proto, kind)
    dims = tuple(map(_type_dim, tensor.shape.dim)) if tensor.HasField("shape") else None
    sparse = kind == "sparse_tensor_type"
    return TensorInfo(origin, sparse, element_type=element_type_name(tensor.elem_type), dims=dims)


def _type_dim(dim: Any) -> int | str:
    # Exporters write -1 for "any size"; a size below zero is no number of entries.
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else str(dim.dim_value)
    return shown(dim.dim_param) or "?"


def from_tensor(tensor: TensorProto, origin: str) -> TensorInfo:
    """The declaration that a stored dense tensor makes."""
    dims = _stored_dims(tensor.dims)
    return TensorInfo(
        origin, element_type=element_type_name(tensor.data_type), dims=dims, value=_value(tensor)
    )


def from_sparse(tensor: SparseTensorProto, origin: str) -> TensorInfo:
    """The declaration that a stored sparse tensor makes."""
    element_type = element_type_name(tensor.values.data_type)
    return TensorInfo(origin, sparse=True, element_type=element_type, dims=_stored_dims(tensor.dims))


def _stored_dims(dims: Iterable[int]) -> Dims:
    return tuple(dim if dim >= 0 else str(dim) for dim in dims)


def _value(tensor: TensorProto) -> str | None:
    if math.prod(tensor.dims) != 1 or tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        number = numpy_helper.to_array(tensor).reshape(-1)[0]
    except (TypeError, ValueError, KeyError):
        return None
    if getattr(number, "dtype", None) is None or number.dtype.hasobject or number.dtype.kind in "cUSb":
        return None
    return str(int(number)) if number.dtype.kind in "iu" else repr(float(number))


def _listed(values: Sequence[Any], origin: str, element_type: str) -> TensorInfo:
    value = repr(values[0]) if len(values) == 1 and not isinstance(values[0], bytes) else None
    return TensorInfo(origin, element_type=element_type, dims=(len(values),), value=value)


_Read = Callable[[AttributeProto, str], TensorInfo]
_CONSTANTS: dict[str, tuple[int, _Read]] = {
    "value": (AttributeProto.TENSOR, lambda a, origin: from_tensor(a.t, origin)),
    "sparse_value": (
        AttributeProto.SPARSE_TENSOR,
        lambda a, origin: from_sparse(a.sparse_tensor, f"{origin} with sparse_value"),
    ),
    "value_float": (
        AttributeProto.FLOAT,
        lambda a, origin: TensorInfo(origin, element_type="FLOAT", dims=(), value=repr(a.f)),
    ),
    "value_floats": (AttributeProto.FLOATS, lambda a, origin: _listed(a.floats, origin, "FLOAT")),
    "value_int": (
        AttributeProto.INT,
        lambda a, origin: TensorInfo(origin, element_type="INT64", dims=(), value=str(a.i)),
    ),
    "value_ints": (AttributeProto.INTS, lambda a, origin: _listed(a.ints, origin, "INT64")),
    "value_string": (
        AttributeProto.STRING,
        lambda _, origin: TensorInfo(origin, element_type="STRING", dims=()),
    ),
    "value_strings": (AttributeProto.STRINGS, lambda a, origin: _listed(a.strings, origin, "STRING")),
}


def from_constant(node: NodeProto) -> TensorInfo | None:
    """The declaration that a Constant node makes.

    None where its value is an attribute of the caller, or where it has not exactly one value.
    """
    if len(node.attribute) != 1 or node.attribute[0].ref_attr_name:
        return None
    attribute = node.attribute[0]
    kind, read = _CONSTANTS.get(attribute.name, (None, None))
    return read(attribute, "Constant node") if read is not None and attribute.type == kind else None
