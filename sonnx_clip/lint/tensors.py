"""What a model declares of a tensor and what inference finds: element type, dimensions, density, value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import (
    AttributeProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    TypeProto,
    helper,
    numpy_helper,
)

from sonnx_clip.lint.safe_text import show_dims, show_number, shown

if TYPE_CHECKING:
    from sonnx_clip.root.signature import Operand

Dims = tuple[int | str, ...]
"""A number per axis, or the text of a symbolic dimension."""


class Declaration(NamedTuple):
    """One declaration of one tensor; an element type has its ONNX name: FLOAT, INT8, ...

    `value` is the one entry of a stored tensor, exactly: as text, because 0 and -0 are equal numbers.
    """

    origin: str  # graph input, value_info, initializer, ...
    sparse: bool = False
    not_tensor: str | None = None  # the kind of a value that is none: sequence, map, optional
    element_type: str | None = None
    dims: Dims | None = None
    value: str | None = None


NOTHING = Declaration("shape inference")


class Known(NamedTuple):
    """The facts about a name at its place of use."""

    defined: bool  # by an input, a stored tensor or a node
    declared: tuple[Declaration, ...] = ()
    inferred: Declaration = NOTHING  # by onnx
    derived: Declaration = NOTHING  # the same, where declarations of computed values are ignored


@dataclass(frozen=True)
class NodeTensor:
    """One tensor of a node: its entry in the specification, its name if it is set, and the facts about it."""

    operand: Operand
    name: str | None
    declared: tuple[Declaration, ...] = ()
    inferred: Declaration = NOTHING
    derived: Declaration = NOTHING

    @property
    def id(self) -> str:
        """Its name in the specification, such as X."""
        return self.operand.id

    @property
    def element_types(self) -> tuple[str, ...]:
        """The declared element types, each once; more than one is a contradiction."""
        types = (info.element_type for info in self.declared if info.element_type)
        return tuple(dict.fromkeys(types))

    @property
    def shapes(self) -> tuple[Dims, ...]:
        """The declared shapes, each once."""
        shapes = (info.dims for info in self.declared if info.dims is not None)
        return tuple(dict.fromkeys(shapes))

    @property
    def declared_contradiction(self) -> str | None:
        """Two declared shapes that no tensor can have both."""
        for first, second in combinations(self.shapes, 2):
            if not compatible(first, second):
                return f"declared with two shapes: {show_dims(first)} and {show_dims(second)}"
        return None

    @property
    def computed_contradiction(self) -> str | None:
        """A declared shape and an inferred one that no tensor can have both."""
        # What inference finds by way of declarations could only repeat their mistakes.
        inferred = self.derived.dims
        if inferred is None:
            return None
        for declared in self.shapes:
            if not compatible(declared, inferred):
                finding = f"inference finds {show_dims(inferred)}"
                return f"declared with shape {show_dims(declared)}, but {finding}"
        return None

    @property
    def contradiction(self) -> str | None:
        """Two shapes, declared or inferred, that no tensor can have both."""
        return self.declared_contradiction or self.computed_contradiction

    @property
    def not_tensor(self) -> str | None:
        """The kind of a value that is declared or inferred to be no tensor."""
        for info in (*self.declared, self.derived):
            if info.not_tensor:
                return info.not_tensor
        return None

    @property
    def sparse(self) -> str | None:
        """Where it is declared or inferred to be sparse."""
        for info in (*self.declared, self.inferred, self.derived):
            if info.sparse:
                return info.origin
        return None

    @property
    def dims(self) -> Dims | None:
        """The declared shape. A symbol in any declaration stays one: the others bind nobody."""
        if not self.shapes or self.declared_contradiction:
            return None
        dims = []
        for declared_sizes in zip(*self.shapes, strict=True):
            symbols = [dim for dim in declared_sizes if isinstance(dim, str)]
            # Numbers of one axis are equal here, since the shapes do not contradict each other.
            dims.append(symbols[0] if symbols else declared_sizes[0])
        return tuple(dims)

    @property
    def known_type(self) -> str | None:
        """The element type on which all facts agree."""
        types = {*self.element_types, self.inferred.element_type, self.derived.element_type}
        types.discard(None)
        return types.pop() if len(types) == 1 else None

    @property
    def known_dims(self) -> Dims | None:
        """The declared shape, or else the inferred one; None where they contradict each other."""
        if self.contradiction:
            return None
        for dims in (self.dims, self.derived.dims, self.inferred.dims):
            if dims is not None:
                return dims
        return None

    @property
    def value(self) -> int | float | None:
        """The entry of a bound that is stored in the model and that no caller overrides."""
        text = self._stored.value
        if text is None:
            return None
        # An integer stays one: a float would round those of 64 bits.
        return int(text) if text.removeprefix("-").isdecimal() else float(text)

    @property
    def value_text(self) -> str:
        """The value for people."""
        if self.value is None:
            return "unknown"
        return show_number(self.value, self._stored.element_type)

    @property
    def _stored(self) -> Declaration:
        """What stores the value."""
        # A caller may override what is stored for an input of the graph.
        if any(info.origin == "graph input" for info in self.declared):
            return NOTHING
        return next((info for info in self.declared if info.value is not None), NOTHING)


def symbolic_dims(dims: Dims) -> list[tuple[int, str]]:
    """The axes whose size is no number, with their text."""
    return [(axis, dim) for axis, dim in enumerate(dims) if isinstance(dim, str)]


def static_dims(dims: Dims | None) -> tuple[int, ...] | None:
    """A shape, if it is known and all dimensions are numbers."""
    if dims is None:
        return None
    sizes = tuple(dim for dim in dims if isinstance(dim, int))
    return sizes if len(sizes) == len(dims) else None


def compatible(a: Dims, b: Dims) -> bool:
    """One tensor can have both shapes."""
    if len(a) != len(b):
        return False
    for first, second in zip(a, b, strict=True):
        # Another symbol may have the same value: only two numbers contradict each other.
        both_numbers = isinstance(first, int) and isinstance(second, int)
        if both_numbers and first != second:
            return False
    return True


# --- Declarations of values, stored tensors and Constant nodes ----------------------------------------------


def from_type(type_proto: TypeProto, origin: str) -> Declaration:
    """The declaration that a ValueInfoProto makes."""
    kind = type_proto.WhichOneof("value")
    if kind is None:
        return Declaration(origin)
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return Declaration(origin, not_tensor=kind.removesuffix("_type"))
    tensor = getattr(type_proto, kind)
    is_sparse = kind == "sparse_tensor_type"
    element_type = _element_type(tensor.elem_type)
    # A scalar has a shape without axes, which is not the same as none.
    dims = tuple(map(_type_dim, tensor.shape.dim)) if tensor.HasField("shape") else None
    return Declaration(origin, is_sparse, element_type=element_type, dims=dims)


def from_stored(tensor: TensorProto | SparseTensorProto, origin: str) -> Declaration:
    """The declaration that a stored tensor makes."""
    # A size below zero is no number of entries, as in `_type_dim`.
    dims = tuple(dim if dim >= 0 else str(dim) for dim in tensor.dims)
    if isinstance(tensor, SparseTensorProto):
        element_type = _element_type(tensor.values.data_type)
        return Declaration(origin, sparse=True, element_type=element_type, dims=dims)
    element_type = _element_type(tensor.data_type)
    return Declaration(origin, element_type=element_type, dims=dims, value=_value(tensor))


_CONSTANTS = {"FLOAT": TensorProto.FLOAT, "INT": TensorProto.INT64, "STRING": TensorProto.STRING}
"""The element types of a Constant node's attributes value_float and value_floats, value_int, ..."""


def stored_constant(node: NodeProto) -> TensorProto | SparseTensorProto | None:
    """What a Constant node stores; None where its caller sets that, or where it has not exactly one value."""
    if len(node.attribute) != 1 or node.attribute[0].ref_attr_name:
        return None
    attribute = node.attribute[0]
    name = attribute.name
    kind = AttributeProto.AttributeType.Name(attribute.type)
    if (name, kind) in (("value", "TENSOR"), ("sparse_value", "SPARSE_TENSOR")):
        tensor: TensorProto | SparseTensorProto = helper.get_attribute_value(attribute)
        return tensor

    element_kind = kind.removesuffix("S")  # FLOATS is a list of FLOAT
    if element_kind not in _CONSTANTS or name != f"value_{kind.lower()}":
        return None
    content: Any = helper.get_attribute_value(attribute)
    data_type = _CONSTANTS[element_kind]
    if kind == element_kind:
        return helper.make_tensor("", data_type, [], [content])
    return helper.make_tensor("", data_type, [len(content)], content)


def _element_type(code: int) -> str | None:
    if code == TensorProto.UNDEFINED:
        return None
    # A file may have the number of a type that a newer onnx defines.
    if code not in TensorProto.DataType.values():
        return f"element type {code}"
    return str(TensorProto.DataType.Name(code))


def _type_dim(dim: Any) -> int | str:
    # Exporters write -1 for "any size"; a size below zero is no number of entries.
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else str(dim.dim_value)
    return shown(dim.dim_param) or "?"


def _value(tensor: TensorProto) -> str | None:
    """The one entry of a stored tensor; None where it has more, none, or one that is no real number."""
    if math.prod(tensor.dims) != 1 or tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        entries = numpy_helper.to_array(tensor).reshape(-1)
    except (TypeError, ValueError, KeyError):
        return None
    number = entries[0]
    dtype = getattr(number, "dtype", None)
    if dtype is None or dtype.hasobject or dtype.kind in "cUSb":
        return None
    # A float would round integers of 64 bits. Small floats have other kinds than "f" in NumPy.
    return str(int(number)) if dtype.kind in "iu" else repr(float(number))
