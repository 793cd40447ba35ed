"""The graph of a user's model, indexed: its constants, and which nodes give and read each value.

Graphs in functions and in bodies of nodes are not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import numpy_helper

from sonnx_clip.lint.tensors import stored_constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.root.dtypes import Array


class ModelGraph:
    """The graph of a model.

    Args:
        model: with its constants loaded.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self.nodes: Sequence[onnx.NodeProto] = list(graph.node)
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._producers: dict[str, int] = {}
        self._readers: dict[str, list[int]] = defaultdict(list)
        for place, node in enumerate(self.nodes):
            self._add(place, node)
        self.declared: dict[str, onnx.ValueInfoProto] = {}
        """The declarations of values, by name."""
        for declarations in (graph.value_info, graph.input, graph.output):
            for value in declarations:
                self.declared[value.name] = value
        self.results = frozenset(value.name for value in graph.output)
        """The names of its outputs."""

    def _add(self, place: int, node: onnx.NodeProto) -> None:
        """Index a node; a Constant node is a constant, unless it stores something sparse or nothing."""
        if node.op_type == "Constant":
            stored = stored_constant(node)
            if isinstance(stored, onnx.TensorProto):
                self._constants[node.output[0]] = stored
                return
        for name in node.output:
            self._producers[name] = place
        for name in node.input:
            self._readers[name].append(place)

    def clips(self) -> Iterator[int]:
        """The places of its Clips."""
        for place, node in enumerate(self.nodes):
            is_standard = node.domain in ("", "ai.onnx")
            if is_standard and node.op_type == "Clip":
                yield place

    def producer(self, name: str) -> int | None:
        """The place of the node that gives a value; None for an input or a constant."""
        return self._producers.get(name)

    def readers(self, name: str) -> Sequence[int]:
        """The places of the nodes that read a value."""
        return self._readers.get(name, [])

    def only_reader(self, name: str) -> int | None:
        """The place of the one node that reads a value which is no output; None if there are others."""
        readers = self.readers(name)
        # Whoever runs the model reads its outputs, too.
        if len(readers) != 1 or name in self.results:
            return None
        return readers[0]

    def is_constant(self, name: str) -> bool:
        """Whether a value is an initializer, or the tensor of a Constant node."""
        return name in self._constants

    def constant(self, name: str) -> Array | None:
        """The value of a constant; None for another value."""
        tensor = self._constants.get(name)
        if tensor is None:
            return None
        return numpy_helper.to_array(tensor)

    def bounds(self, clip: onnx.NodeProto) -> tuple[Array | None, Array | None]:
        """The lower and the upper bound of a Clip, of shape (); None for one that is absent or no constant.

        They are attributes until operator set 10, and inputs since then.
        """
        if clip.attribute:
            values: dict[str, Array] = {}
            for attribute in clip.attribute:
                values[attribute.name] = np.asarray(attribute.f, np.float32)
            return values.get("min"), values.get("max")
        # The inputs behind X, empty where they are absent.
        low_name, high_name = [*clip.input[1:], "", ""][:2]
        low = self._scalar_constant(low_name)
        high = self._scalar_constant(high_name)
        return low, high

    def _scalar_constant(self, name: str) -> Array | None:
        """A constant of one entry, of shape (); None for another value."""
        constant = self.constant(name)
        if constant is None or constant.size != 1:
            return None
        return constant.reshape(())


def name_of(node: onnx.NodeProto) -> str:
    """The name of a node, or what else tells it from the others."""
    if node.name:
        return str(node.name)
    return f"{node.op_type} that gives {node.output[0]}"
