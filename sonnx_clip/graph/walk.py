"""Every Clip node of a model: main graph, subgraphs at any depth, local functions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto

from sonnx_clip.errors import UserError
from sonnx_clip.graph.declared import quoted, shown
from sonnx_clip.graph.scope import Scope, function_scope, graph_scope, is_default_domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class ClipNode:
    """A node of the operator Clip of ai.onnx, with the scope that gives its names a meaning.

    Attributes:
        index: its position among the nodes of its graph, from 0.
        opset: the version of ai.onnx that its graph or function imports.
    """

    proto: NodeProto
    scope: Scope
    index: int
    opset: int

    @property
    def place(self) -> str:
        """Where the node is, for people, whether or not it has a name."""
        name = f" {quoted(self.proto.name)}" if self.proto.name else ""
        return f"node {self.index}{name} of {self.scope.path}"


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


def clip_nodes(model: ModelProto, inferred: ModelProto | None, path: Path) -> Iterator[ClipNode]:
    """All Clip nodes, in the order of the model; `inferred` is the same model after shape inference."""
    main_title = f"graph {quoted(model.graph.name)}"
    imports = opsets(model.opset_import, path, "the model")
    main = graph_scope(model.graph, inferred.graph if inferred else None, main_title, None)
    yield from _in_scope(main, inferred.graph.node if inferred else (), imports, path)
    for function in model.functions:
        title = _function_title(function)
        yield from _in_scope(
            function_scope(function, title), (), opsets(function.opset_import, path, title), path
        )


def other_clips(model: ModelProto) -> list[str]:
    """The domains, other than ai.onnx, of nodes that are also named Clip: one entry per node."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    return [
        node.domain
        for body in bodies
        for node in _all_nodes(body)
        if node.op_type == "Clip" and not is_default_domain(node.domain)
    ]


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs that a node carries, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH or attribute.HasField("g"):
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def _all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for _, graph in subgraphs(node):
            yield from _all_nodes(graph.node)


def _function_title(function: FunctionProto) -> str:
    overload = f" overload {quoted(function.overload)}" if function.overload else ""
    return f"function {quoted(f'{function.domain}::{function.name}')}{overload}"


def _in_scope(
    scope: Scope, inferred: Sequence[NodeProto], imports: Mapping[str, int], path: Path
) -> Iterator[ClipNode]:
    # Protobuf refuses messages nested deeper than 100, so this recursion ends after some 30 graphs.
    same_nodes = inferred if len(inferred) == len(scope.nodes) else ()
    for index, (node, twin) in enumerate(zip_longest(scope.nodes, same_nodes)):
        if node.op_type == "Clip" and is_default_domain(node.domain):
            yield ClipNode(node, scope, index, _opset(imports, scope, path))
        graphs = dict(subgraphs(twin)) if twin is not None else {}
        for attribute, graph in subgraphs(node):
            title = f"{scope.path} > {node.op_type} node {index}, {shown(attribute)}"
            twin_graph = graphs.get(attribute)
            inner = graph_scope(graph, twin_graph, title, scope)
            yield from _in_scope(inner, twin_graph.node if twin_graph else (), imports, path)


def _opset(imports: Mapping[str, int], scope: Scope, path: Path) -> int:
    if "" not in imports:
        raise UserError(
            f"{scope.path} uses Clip of ai.onnx, but no version of that operator set is imported",
            where=shown(str(path)),
            todo="add an opset_import for the domain ai.onnx (the empty domain)",
        )
    return imports[""]
