"""Edit the Clip nodes of a model: which graph each is in, free names, nodes put before others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.lint.load import all_graphs, subgraphs
from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.scopes import is_clip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto

    from sonnx_clip.lint.profile import OnnxOperand


@dataclass
class Place:
    """A Clip node with the graphs around it, the outermost first."""

    node: NodeProto
    graphs: tuple[GraphProto, ...]
    index: int
    before: list[NodeProto] = field(default_factory=list)

    @property
    def graph(self) -> GraphProto:
        """The graph that the node stands in."""
        return self.graphs[-1]


class Editor:
    """A model under change. New nodes are collected, then put in at once."""

    def __init__(self, model: ModelProto) -> None:
        self.model = model
        self.places = list(_places((model.graph,)))
        self._names = _all_names(model)
        self._shared: dict[tuple[int, str, str, bytes], str] = {}
        self._stored: dict[int, dict[str, TensorProto | None]] = {}
        self._copied: set[str] = set()
        self._declared: dict[int, dict[str, list[ValueInfoProto]]] = {}

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the model has; it is then taken."""
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

    def bound(self, place: Place, operand: OnnxOperand, onnx_name: str, stored: bytes) -> str:
        """A scalar as a Constant node before a node, or that of an earlier node of its graph.

        A constant for each node would be right, but onnxruntime takes far more than twice as long for twice
        as many.
        """
        key = (id(place.graph), operand.id, onnx_name, stored)
        if key not in self._shared:
            name = self.fresh(f"{place.node.output[0]}_{operand.onnx}")
            code = TensorProto.DataType.Value(onnx_name)
            self.constant(place, TensorProto(name=name, data_type=code, raw_data=stored))
            self._shared[key] = name
        return self._shared[key]

    def scalar_copy(self, place: Place, name: str) -> str | None:
        """A stored tensor of shape [1] as a scalar Constant before a node, shared as by `bound`.

        None where no such tensor is stored, or a caller may override it.
        """
        graphs = [graph for graph in reversed(place.graphs) if name in self._definitions(graph)]
        tensor = self._definitions(graphs[0])[name] if graphs else None
        if tensor is None or list(tensor.dims) != [1] or tensor.data_location == TensorProto.EXTERNAL:
            return None
        key = (id(place.graph), name, "scalar", b"")
        if key not in self._shared:
            scalar = TensorProto()
            scalar.CopyFrom(tensor)
            del scalar.dims[:]
            scalar.name = self._shared[key] = self.fresh(f"{name}_scalar")
            self.constant(place, scalar)
            self._copied.add(name)
        return self._shared[key]

    def _definitions(self, graph: GraphProto) -> dict[str, TensorProto | None]:
        """The names that a graph defines, with the tensors that it stores and no caller overrides."""
        if id(graph) not in self._stored:
            found: dict[str, TensorProto | None] = {tensor.name: tensor for tensor in graph.initializer}
            found.update((name, _constant_tensor(node)) for node in graph.node for name in node.output)
            found.update((value.name, None) for value in graph.input)
            self._stored[id(graph)] = found
        return self._stored[id(graph)]

    def constant(self, place: Place, tensor: TensorProto) -> None:
        """A Constant node before a node."""
        place.before.append(helper.make_node("Constant", [], [tensor.name], name=tensor.name, value=tensor))

    def declare(self, graph: GraphProto, name: str, element_type: str, dims: tuple[int, ...] | None) -> bool:
        """Declare a tensor that a node of this graph computes; False where nothing is new.

        Denotations of its dimensions stay.
        """
        declared = self._declarations(graph)
        values = declared.get(name)
        if values is None:
            graph.value_info.append(ValueInfoProto(name=name))
            values = declared[name] = [graph.value_info[-1]]
        before = values[0].SerializeToString(deterministic=True)
        for value in values:
            tensor = value.type.tensor_type
            tensor.elem_type = TensorProto.DataType.Value(element_type)
            if dims is not None:
                tensor.shape.SetInParent()
                for axis, number in enumerate(dims):
                    dim = tensor.shape.dim[axis] if axis < len(tensor.shape.dim) else tensor.shape.dim.add()
                    dim.dim_value = number
        return bool(values[0].SerializeToString(deterministic=True) != before)

    def _declarations(self, graph: GraphProto) -> dict[str, list[ValueInfoProto]]:
        found = self._declared.get(id(graph))
        if found is None:
            found = self._declared[id(graph)] = {}
            for value in (*graph.output, *graph.value_info):
                found.setdefault(value.name, []).append(value)
        return found

    def insert(self) -> None:
        """Put the collected nodes in, at once, since each insertion moves the rest of a graph."""
        by_graph: dict[int, list[Place]] = {}
        for place in self.places:
            if place.before:
                by_graph.setdefault(id(place.graph), []).append(place)
        inner_first = sorted(by_graph.values(), key=lambda places: -len(places[0].graphs))
        for places in inner_first:
            nodes = places[0].graph.node
            result: list[NodeProto] = []
            done = 0
            for place in places:
                result += [*nodes[done : place.index], *place.before]
                done = place.index
            result += nodes[done:]
            del nodes[:]
            nodes.extend(result)
        self._remove_unread()

    def _remove_unread(self) -> None:
        """Remove the stored tensors that were copied and that nothing reads now."""
        graphs = list(all_graphs(self.model.graph)) if self._copied else []
        read = {name for graph in graphs for node in graph.node for name in node.input}
        read |= {value.name for graph in graphs for value in (*graph.input, *graph.output)}
        unread = self._copied - read
        for graph in graphs if unread else ():
            others = [n for n in graph.node if not (n.op_type == "Constant" and unread.issuperset(n.output))]
            _replace(graph.node, others)
            for stored in (graph.initializer, graph.value_info):
                _replace(stored, [item for item in stored if item.name not in unread])


def _replace(items: Any, kept: list[Any]) -> None:
    """Keep these of a repeated field at once, since each removal moves the rest."""
    if len(kept) < len(items):
        del items[:]
        items.extend(kept)


def _constant_tensor(node: NodeProto) -> Any:
    """The dense numbers that a Constant node stores."""
    if node.op_type != "Constant" or not is_default_domain(node.domain) or len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    if attribute.ref_attr_name:
        return None
    match attribute.name:
        case "value":
            return attribute.t
        case "value_floats":
            return helper.make_tensor("", TensorProto.FLOAT, [len(attribute.floats)], attribute.floats)
        case "value_ints":
            return helper.make_tensor("", TensorProto.INT64, [len(attribute.ints)], attribute.ints)
    return None


def _places(graphs: tuple[GraphProto, ...]) -> Iterator[Place]:
    for index, node in enumerate(graphs[-1].node):
        if is_clip(node):
            yield Place(node, graphs, index)
        elif node.attribute:
            for _, inner in subgraphs(node):
                yield from _places((*graphs, inner))


def _all_names(model: ModelProto) -> set[str]:
    found: set[str] = set()
    for graph in all_graphs(model.graph):
        found.update(value.name for value in (*graph.input, *graph.output, *graph.value_info))
        found.update(tensor.name for tensor in graph.initializer)
        found.update(stored.values.name for stored in graph.sparse_initializer)
        for node in graph.node:
            found.update((node.name, *node.input, *node.output))
    return found
