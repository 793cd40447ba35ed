"""Nodes that wait for each other: no order of computation exists, and the model is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.graph.clip_nodes import all_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import NodeProto

    from sonnx_clip.graph.listing import Listing


def circular(listing: Listing) -> int | None:
    """The position of a node that needs its own result, through others or itself; None where none does."""
    if _in_order(listing):
        return None
    nodes = listing.nodes
    maker = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needs = [_needs(node, maker) for node in nodes]
    users: dict[int, list[int]] = {}
    for index, wanted in enumerate(needs):
        for earlier in wanted:
            users.setdefault(earlier, []).append(index)
    open_needs = [len(wanted) for wanted in needs]
    ready = [index for index, count in enumerate(open_needs) if count == 0]
    while ready:
        for user in users.get(ready.pop(), ()):
            open_needs[user] -= 1
            if open_needs[user] == 0:
                ready.append(user)
    return next((index for index, count in enumerate(open_needs) if count), None)


def _in_order(listing: Listing) -> bool:
    """Every node stands behind those whose results it reads, which is the order that ONNX asks for."""
    made: set[str] = set()
    read_before: set[str] = set()
    reads = listing.inputs
    if listing.carriers:
        reads = reads.copy()
        for index, node in listing.carriers.items():
            reads[index] = list(_read(node))
    for names, results in zip(reads, listing.outputs, strict=True):
        for name in names:
            if name not in made:
                read_before.add(name)
        made.update(results)
    read_before.discard("")
    return made.isdisjoint(read_before)


def _needs(node: NodeProto, maker: dict[str, int]) -> set[int]:
    """The nodes of the same graph whose results a node or a graph within it reads."""
    return {maker[name] for name in _read(node) if name in maker}


def _read(node: NodeProto) -> Iterable[str]:
    inside = list(all_nodes([node]))
    own = {name for inner in inside[1:] for name in inner.output}
    return [*node.input, *(name for inner in inside[1:] for name in inner.input if name not in own)]
