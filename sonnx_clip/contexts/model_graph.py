"""The graph of a user's model, indexed: its constants, and which nodes give and read each value.

Graphs in functions and in bodies of nodes are not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

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
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self._constants[node.output[0]] = node.attribute[0].t
                continue
            for name in node.output:
                self._producers[name] = place
            for name in node.input:
                self._readers[name].append(place)
        declared = [*graph.value_info, *graph.input, *graph.output]
        self.declared: Mapping[str, onnx.ValueInfoProto] = {value.name: value for value in declared}
        """The declarations of values, by name."""
        self.results = frozenset(value.name for value in graph.output)
        """The names of its outputs."""

    def clips(self) -> Iterator[int]:
        """The places of its Clips."""
        for place, node in enumerate(self.nodes):
            if node.op_type == "Clip" and node.domain in ("", "ai.onnx"):
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
        if len(readers) != 1 or name in self.results:
            return None
        return readers[0]

    def is_constant(self, name: str) -> bool:
        """Whether a value is an initializer, or the tensor of a Constant node."""
        return name in self._constants

    def constant(self, name: str) -> Array | None:
        """The value of a constant; None for another value."""
        tensor = self._constants.get(name)
        return None if tensor is None else numpy_helper.to_array(tensor)

    def bounds(self, clip: onnx.NodeProto) -> tuple[Array | None, Array | None]:
        """The lower and the upper bound of a Clip, of shape (); None for one that is absent or no constant.

        They are attributes until operator set 10, and inputs since then.
        """
        if clip.attribute:
            values = {attribute.name: attribute.f for attribute in clip.attribute}
            return _scalar(values.get("min")), _scalar(values.get("max"))
        low, high = [*clip.input, "", ""][1:3]
        return _only_entry(self.constant(low)), _only_entry(self.constant(high))


def name_of(node: onnx.NodeProto) -> str:
    """The name of a node, or what else tells it from the others."""
    return str(node.name) or f"{node.op_type} that gives {node.output[0]}"


def _scalar(value: float | None) -> Array | None:
    return None if value is None else np.asarray(value, np.float32)


def _only_entry(constant: Array | None) -> Array | None:
    if constant is None or constant.size != 1:
        return None
    return constant.reshape(())
