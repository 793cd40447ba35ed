"""Names in graphs: which tensor a name means, and what the model declares of it there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared import TensorInfo, from_constant, from_sparse, from_tensor, from_type

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from onnx import FunctionProto, GraphProto, NodeProto, ValueInfoProto


@dataclass(frozen=True)
class Scope:
    """A graph or a function body, with what it defines and declares.

    Attributes:
        path: where it is in the model, for people.
        defined: inputs, initializers and node outputs; a name here hides the same name further out.
        declared: what is said of a name in this scope, in the order of the model.
        inferred: what onnx's shape inference says of a name in this scope.
        derived: the same, where no declaration of a computed value is believed.
        unset: formal inputs of a function that the call leaves out.
        outer: the scope around a subgraph; None for the main graph and for a function.
        in_function: this is the body of a local function, or within it.
    """

    path: str
    nodes: Sequence[NodeProto]
    defined: frozenset[str]
    declared: Mapping[str, tuple[TensorInfo, ...]]
    inferred: Mapping[str, TensorInfo]
    outer: Scope | None
    in_function: bool
    derived: Mapping[str, TensorInfo] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Resolved:
    """What a name means at its place of use."""

    declared: tuple[TensorInfo, ...]
    inferred: TensorInfo | None
    defined: bool
    derived: TensorInfo | None = None
    unset: bool = False


def is_default_domain(domain: str) -> bool:
    """Both spellings of the domain of the ONNX operators."""
    return domain in ("", "ai.onnx")


def resolve(scope: Scope, name: str) -> Resolved:
    """Look a name up from the inside out, up to the scope that defines it."""
    declared: list[TensorInfo] = []
    inferred: TensorInfo | None = None
    derived: TensorInfo | None = None
    current: Scope | None = scope
    while current is not None:
        declared += current.declared.get(name, ())
        inferred = inferred or current.inferred.get(name)
        derived = derived or current.derived.get(name)
        if name in current.defined:
            return Resolved(
                tuple(declared), inferred, defined=True, derived=derived, unset=name in current.unset
            )
        current = current.outer
    return Resolved(tuple(declared), inferred, defined=False, derived=derived)


def graph_scope(
    graph: GraphProto,
    inferred: GraphProto | None,
    path: str,
    outer: Scope | None,
    derived: GraphProto | None = None,
) -> Scope:
    """The scope of a main graph or of a subgraph.

    Args:
        graph: as the model has it.
        inferred: the same graph after shape inference.
        path: where it is, for people.
        outer: the scope around a subgraph.
        derived: the same graph after shape inference without declarations of computed values.
    """
    values = [
        *_values(graph.input, "graph input"),
        *_values(graph.output, "graph output"),
        *_values(graph.value_info, "value_info"),
        *((tensor.name, from_tensor(tensor, "initializer")) for tensor in graph.initializer),
        *((s.values.name, from_sparse(s, "sparse initializer")) for s in graph.sparse_initializer),
        *_constants(graph.node),
    ]
    stored = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    known = _inferred(inferred) if inferred is not None else {}
    sure = known if derived is inferred else _inferred(derived) if derived is not None else {}
    return Scope(
        path=path,
        nodes=graph.node,
        defined=frozenset([value.name for value in graph.input] + stored) | _outputs(graph.node),
        declared=_grouped(values),
        inferred=known,
        outer=outer,
        in_function=outer.in_function if outer else False,
        derived=sure,
    )


@dataclass(frozen=True)
class Passed:
    """What one call of a local function hands over: per formal input and output what its actual one is."""

    values: Mapping[str, Resolved] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()

    def signature(self) -> Hashable:
        """Equal for calls of a function that differ in no declared or inferred type or shape."""
        return (tuple(sorted(self.values.items(), key=lambda item: item[0])), self.unset)


def function_scope(
    function: FunctionProto,
    path: str,
    passed: Passed,
    inferred: GraphProto | None = None,
    derived: GraphProto | None = None,
) -> Scope:
    """The scope of one call of a local function: its value_info and what the caller passes declare.

    Args:
        function: its attributes already replaced by the values of the call.
        path: where it is, for people.
        passed: empty for a function that is never called.
        inferred: its body after shape inference.
        derived: its body after shape inference without declarations of computed values.
    """
    values = [
        *_values(function.value_info, "value_info of the function"),
        *((name, info) for name, actual in passed.values.items() for info in actual.declared),
        *_constants(function.node),
    ]
    known = {name: actual.inferred for name, actual in passed.values.items() if actual.inferred}
    certain = {name: actual.derived for name, actual in passed.values.items() if actual.derived}
    computed = _inferred(derived) if derived is not None else {}
    # The formal inputs have in `derived` the types they were given for inference, declared ones among them.
    computed = {name: info for name, info in computed.items() if name not in function.input}
    return Scope(
        path=path,
        nodes=function.node,
        defined=frozenset(function.input) | _outputs(function.node),
        declared=_grouped(values),
        inferred=(_inferred(inferred) if inferred is not None else {}) | known,
        outer=None,
        in_function=True,
        derived=computed | certain,
        unset=passed.unset,
    )


def _values(values: Iterable[ValueInfoProto], origin: str) -> list[tuple[str, TensorInfo]]:
    # A model has few types and many values: each type is read once.
    seen: dict[bytes, TensorInfo | None] = {}
    found: list[tuple[str, TensorInfo]] = []
    for value in values:
        declared = value.type
        key = declared.SerializeToString()
        if key not in seen:
            seen[key] = from_type(declared, origin)
        info = seen[key]
        if info is not None:
            found.append((value.name, info))
    return found


def _constants(nodes: Iterable[NodeProto]) -> list[tuple[str, TensorInfo]]:
    constants = (n for n in nodes if n.op_type == "Constant" and is_default_domain(n.domain) and n.output)
    found = ((node.output[0], from_constant(node)) for node in constants)
    seen: dict[TensorInfo, TensorInfo] = {}
    return [(name, seen.setdefault(info, info)) for name, info in found if info is not None]


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
