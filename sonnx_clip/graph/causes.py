"""Where shapes that are not known in numbers come from: an input whose sizes are open, or a node.

A model with one open input has it in every shape behind that input; people want to read of it once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph.clip_nodes import inner_graphs, is_clip
from sonnx_clip.graph.declared_tensors import quoted, show_dims, shown, symbols
from sonnx_clip.graph.graph_names import Listings, resolve
from sonnx_clip.graph.verdict import Cause
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx import NodeProto

    from sonnx_clip.graph.clip_nodes import ClipNode
    from sonnx_clip.graph.declared_tensors import Dims
    from sonnx_clip.graph.graph_names import GraphScope
    from sonnx_clip.graph.verdict import NodeReport

    Place = tuple[GraphScope, str]
    Key = tuple[int, str]

_SETTLES = "sonnx-clip normalise MODEL.onnx -o OUT.onnx --input-shape"
_DECLARE = "declare it (value_info), or let it follow from constants"


@dataclass(frozen=True)
class _Root:
    """An open tensor that is computed from none; the fields are those of `Cause`."""

    kind: str
    graph: str
    tensor: str
    title: str
    problem: str
    remedy: str


def causes_of(nodes: Sequence[ClipNode], reports: Sequence[NodeReport]) -> tuple[Cause, ...]:
    """The root causes of all shapes that Clip nodes have and that are not known in numbers.

    Args:
        nodes: the Clip nodes.
        reports: one for each node, in the same order.
    """
    trace = _Trace()
    followers: dict[Key, list[int]] = {}
    for number, (node, report) in enumerate(zip(nodes, reports, strict=True)):
        roots: set[Key] = set()
        for argument, name in report.tensors:
            if name is not None and argument in report.findings.open:
                roots |= trace.roots_of((node.scope, name))
        for root in roots:
            followers.setdefault(root, []).append(number)
    return tuple(_cause(root, followers[key]) for key, root in trace.roots.items() if key in followers)


def _cause(root: _Root, nodes: Sequence[int]) -> Cause:
    follow = f"{counted(len(nodes), 'Clip node')} {'follows' if len(nodes) == 1 else 'follow'} from it"
    message = f"{root.title} {root.problem}: {follow}"
    return Cause(root.kind, root.graph, root.tensor, root.title, message, root.remedy, tuple(nodes))


@dataclass
class _Trace:
    """Goes from a tensor to those from whose shapes its own follows, as far as they are open."""

    roots: dict[Key, _Root] = field(default_factory=dict)
    known: dict[Key, frozenset[Key]] = field(default_factory=dict)
    makers: dict[int, dict[str, int]] = field(default_factory=dict)
    scopes: list[GraphScope] = field(default_factory=list)

    def roots_of(self, place: Place) -> frozenset[Key]:
        """The roots of an open tensor; at least one."""
        start = _defining(place)
        waiting = [start]
        entered: set[Key] = set()  # those on the way from the start, and those that are known by now
        while waiting:  # not by recursion: a chain may have 100,000 nodes
            here = waiting[-1]
            key = _key(here)
            if key in self.known:
                waiting.pop()
                continue
            entered.add(key)
            before = self._before(here)
            more = [one for one in before if _key(one) not in self.known and _key(one) not in entered]
            if more:
                waiting += more
                continue
            found = {self.known[_key(one)] for one in before if _key(one) in self.known}
            if not found:
                self.roots[key] = self._root(here)
                self.scopes.append(here[0])  # its id is its own as long as it lives
                found = {frozenset([key])}
            self.known[key] = found.pop() if len(found) == 1 else frozenset().union(*found)
            waiting.pop()
        return self.known[_key(start)]

    def _before(self, place: Place) -> list[Place]:
        """The open tensors from which the shape of this one follows, each where it is defined."""
        scope, name = place
        index, call = self._maker(scope, name), scope.call
        names: Iterable[str] = ()
        if index is not None:
            names = scope.listing.inputs[index]
            node = scope.listing.nodes[index]
            if is_clip(node):
                names = scope.listing.inputs[index][:1]  # the result has the shape of the first operand (C1)
            elif index in scope.listing.carriers:
                names = [*names, *_read_inside(node)]
        elif scope.carrier is not None and scope.outer is not None:  # an input of the body of a Loop or Scan
            outer, carrier = scope.outer, scope.carrier
            scope, names = outer, outer.listing.inputs[carrier]
        elif call is not None and name in call.inputs:
            scope, names = call.scope, [call.inputs[name]]
        return [_defining((scope, one)) for one in dict.fromkeys(names) if one and _is_open((scope, one))]

    def _maker(self, scope: GraphScope, name: str) -> int | None:
        makers = self.makers.get(id(scope))
        if makers is None:
            outputs = enumerate(scope.listing.outputs)
            makers = self.makers[id(scope)] = {one: index for index, made in outputs for one in made}
            self.scopes.append(scope)
        return makers.get(name)

    def _root(self, place: Place) -> _Root:
        scope, name = place
        index = self._maker(scope, name)
        if index is not None:
            node = scope.listing.nodes[index]
            own = f" {quoted(node.name)}" if node.name else ""
            title = f"node {index}{own} ({shown(node.op_type)}) of {scope.path}"
            problem = f"gives {quoted(name)} a shape that inference does not find from those that it reads"
            return _Root("node", scope.path, name, title, problem, _DECLARE)
        found = resolve(scope, name)
        infos = [info for info in (*found.declared, found.inferred) if info is not None]
        dims = next((info.dims for info in infos if info.dims is not None), None)
        problem = "has no shape" if dims is None else f"is dynamic, {show_dims(dims)}"
        title = f"input {quoted(name)}"
        other = next((info.not_tensor for info in infos if info.not_tensor), None)
        if other:
            return _Root("input", scope.path, name, title, f"is a {other}, which has no shape", _DECLARE)
        if scope.outer is not None or scope.in_function:
            return _Root("input", scope.path, name, f"{title} of {scope.path}", problem, _DECLARE)
        return _Root("input", scope.path, name, title, problem, f"{_SETTLES} {shown(name)}={_sizes(dims)}")


def _sizes(dims: Dims | None) -> str:
    if dims is None:
        return "1,3,64,96"
    return ",".join("…" if isinstance(dim, str) else str(dim) for dim in dims)


def _read_inside(node: NodeProto) -> list[str]:
    """The names that the subgraphs of a node read and do not define."""
    graphs = [graph for _, graph in inner_graphs([node], Listings())]
    nodes = [inner for graph in graphs for inner in graph.node]
    own = {name for inner in nodes for name in inner.output}
    own |= {value.name for graph in graphs for value in (*graph.input, *graph.initializer)}
    return [name for inner in nodes for name in inner.input if name not in own]


def _defining(place: Place) -> Place:
    """The place with the scope that defines the name; that of its use where none does."""
    scope, name = place
    current: GraphScope | None = scope
    while current is not None:
        if name in current.defined:
            return current, name
        current = current.outer
    return scope, name


def _key(place: Place) -> Key:
    return id(place[0]), place[1]


def _is_open(place: Place) -> bool:
    """Neither the model nor inference knows the shape in numbers."""
    found = resolve(*place)
    infos = (*found.declared, found.inferred, found.derived)
    return not any(info and info.dims is not None and not symbols(info.dims) for info in infos)
