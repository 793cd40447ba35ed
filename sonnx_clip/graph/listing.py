"""The names in a sequence of nodes, each read from protobuf once.

Reading a field through protobuf costs far more than reading a tuple, and a model may have 100,000 nodes.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, count
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx import NodeProto

_INPUT, _OUTPUT = attrgetter("input"), attrgetter("output")
_ATTRIBUTES = attrgetter("attribute")
_ALL = itemgetter(slice(None))  # twice as fast as list()
_KIND = attrgetter("domain", "op_type", "overload")


class Listing:
    """Nodes with their names, by position. It holds while nobody changes the nodes."""

    def __init__(self, nodes: Sequence[NodeProto]) -> None:
        self.nodes = list(nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def inputs(self) -> list[list[str]]:
        """The names that each node reads; "" where an input is not set."""
        return list(map(_ALL, map(_INPUT, self.nodes)))

    @cached_property
    def outputs(self) -> list[list[str]]:
        """The names that each node gives; "" where an output is not used."""
        return list(map(_ALL, map(_OUTPUT, self.nodes)))

    @cached_property
    def kinds(self) -> list[tuple[str, str, str]]:
        """Domain, operator and overload of each node."""
        return list(map(_KIND, self.nodes))

    @cached_property
    def carriers(self) -> dict[int, NodeProto]:
        """The nodes that have attributes, by their positions."""
        flags = map(_ATTRIBUTES, self.nodes)
        return {index: node for index, node, there in zip(count(), self.nodes, flags, strict=False) if there}

    @property
    def made(self) -> Iterator[str]:
        """The names of all results, in order."""
        return filter(None, chain.from_iterable(self.outputs))

    def named(self, operator: str) -> list[int]:
        """The positions of the nodes of an operator, whatever its domain."""
        return [index for index, kind in enumerate(self.kinds) if kind[1] == operator]


class Listings:
    """The listings of a model that is read and not changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Sequence[NodeProto], Listing]] = {}

    def of(self, nodes: Sequence[NodeProto]) -> Listing:
        """The listing of these nodes, made where it is the first time."""
        found = self._known.get(id(nodes))
        if found is None:
            # The field itself is kept too: its id is its own as long as it lives.
            found = self._known[id(nodes)] = (nodes, Listing(nodes))
        return found[1]
