"""The version of ai.onnx raised by the table of operators, or left where the table does not allow it."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph import ask_onnx as inference
from sonnx_clip.graph.ask_onnx import without_claims
from sonnx_clip.graph.clip_nodes import all_nodes, function_title, inner_path, is_clip, sites, subgraphs
from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.edit import all_names, free_name, insert_all, main_path
from sonnx_clip.graph.graph_names import graph_scope, is_default_domain
from sonnx_clip.graph.operator_table import (
    CHECKS,
    CHECKS_THAT_INFER,
    REWRITES,
    REWRITES_THAT_INFER,
    NotRewritableError,
    OperatorStep,
    Surroundings,
    steps_between,
)
from sonnx_clip.graph.profile import profile
from sonnx_clip.graph.schemas import inputs_since

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableSequence, Sequence

    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

    from sonnx_clip.graph.declared_tensors import TensorInfo

_NAMED = 5


@dataclass(frozen=True)
class Raised:
    """The model at a higher version, its Clip nodes with X alone, or None.

    Attributes:
        model: None where the model is left alone.
        how: how it was raised, or why not.
        rows: how many nodes followed which row of the table.
    """

    model: ModelProto | None
    how: str
    rows: Mapping[OperatorStep, int] = field(default_factory=dict)


def raise_opset(model: ModelProto, version: int, target: int) -> Raised:
    """Raise ai.onnx, if every operator of the model means the same in both versions by the table.

    Args:
        model: not changed; the data of large tensors is not needed.
        version: the one that it imports.
        target: the one that it will import; the table of operators reaches 13.
    """
    result = deepcopy(model)
    work = _Work(model, version, target, all_names(model) | _function_names(model))
    for function in result.functions:
        problem = _function_problem(function, version)
        if problem:
            return Raised(None, problem)
    work.graph(result.graph, main_path(result), {})
    for function in result.functions:
        imports = {entry.domain: entry.version for entry in function.opset_import}
        if imports.get("", imports.get("ai.onnx", target)) < target:
            work.nodes(function.node, function_title(function), {})
            _set_version(function.opset_import, target)
    if work.problems:
        more = len(work.problems) - _NAMED
        listed = "; ".join(work.problems[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
        return Raised(None, listed)
    _set_version(result.opset_import, target)
    return Raised(result, _how(work.rows), dict(work.rows))


def _how(rows: Mapping[OperatorStep, int]) -> str:
    if not rows:
        return "every other operator of the model is the same in both versions"
    identical = [row.title for row in rows if not row.rewritten]
    rewritten = [f"{row.title} ({row.rewritten})" for row in rows if row.rewritten]
    parts = ["by the table of operators"]
    parts += [f"the same meaning: {', '.join(identical)}"] if identical else []
    parts += [f"rewritten: {', '.join(rewritten)}"] if rewritten else []
    return "; ".join(parts)


def _set_version(imports: Sequence[object], target: int) -> None:
    for entry in imports:
        if is_default_domain(entry.domain):  # type: ignore[attr-defined]
            entry.version = target  # type: ignore[attr-defined]


def _function_names(model: ModelProto) -> set[str]:
    nodes = [node for function in model.functions for node in all_nodes(function.node)]
    return {name for node in nodes for name in (*node.input, *node.output)}


def _function_problem(function: FunctionProto, version: int) -> str | None:
    """Why a function keeps a model from being raised."""
    own = {entry.version for entry in function.opset_import if is_default_domain(entry.domain)}
    if own and own != {version}:
        return f"{function_title(function)} imports another version of ai.onnx than the model"
    if any(is_clip(node) for node in all_nodes(function.node)):
        return (
            f"{function_title(function)} holds Clip nodes; inline it first "
            "(onnx.inliner.inline_local_functions)"
        )
    return None


@dataclass
class _Work:
    """A copy of `model` on its way up; `problems` says in which nodes it cannot go."""

    model: ModelProto
    version: int
    target: int
    names: set[str]
    rows: Counter[OperatorStep] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    inferred: dict[str, Mapping[str, TensorInfo]] | None = None

    def graph(
        self,
        graph: GraphProto,
        path: str,
        stored: Mapping[str, TensorProto],
    ) -> None:
        """Raise a graph and those within it."""
        given = {value.name for value in graph.input}
        constants = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in given}
        hidden = given | {name for node in graph.node for name in node.output}
        kept = {name: tensor for name, tensor in stored.items() if name not in hidden}
        self.nodes(graph.node, path, kept | constants)

    def nodes(
        self,
        nodes: MutableSequence[NodeProto],
        path: str,
        stored: Mapping[str, TensorProto],
    ) -> None:
        """Raise the nodes of a graph or of a function."""
        constants = {
            node.output[0]: node.attribute[0].t
            for node in nodes
            if node.op_type == "Constant"
            and is_default_domain(node.domain)
            and [one.name for one in node.attribute] == ["value"]
        }
        stored = {**stored, **constants}
        inserts: list[tuple[int, list[NodeProto]]] = []
        for index, node in enumerate(nodes):
            for attribute, inner in subgraphs(node):
                self.graph(inner, inner_path(path, node, index, attribute), stored)
            if is_clip(node) and self.version < inputs_since(profile().head):
                del node.input[1:]
                del node.attribute[:]
            elif is_default_domain(node.domain):
                title = f"node {index}{' ' + quoted(node.name) if node.name else ''} of {path}"
                made = self._node(node, path, title, stored)
                inserts += [(index, made)] if made else []
        insert_all(nodes, inserts)

    def _node(
        self, node: NodeProto, path: str, title: str, stored: Mapping[str, TensorProto]
    ) -> list[NodeProto]:
        """Raise one node; returns the Constant nodes that go before it."""
        rows = steps_between(node.op_type, self.version, self.target)
        if isinstance(rows, str):
            self.problems.append(f"{rows} ({title})")
            return []
        made: list[NodeProto] = []
        upsampled = node.op_type == "Upsample"
        for row in rows:
            if (row.check or row.by) and any(one.ref_attr_name for one in node.attribute):
                self.problems.append(f"{row.title}: an attribute is the caller's ({title})")
                return []
            here = Surroundings(row.old, stored, self._known(row, path), upsampled)
            if row.check is not None and not CHECKS[row.check](node, here):
                self.problems.append(f"{row.title} is the same only if {row.condition} ({title})")
                return []
            if row.by is not None:
                try:
                    made += REWRITES[row.by](node, here, self._fresh)
                except NotRewritableError as error:
                    self.problems.append(f"{row.title}: {error} ({title})")
                    return []
            self.rows[row] += 1
        return made

    def _fresh(self, wanted: str) -> str:
        return free_name(wanted, self.names)

    def _known(self, row: OperatorStep, path: str) -> Mapping[str, TensorInfo]:
        """What shape inference is sure of in a graph, asked for only where a row needs it."""
        if row.check not in CHECKS_THAT_INFER and row.by not in REWRITES_THAT_INFER:
            return {}
        if self.inferred is None:
            self.inferred = _known_by_graph(self.model)
        return self.inferred.get(path, {})


def _known_by_graph(model: ModelProto) -> dict[str, Mapping[str, TensorInfo]]:
    """What shape inference is sure of, by the path of the graph; nothing where inference fails."""
    found = inference.infer([without_claims(model)]).models
    if not found:
        return {}
    scope = graph_scope(model.graph, None, main_path(model), None, found[0].graph)
    scopes = {site.scope.path: site.scope for site in sites(scope, (), found[0].graph.node)}
    return {path: one.derived for path, one in scopes.items()}
