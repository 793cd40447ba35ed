"""Changes to the graphs of a model: where a graph is, names that are free, nodes put before others, numbers
as stored scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from onnx import NodeProto, TensorProto, helper

from sonnx_clip.graph.clip_nodes import inner_path, is_clip, subgraphs
from sonnx_clip.graph.declared_tensors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence, Sequence

    from onnx import GraphProto, ModelProto

    from sonnx_clip.graph.profile import OnnxOperand


def scalar_tensor(name: str, onnx_name: str, stored: bytes) -> TensorProto:
    """A stored scalar."""
    return TensorProto(name=name, data_type=TensorProto.DataType.Value(onnx_name), raw_data=stored)


# --- Changes to the graphs of a model: where a graph is, names that are free, nodes put before others -------


def main_path(model: ModelProto) -> str:
    """The path of the main graph, for people."""
    return f"graph {quoted(model.graph.name)}"


def graphs(graph: GraphProto, path: str) -> Iterator[tuple[str, GraphProto]]:
    """A graph and those within it, each with its path as `Scope.path` has it."""
    yield path, graph
    for index, node in enumerate(graph.node):
        for attribute, inner in subgraphs(node):
            yield from graphs(inner, inner_path(path, node, index, attribute))


def clips(graph: GraphProto, path: str) -> Iterator[tuple[str, NodeProto]]:
    """The Clip nodes of a graph and of those within it as lint meets them, each with its graph's path."""
    for index, node in enumerate(graph.node):
        if is_clip(node):
            yield path, node
        for attribute, inner in subgraphs(node):
            yield from clips(inner, inner_path(path, node, index, attribute))


def all_names(model: ModelProto) -> set[str]:
    """Every name of a tensor or node in the graphs of a model."""
    found: set[str] = set()
    for _, graph in graphs(model.graph, ""):
        found.update(value.name for value in (*graph.input, *graph.output, *graph.value_info))
        found.update(tensor.name for tensor in graph.initializer)
        found.update(stored.values.name for stored in graph.sparse_initializer)
        for node in graph.node:
            found.update((node.name, *node.input, *node.output))
    return found


def free_name(wanted: str, taken: set[str]) -> str:
    """A name that is not taken, which it then is."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name


def insert_all(nodes: MutableSequence[NodeProto], inserts: Sequence[tuple[int, list[NodeProto]]]) -> None:
    """Put nodes before those at these positions, in order; at once, since each insertion moves the rest."""
    if not inserts:
        return
    result: list[NodeProto] = []
    done = 0
    for index, more in inserts:
        result += [*nodes[done:index], *more]
        done = index
    result += nodes[done:]
    del nodes[:]
    nodes.extend(result)


@dataclass
class Editor:
    """A model under change: nodes to be put before others are collected, then put in at once."""

    model: ModelProto
    names: set[str]
    before: dict[int, list[NodeProto]] = field(default_factory=dict)

    shared: dict[tuple[str, str, str, bytes], str] = field(default_factory=dict)

    @cached_property
    def clips(self) -> list[NodeProto]:
        """The Clip nodes outside local functions, in the order of `clips`."""
        return [node for _, node in clips(self.model.graph, main_path(self.model))]

    @cached_property
    def paths(self) -> list[str]:
        """The path of the graph of each Clip node, in the order of `clips`."""
        return [path for path, _ in clips(self.model.graph, main_path(self.model))]

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the model has."""
        return free_name(wanted, self.names)

    def set_input(self, node: NodeProto, operand: OnnxOperand, name: str) -> None:
        """Make a tensor an operand of a node."""
        node.input.extend([""] * (operand.position + 1 - len(node.input)))
        node.input[operand.position] = name

    def put_before(self, place: int, node: NodeProto) -> None:
        """A node before the Clip node at this place of the order of `clips`."""
        self.before.setdefault(place, []).append(node)

    def constant_before(self, place: int, tensor: TensorProto) -> None:
        """A Constant node before the Clip node at this place of the order of `clips`."""
        made = helper.make_node("Constant", [], [tensor.name], name=tensor.name, value=tensor)
        self.put_before(place, made)

    def bound_before(self, place: int, operand: OnnxOperand, onnx_name: str, stored: bytes) -> str:
        """A scalar before the Clip node at this place, or the same one of an earlier node of its graph.

        The nodes have to be gone through in the order of `clips`. A constant for each node would be right,
        but onnxruntime takes far more than twice as long for twice as many.
        """
        key = (self.paths[place], operand.id, onnx_name, stored)
        if key not in self.shared:
            wanted = f"{self.clips[place].output[0]}_{operand.onnx}"
            tensor = scalar_tensor(self.fresh(wanted), onnx_name, stored)
            self.constant_before(place, tensor)
            self.shared[key] = tensor.name
        return self.shared[key]

    def insert(self) -> None:
        """Put the collected nodes in."""
        self._order(self.model.graph, self.before, 0)
        self.before = {}

    def _order(self, graph: GraphProto, places: dict[int, list[NodeProto]], count: int) -> int:
        """Insert within a graph; returns how many Clip nodes were met so far, in the order of `clips`."""
        inserts: list[tuple[int, list[NodeProto]]] = []
        for index, node in enumerate(graph.node):
            if is_clip(node):
                if count in places:
                    inserts.append((index, places[count]))
                count += 1
            for _, inner in subgraphs(node):
                count = self._order(inner, places, count)
        insert_all(graph.node, inserts)
        return count
