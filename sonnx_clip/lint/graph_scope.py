"""Facts about the names in a graph or a function of a model."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from onnx import (
    FunctionProto,
    GraphProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    ValueInfoProto,
)

from sonnx_clip.lint.model_file import subgraphs
from sonnx_clip.lint.operator_versions import is_default_domain
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.lint.tensors import (
    NOTHING,
    Declaration,
    Known,
    from_stored,
    from_type,
    stored_constant,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_UNSET = Known(defined=False)
FUNCTION_INFO = "value_info of the function"


class GraphScope(dict[str, Known]):
    """The facts about each name of a graph or a function body, computed at the first look-up.

    A name is looked up from the inside out, up to the scope that defines it. Equal answers are one object.
    `defined` has the names that the body itself defines, with the dense tensors that it stores under them
    and no caller overrides.

    `inferred` is the same graph after shape inference, `derived` after one that ignored declarations of
    computed values; `outer` is the scope around a subgraph.
    """

    def __init__(
        self,
        body: GraphProto | FunctionProto,
        path: str,
        inferred: GraphProto | None = None,
        derived: GraphProto | None = None,
        outer: GraphScope | None = None,
    ) -> None:
        self.body = body
        self.path = path
        self.outer = outer
        is_in_function = outer is not None and outer.in_function
        self.in_function: bool = is_in_function or isinstance(body, FunctionProto)
        self._inferred_graph = inferred
        self._derived_graph = derived
        self._inferred = _inferred_types(inferred)
        # One graph where the declarations change nothing that inference finds: it is read once.
        self._derived = self._inferred if derived is inferred else _inferred_types(derived)
        self._declared, self.defined = _contents(body)
        self.equal: dict[Known, Known] = outer.equal if outer else {}
        # One object that no undefined name has: a node with an unset input and one with an undefined input
        # are judged differently.
        self[""] = _UNSET

    def __missing__(self, name: str) -> Known:
        inferred = self._inferred.get(name)
        derived = self._derived.get(name)
        declared = tuple(self._declared.get(name, ()))
        defined = name in self.defined

        if not defined and self.outer is not None:
            outer = self.outer[name]
            inferred = inferred or outer.inferred
            derived = derived or outer.derived
            declared += outer.declared
            defined = outer.defined
        known = Known(defined, declared, inferred or NOTHING, derived or NOTHING)
        # By the identity of equal facts lint sees in one comparison that two nodes are judged alike.
        known = self.equal.setdefault(known, known)
        self[name] = known
        return known

    def defining(self, name: str) -> GraphScope:
        """The scope that defines a name, this one or one around it; this one where none does."""
        scope: GraphScope | None = self
        while scope is not None and name not in scope.defined:
            scope = scope.outer
        return self if scope is None else scope

    def inner(self, index: int, node: NodeProto) -> Iterator[GraphScope]:
        """The scopes of the subgraphs that a node carries."""
        inferred = self._subgraphs_after(self._inferred_graph, index)
        derived = self._subgraphs_after(self._derived_graph, index)
        for attribute, graph in subgraphs(node.attribute):
            path = f"{self.path} > {node.op_type} node {index}, {shown(attribute)}"
            yield GraphScope(graph, path, inferred.get(attribute), derived.get(attribute), self)

    def _subgraphs_after(self, graph: GraphProto | None, index: int) -> dict[str, GraphProto]:
        """The subgraphs of the node at an index in this graph after inference, by attribute."""
        # Inference keeps the nodes in their order, but a graph without subgraphs comes without its nodes.
        if graph is None or len(graph.node) != len(self.body.node):
            return {}
        return dict(subgraphs(graph.node[index].attribute))


def _contents(
    body: GraphProto | FunctionProto,
) -> tuple[dict[str, list[Declaration]], dict[str, TensorProto | None]]:
    """What a graph or function declares of each name; those that it defines, as in `GraphScope.defined`."""
    computed = chain.from_iterable(map(attrgetter("output"), body.node))
    defined: dict[str, TensorProto | None] = dict.fromkeys(computed)
    if isinstance(body, FunctionProto):
        inputs: Iterable[str] = body.input
        declarations = typed(body.value_info, FUNCTION_INFO)
    else:
        inputs = [value.name for value in body.input]
        declarations = typed(body.input, "graph input")
        declarations += typed(body.output, "graph output")
        declarations += typed(body.value_info, "value_info")
        for tensor in body.initializer:
            declarations.append((tensor.name, from_stored(tensor, "initializer")))
            defined[tensor.name] = tensor
        for sparse in body.sparse_initializer:
            name = sparse.values.name
            declarations.append((name, from_stored(sparse, "sparse initializer")))
            defined[name] = None
    for node in body.node:
        if node.op_type != "Constant" or not is_default_domain(node.domain) or not node.output:
            continue
        # A function has no initializers: its Constant nodes are all that it stores.
        name = node.output[0]
        stored = stored_constant(node)
        if isinstance(stored, SparseTensorProto):
            origin = "Constant node with sparse_value"
            declarations.append((name, from_stored(stored, origin)))
        elif stored is not None:
            declarations.append((name, from_stored(stored, "Constant node")))
            defined[name] = stored

    # Last, because a caller may override a stored tensor that is an input.
    defined |= dict.fromkeys(inputs)
    defined.pop("", None)  # outputs of nodes that are not wanted
    declared: dict[str, list[Declaration]] = {}
    for name, declaration in declarations:
        declared.setdefault(name, []).append(declaration)
    return declared, defined


def _inferred_types(graph: GraphProto | None) -> dict[str, Declaration]:
    """What inference finds of each name of a graph; nothing where it found none."""
    if graph is None:
        return {}
    values = [*graph.input, *graph.value_info, *graph.output]
    return dict(typed(values, NOTHING.origin))


def typed(values: Iterable[ValueInfoProto], origin: str) -> list[tuple[str, Declaration]]:
    """The declarations of values; a model has many values of few types, and each type is parsed once."""
    parsed: dict[bytes, Declaration] = {}
    declarations = []
    for value in values:
        key = value.type.SerializeToString()
        if key not in parsed:
            parsed[key] = from_type(value.type, origin)
        declarations.append((value.name, parsed[key]))
    return declarations
