"""What shape inference finds of the tensors of Clip, declared in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, ValueInfoProto

from sonnx_clip.graph.declared_tensors import from_type, quoted, show_dims, shown, symbols
from sonnx_clip.graph.edit import graphs, main_path
from sonnx_clip.graph.normalise_report import Step, did
from sonnx_clip.graph.profile import profile
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import GraphProto, ModelProto

    from sonnx_clip.graph.arguments import Argument
    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.declared_tensors import Dims
    from sonnx_clip.graph.graph_names import GraphScope

_ELEMENT_TYPES = frozenset(TensorProto.DataType.keys())


def set_shapes(model: ModelProto, shapes: Mapping[str, Sequence[int]], path: Path) -> tuple[str, ...]:
    """Give inputs of the main graph the sizes that the user chooses; returns what was changed.

    Raises:
        UserError: the model has no such input, or its declaration says otherwise.
    """
    found: list[str] = []
    inputs = {value.name: value for value in model.graph.input}
    for name, sizes in shapes.items():
        value = inputs.get(name)
        where = shown(str(path))
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            known = ", ".join(quoted(one) for one in inputs)
            raise UserError(
                f"the model has no input {quoted(name)} that is a tensor", where, f"its inputs are {known}"
            )
        tensor = value.type.tensor_type
        declared = list(tensor.shape.dim)
        fits = not tensor.HasField("shape") or (
            len(declared) == len(sizes)
            and all(
                dim.dim_value in (0, size) or dim.dim_value < 0
                for dim, size in zip(declared, sizes, strict=True)
            )
        )
        info = from_type(value.type, "graph input")
        before = show_dims(info.dims) if info and info.dims is not None else "no shape"
        if not fits:
            raise UserError(
                f"input {quoted(name)} is declared with {before}; {show_dims(tuple(sizes))} does not fit",
                where,
                "--input-shape gives numbers to sizes that the model leaves open",
            )
        if [dim.dim_value for dim in declared] == list(sizes) and tensor.HasField("shape"):
            continue
        tensor.shape.SetInParent()
        del tensor.shape.dim[len(sizes) :]
        for axis, size in enumerate(sizes):
            dim = tensor.shape.dim[axis] if axis < len(declared) else tensor.shape.dim.add()
            dim.dim_value = size
        found.append(f"input {quoted(name)}: {before} became {show_dims(tuple(sizes))} (--input-shape)")
    return tuple(found)


def declare_inferred(
    model: ModelProto, nodes: Sequence[tuple[ClipNode, Sequence[Argument]]]
) -> list[list[Step]]:
    """Declare the inferred element types and shapes of the tensors of Clip nodes.

    Only what nodes compute is declared, and only shapes that are numbers throughout: the inputs of a graph
    say what a caller may pass, and that is not changed.

    Args:
        model: changed in place.
        nodes: the Clip nodes outside functions, each with its operands and its result.
    """
    by_path = {path: _Places(graph) for path, graph in graphs(model.graph, main_path(model))}
    return [
        [
            step
            for tensor in tensors
            if tensor.name is not None and (step := _declare(by_path, node, tensor, tensor.name)) is not None
        ]
        for node, tensors in nodes
    ]


class _Places:
    """Where a graph declares its tensors, by their names."""

    def __init__(self, graph: GraphProto) -> None:
        self.graph = graph
        self.inputs = {value.name for value in graph.input}
        self.declared: dict[str, list[ValueInfoProto]] = {}
        for value in (*graph.output, *graph.value_info):
            self.declared.setdefault(value.name, []).append(value)

    def add(self, value: ValueInfoProto) -> None:
        """Declare a tensor that has no declaration yet."""
        self.graph.value_info.append(value)
        self.declared[value.name] = [self.graph.value_info[-1]]


def _declare(by_path: dict[str, _Places], node: ClipNode, tensor: Argument, name: str) -> Step | None:
    if tensor.contradiction or tensor.not_tensor or any(info.sparse for info in tensor.declared):
        return None
    element_type, dims = tensor.known_type, _explicit(tensor)
    new_type = element_type is not None and not tensor.element_types
    new_dims = dims is not None and (tensor.dims is None or bool(symbols(tensor.dims)))
    if element_type is None or not (new_type or new_dims) or element_type not in _ELEMENT_TYPES:
        return None
    places = by_path.get(_defining(node.scope, name))
    if places is None or name in places.inputs:
        return None
    if not _write(places, name, element_type, dims if new_dims else None):
        return None
    shape = f" {show_dims(dims)}" if new_dims and dims is not None else ""
    etype = profile().element_type(element_type)
    is_result = tensor.operand.role == "result"
    theorems = (etype.shown_by("C1", "holds"), etype.shown_by("C3", "holds")) if etype and is_result else ()
    what = f"{tensor.id} {quoted(name)} is declared as {element_type}{shape} now"
    return did("shape_declared", what, "found by onnx's shape inference; it changes no value", theorems)


def _explicit(tensor: Argument) -> Dims | None:
    """A shape of numbers that inference finds."""
    found = (info.dims for info in (tensor.derived, tensor.inferred) if info is not None)
    return next((dims for dims in found if dims is not None and not symbols(dims)), None)


def _defining(scope: GraphScope, name: str) -> str:
    """The path of the graph that defines a name."""
    current: GraphScope | None = scope
    while current is not None and name not in current.defined:
        current = current.outer
    return current.path if current else ""


def _write(places: _Places, name: str, element_type: str, dims: Dims | None) -> bool:
    """Declare a tensor; False where that was done before, for another node that has it too."""
    declared = places.declared.get(name, [])
    target = declared[0] if declared else ValueInfoProto(name=name)
    before = target.SerializeToString(deterministic=True)
    for value in declared or [target]:
        tensor = value.type.tensor_type
        tensor.elem_type = TensorProto.DataType.Value(element_type)
        if dims is not None:
            tensor.shape.SetInParent()
            for axis, number in enumerate(dims):  # each dimension keeps its denotation
                dim = tensor.shape.dim[axis] if axis < len(tensor.shape.dim) else tensor.shape.dim.add()
                dim.dim_value = int(number)
    if not declared:
        places.add(target)
    return bool(target.SerializeToString(deterministic=True) != before)
