"""Edit the Clip nodes of a model: inputs, declarations, and nodes inserted before others."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.lint.model_file import all_names, all_tensors, bodies

if TYPE_CHECKING:
    from collections.abc import Collection

    from sonnx_clip.lint.clip_nodes import ClipNode
    from sonnx_clip.root.signature import Operand

_ELEMENT_TYPES = frozenset(TensorProto.DataType.keys())


class _NewNode(NamedTuple):
    """A node to insert in a graph, before the node that has its position."""

    graph: GraphProto
    position: int
    node: NodeProto


class Editor:
    """A model under change, whose Clip nodes are edited in their order. New nodes are inserted at the end."""

    def __init__(self, model: ModelProto) -> None:
        # Stored tensors, for each of which a node reads another one now.
        self.replaced: set[str] = set()
        self._graphs = list(bodies(model.graph))
        self._names = set(all_names(model, all_tensors(model)))
        self._new: list[_NewNode] = []
        # Names of constants by the identity of their graph and their content, which has no name. A graph is
        # one object as long as it is kept in `_graphs`.
        self._constants: dict[tuple[int, bytes], str] = {}
        # By the identity of the graph and the name.
        self._declarations: defaultdict[tuple[int, str], list[ValueInfoProto]] = defaultdict(list)
        for graph in self._graphs:
            for value in (*graph.output, *graph.value_info):
                self._declarations[id(graph), value.name].append(value)

    def fresh(self, wanted: str) -> str:
        """Reserve a name that nothing in the model has."""
        name = wanted
        number = 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def set_input(self, place: ClipNode, operand: Operand, name: str) -> None:
        """Make a tensor an operand of a node."""
        inputs = place.proto.input
        position = operand.position
        # Inputs before it that are not set get the empty name, so that it has its position.
        missing = position + 1 - len(inputs)
        inputs.extend([""] * missing)
        inputs[position] = name

    def add(self, place: ClipNode, node: NodeProto) -> None:
        """Have a node inserted before another one."""
        self._new.append(_NewNode(place.scope.body, place.index, node))

    def constant(self, place: ClipNode, wanted: str, tensor: TensorProto) -> str:
        """The name of a tensor as a Constant node before a node, shared by the nodes of its graph.

        A constant for each node would be right, but onnxruntime takes far more than twice as long for twice
        as many.
        """
        tensor.name = ""  # equal constants have one key, whatever they are called
        key = (id(place.scope.body), tensor.SerializeToString())
        if key not in self._constants:
            name = self.fresh(wanted)
            tensor.name = name
            self._constants[key] = name
            node = helper.make_node("Constant", [], [name], name=name, value=tensor)
            self.add(place, node)
        return self._constants[key]

    def declare(
        self,
        place: ClipNode,
        name: str,
        element_type: str | None,
        dims: tuple[int, ...] | None,
    ) -> bool:
        """Declare a tensor where a node computes it; False for an input, which is the caller's, for nothing
        new, and for no element type of ONNX. Denotations of dimensions are kept.
        """
        if element_type is None or element_type not in _ELEMENT_TYPES:
            return False
        graph = place.scope.defining(name).body
        if any(value.name == name for value in graph.input):
            return False
        declarations = self._declarations[id(graph), name]
        if not declarations:
            declarations.append(graph.value_info.add(name=name))
        # Whether something is new shows in the bytes: a type or a size that is declared already is none.
        first = declarations[0]
        before = first.SerializeToString(deterministic=True)
        # A name may be declared as an output and in value_info; all of its declarations have to agree.
        code = TensorProto.DataType.Value(element_type)
        for value in declarations:
            value.type.tensor_type.elem_type = code
            if dims is not None:
                set_dims(value, dims)
        after = first.SerializeToString(deterministic=True)
        return bool(after != before)

    def insert(self) -> None:
        """Insert the collected nodes, and remove the stored tensors that nothing reads now."""
        for new in reversed(self._new):  # so that the indices before it stay
            new.graph.node.insert(new.position, new.node)

        # A graph reads the tensors of the graphs around it, so all of them are looked through.
        read: set[str] = set()
        for graph in self._graphs:
            for node in graph.node:
                read.update(node.input)
            for value in (*graph.input, *graph.output):
                read.add(value.name)
        unread = self.replaced - read
        if unread:
            for graph in self._graphs:
                _remove_stored(graph, unread)


def _remove_stored(graph: GraphProto, names: Collection[str]) -> None:
    stored = graph.initializer
    for index in reversed(range(len(stored))):  # so that the indices before it stay
        if stored[index].name in names:
            del stored[index]


def set_dims(value: ValueInfoProto, dims: tuple[int, ...]) -> None:
    """Declare a shape of numbers."""
    shape = value.type.tensor_type.shape
    shape.SetInParent()  # a shape without axes, of a scalar, is declared too
    # Dimensions that are there are changed and not replaced, since they may have denotations.
    for axis, size in enumerate(dims):
        dim = shape.dim[axis] if axis < len(shape.dim) else shape.dim.add()
        dim.dim_value = size
