"""Edit the Clip nodes of a model: inputs, declarations, and nodes inserted before others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.lint.model_file import all_graphs, subgraphs
from sonnx_clip.lint.operator_versions import is_clip
from sonnx_clip.lint.tensors import constant_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto

    from sonnx_clip.lint.profile import OnnxOperand


@dataclass(eq=False)
class Place:
    """A Clip node with the graphs around it, the outermost first; `before` is to be inserted before it."""

    node: NodeProto
    graphs: tuple[GraphProto, ...]
    index: int
    before: list[NodeProto] = field(default_factory=list)


class Editor:
    """A model under change. New nodes are collected, then inserted at once."""

    def __init__(self, model: ModelProto) -> None:
        self.places = list(_places((model.graph,)))
        self.replaced: set[str] = set()  # stored tensors, for each of which a node reads another one now
        self._graphs = list(all_graphs(model.graph))
        self._names = {name for graph in self._graphs for name in _names(graph)}
        self._constants: dict[tuple[int, bytes], str] = {}
        # By the identity of a graph, of which there is one object as long as it is kept in `_graphs`.
        self._definitions = {id(graph): _definitions(graph) for graph in self._graphs}
        self._values = {id(graph): _values(graph) for graph in self._graphs}

    def fresh(self, wanted: str) -> str:
        """Reserve a name that nothing in the model has."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def set_input(self, place: Place, operand: OnnxOperand, name: str) -> None:
        """Make a tensor an operand of a node."""
        inputs = place.node.input
        inputs.extend([""] * (operand.position + 1 - len(inputs)))
        inputs[operand.position] = name

    def constant(self, place: Place, wanted: str, tensor: TensorProto) -> str:
        """The name of a tensor as a Constant node before a node, shared by the nodes of its graph.

        A constant for each node would be right, but onnxruntime takes far more than twice as long for twice
        as many.
        """
        tensor.name = ""
        key = (id(place.graphs[-1]), tensor.SerializeToString())
        if key not in self._constants:
            name = self._constants[key] = tensor.name = self.fresh(wanted)
            place.before.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
        return self._constants[key]

    def stored(self, place: Place, name: str) -> TensorProto | None:
        """The dense tensor that the model stores under a name, None where a caller may override it."""
        definitions = (self._definitions[id(graph)] for graph in reversed(place.graphs))
        return next((found[name] for found in definitions if name in found), None)

    def declare(self, place: Place, name: str, element_type: str, dims: tuple[int, ...] | None) -> bool:
        """Declare a tensor where a node computes it; False for an input, which is the caller's, and for
        nothing new. Denotations of dimensions are kept.
        """
        defining = (graph for graph in reversed(place.graphs) if name in self._definitions[id(graph)])
        graph = next(defining, place.graphs[-1])
        values = self._values[id(graph)][name]
        if any(value.name == name for value in graph.input):
            return False
        if not values:
            values.append(graph.value_info.add(name=name))
        before = values[0].SerializeToString(deterministic=True)
        for value in values:
            value.type.tensor_type.elem_type = TensorProto.DataType.Value(element_type)
            if dims is not None:
                set_dims(value, dims)
        return bool(values[0].SerializeToString(deterministic=True) != before)

    def insert(self) -> None:
        """Insert the collected nodes, and remove the stored tensors that nothing reads now."""
        for place in reversed(self.places):  # so that the indices before it stay
            for node in reversed(place.before):
                place.graphs[-1].node.insert(place.index, node)
        read = {name for graph in self._graphs for node in graph.node for name in node.input}
        read |= {value.name for graph in self._graphs for value in (*graph.input, *graph.output)}
        for graph in self._graphs if self.replaced - read else ():
            for index in reversed(range(len(graph.initializer))):
                if graph.initializer[index].name in self.replaced - read:
                    del graph.initializer[index]


def set_dims(value: ValueInfoProto, dims: tuple[int, ...]) -> None:
    """Declare a shape of numbers."""
    shape = value.type.tensor_type.shape
    shape.SetInParent()
    for axis, size in enumerate(dims):
        dim = shape.dim[axis] if axis < len(shape.dim) else shape.dim.add()
        dim.dim_value = size


def _definitions(graph: GraphProto) -> dict[str, TensorProto | None]:
    """The names that a graph defines, with the tensors that it stores and no caller overrides."""
    found: dict[str, TensorProto | None] = {tensor.name: tensor for tensor in graph.initializer}
    found.update((name, constant_tensor(node)) for node in graph.node for name in node.output)
    found.update((value.name, None) for value in graph.input)
    return found


def _values(graph: GraphProto) -> defaultdict[str, list[ValueInfoProto]]:
    found = defaultdict(list)
    for value in (*graph.output, *graph.value_info):
        found[value.name].append(value)
    return found


def _places(graphs: tuple[GraphProto, ...]) -> Iterator[Place]:
    for index, node in enumerate(graphs[-1].node):
        if is_clip(node):
            yield Place(node, graphs, index)
        elif node.attribute:
            for _, inner in subgraphs(node):
                yield from _places((*graphs, inner))


def _names(graph: GraphProto) -> Iterator[str]:
    for one in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        yield one.name
    yield from (stored.values.name for stored in graph.sparse_initializer)
    for node in graph.node:
        yield from (node.name, *node.input, *node.output)
