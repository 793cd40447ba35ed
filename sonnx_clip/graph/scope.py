"""Names in graphs: which tensor a name means, and what the model declares of it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared import TensorInfo, from_constant, from_sparse, from_tensor, from_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx import FunctionProto, GraphProto, NodeProto, ValueInfoProto


@dataclass(frozen=True)
class Scope:
    """A graph or a function body, with what it defines and declares.

    Attributes:
        path: where it is in the model, for people.
        defined: inputs, initializers and node outputs; a name here hides the same name further out.
        declared: what is said of a name in this scope, in the order of the model.
        inferred: what onnx's shape inference says of a name in this scope.
        outer: the scope around a subgraph; None for the main graph and for a function.
        in_function: shape inference tells nothing of the inside of a function.
    """

    path: str
    nodes: Sequence[NodeProto]
    defined: frozenset[str]
    declared: Mapping[str, tuple[TensorInfo, ...]]
    inferred: Mapping[str, TensorInfo]
    outer: Scope | None
    in_function: bool


@dataclass(frozen=True)
class Resolved:
    """What a name means at its place of use."""

    declared: tuple[TensorInfo, ...]
    inferred: TensorInfo | None
    defined: bool


def is_default_domain(domain: str) -> bool:
    """Both spellings of the domain of the ONNX operators."""
    return domain in ("", "ai.onnx")


def resolve(scope: Scope, name: str) -> Resolved:
    """Look a name up from the inside out, up to the scope that defines it."""
    declared: list[TensorInfo] = []
    inferred: TensorInfo | None = None
    current: Scope | None = scope
    while current is not None:
        declared += current.declared.get(name, ())
        inferred = inferred or current.inferred.get(name)
        if name in current.defined:
            return Resolved(tuple(declared), inferred, defined=True)
        current = current.outer
    return Resolved(tuple(declared), inferred, defined=False)


def graph_scope(graph: GraphProto, inferred: GraphProto | None, path: str, outer: Scope | None) -> Scope:
    """The scope of a main graph or of a subgraph; `inferred` is the same graph after shape inference."""
    values = [
        *_values(graph.input, "graph input"),
        *_values(graph.output, "graph output"),
        *_values(graph.value_info, "value_info"),
        *((tensor.name, from_tensor(tensor, "initializer")) for tensor in graph.initializer),
        *((s.values.name, from_sparse(s, "sparse initializer")) for s in graph.sparse_initializer),
        *_constants(graph.node),
    ]
    stored = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    return Scope(
        path=path,
        nodes=graph.node,
        defined=frozenset([value.name for value in graph.input] + stored) | _outputs(graph.node),
        declared=_grouped(values),
        inferred=_inferred(inferred) if inferred is not None else {},
        outer=outer,
        in_function=outer.in_function if outer else False,
    )


def function_scope(function: FunctionProto, path: str) -> Scope:
    """The scope of a local function: it sees no other, and only its value_info declares types and shapes."""
    values = [*_values(function.value_info, "value_info of the function"), *_constants(function.node)]
    return Scope(
        path=path,
        nodes=function.node,
        defined=frozenset(function.input) | _outputs(function.node),
        declared=_grouped(values),
        inferred={},
        outer=None,
        in_function=True,
    )


def _values(values: Iterable[ValueInfoProto], origin: str) -> list[tuple[str, TensorInfo]]:
    found = ((value.name, from_type(value.type, origin)) for value in values)
    return [(name, info) for name, info in found if info is not None]


def _constants(nodes: Iterable[NodeProto]) -> list[tuple[str, TensorInfo]]:
    constants = (n for n in nodes if n.op_type == "Constant" and is_default_domain(n.domain) and n.output)
    found = ((node.output[0], from_constant(node)) for node in constants)
    return [(name, info) for name, info in found if info is not None]


def _outputs(nodes: Iterable[NodeProto]) -> frozenset[str]:
    return frozenset(name for node in nodes for name in node.output if name)


def _grouped(values: Iterable[tuple[str, TensorInfo]]) -> dict[str, tuple[TensorInfo, ...]]:
    grouped: dict[str, list[TensorInfo]] = {}
    for name, info in values:
        grouped.setdefault(name, []).append(info)
    return {name: tuple(infos) for name, infos in grouped.items()}


def _inferred(graph: GraphProto) -> dict[str, TensorInfo]:
    values = [*graph.input, *graph.value_info, *graph.output]
    return dict(_values(values, "shape inference"))
