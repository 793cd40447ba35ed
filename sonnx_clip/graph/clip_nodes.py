"""Every Clip node of a model: main graph, subgraphs at any depth, local functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto

from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.graph_names import GraphScope, graph_scope, is_default_domain
from sonnx_clip.graph.schemas import version_of
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.graph.graph_names import Listings


# A model may have 100,000 of these, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Site:
    """A node, with the scope that gives its names a meaning and its position in its graph, from 0."""

    proto: NodeProto
    scope: GraphScope
    index: int

    @property
    def place(self) -> str:
        """Where the node is, for people, whether or not it has a name."""
        name = f" {quoted(self.proto.name)}" if self.proto.name else ""
        return f"node {self.index}{name} of {self.scope.path}"


@dataclass(slots=True)
class ClipNode(Site):
    """A node of the operator Clip of ai.onnx; `opset` is the version that its graph or function imports."""

    opset: int

    @property
    def version(self) -> int:
        """The version of the operator that the operator set means."""
        found = version_of(self.proto.op_type, self.opset)
        assert found is not None  # an operator set that has the node's operator has a version of it
        return found

    @property
    def operator(self) -> str:
        """The operator with its version: ``Clip-13``."""
        return f"{self.proto.op_type}-{self.version}"


def opsets(imports: Iterable[OperatorSetIdProto], path: Path, where: str) -> dict[str, int]:
    """The imported operator sets by domain, "" for ai.onnx; two versions of one domain are an error."""
    found: dict[str, int] = {}
    for entry in imports:
        domain = "" if is_default_domain(entry.domain) else entry.domain
        title = quoted(domain or "ai.onnx")
        if found.setdefault(domain, entry.version) != entry.version:
            raise UserError(
                f"{where} imports two versions of the operator set {title}: {found[domain]}, {entry.version}",
                where=shown(str(path)),
                todo="keep one opset_import per domain",
            )
        if entry.version < 1:
            raise UserError(
                f"{where} imports version {entry.version} of the operator set {title}; versions count from 1",
                where=shown(str(path)),
                todo="write the version that the nodes are meant for",
            )
    return found


def other_clips(model: ModelProto, listings: Listings) -> dict[str, int]:
    """The domains, other than ai.onnx, of nodes that are also named Clip, each with their number."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    kinds: Counter[str] = Counter()
    for body in bodies:
        for nodes in (body, *(graph.node for _, graph in inner_graphs(body, listings))):
            kinds.update(domain for domain, operator, _ in listings.of(nodes).kinds if operator == "Clip")
    return {domain: number for domain, number in kinds.items() if not is_default_domain(domain)}


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs that a node carries, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH or attribute.HasField("g"):
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes and, after each, those of its subgraphs at any depth."""
    for node in nodes:
        yield node
        if not node.attribute:
            continue
        for _, graph in subgraphs(node):
            yield from all_nodes(graph.node)


def inner_graphs(nodes: Sequence[NodeProto], listings: Listings) -> Iterator[tuple[NodeProto, GraphProto]]:
    """The subgraphs of nodes at any depth, each with the node that carries it."""
    for node in listings.of(nodes).carriers.values():
        for _, graph in subgraphs(node):
            yield node, graph
            yield from inner_graphs(graph.node, listings)


def inner_path(path: str, node: NodeProto, index: int, attribute: str) -> str:
    """The path of a graph that a node carries, for people."""
    return f"{path} > {node.op_type} node {index}, {shown(attribute)}"


def function_title(function: FunctionProto) -> str:
    """A local function, for people."""
    overload = f" overload {quoted(function.overload)}" if function.overload else ""
    return f"function {quoted(f'{function.domain}::{function.name}')}{overload}"


def sites(
    scope: GraphScope,
    inferred: Sequence[NodeProto] = (),
    derived: Sequence[NodeProto] = (),
    *,
    listings: Listings | None = None,
    clips_alone: bool = False,
) -> Iterator[Site]:
    """Every node of a scope and of the subgraphs within it, each with the scope that it stands in.

    Args:
        scope: of the graph or function.
        inferred: the same nodes after shape inference (see `GraphScope`).
        derived: the same without declarations that are believed.
        listings: where the listings of subgraphs are kept.
        clips_alone: nodes of other names than Clip are passed over.
    """
    # Protobuf refuses messages nested deeper than 100, so this recursion ends after some 30 graphs.
    listing = scope.listing
    nodes, carriers = listing.nodes, listing.carriers
    twins = [twin if len(twin) == len(nodes) else () for twin in (inferred, derived)]
    wanted: Sequence[int] = range(len(nodes))
    if clips_alone:
        clips = listing.named("Clip")
        wanted = sorted({*clips, *carriers}) if carriers else clips
    for index in wanted:
        node = nodes[index]
        if not clips_alone or node.op_type == "Clip":
            yield Site(node, scope, index)
        if index not in carriers:
            continue
        same = [twin[index] if twin else None for twin in twins]
        graphs = [dict(subgraphs(twin)) if twin is not None else {} for twin in same]
        for attribute, graph in subgraphs(node):
            title = inner_path(scope.path, node, index, attribute)
            first, second = (found.get(attribute) for found in graphs)
            inner = graph_scope(graph, first, title, scope, second, listings, index)
            known, sure = (found.node if found else () for found in (first, second))
            yield from sites(inner, known, sure, listings=listings, clips_alone=clips_alone)


def is_clip(node: NodeProto) -> bool:
    """The node is the operator Clip of ai.onnx."""
    return node.op_type == "Clip" and is_default_domain(node.domain)


def clip_nodes(found: Iterable[Site], imports: Mapping[str, int], path: Path) -> list[ClipNode]:
    """The Clip nodes at some sites, without those where other operators stand."""
    default = cache(is_default_domain)
    nodes: list[ClipNode] = []
    for site in found:
        scope, index = site.scope, site.index
        domain, operator, _ = scope.listing.kinds[index]
        if operator == "Clip" and default(domain):
            nodes.append(ClipNode(site.proto, scope, index, _opset(imports, scope, path)))
    return nodes


def _opset(imports: Mapping[str, int], scope: GraphScope, path: Path) -> int:
    if "" not in imports:
        raise UserError(
            f"{scope.path} uses Clip of ai.onnx, but no version of that operator set is imported",
            where=shown(str(path)),
            todo="add an opset_import for the domain ai.onnx (the empty domain)",
        )
    return imports[""]
