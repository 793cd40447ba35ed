"""Names in graphs: which tensor a name means, what the model declares of it there; each is read from protobuf
once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from operator import attrgetter, itemgetter, methodcaller
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared_tensors import TensorInfo, from_constant, from_sparse, from_tensor, from_type

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from onnx import FunctionProto, GraphProto, NodeProto, ValueInfoProto


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


# --- Names in graphs: which tensor a name means, and what the model declares of it there --------------------


_NAME, _WRITTEN = attrgetter("name"), methodcaller("SerializeToString")


@dataclass(frozen=True)
class GraphScope:
    """A graph or a function body, with what it defines and declares.

    Attributes:
        path: where it is in the model, for people.
        listing: its nodes and their names.
        defined: inputs, initializers and node outputs; a name here hides the same name further out.
        declared: what is said of a name in this scope, in the order of the model.
        inferred: what onnx's shape inference says of a name in this scope.
        derived: the same, where no declaration of a computed value is believed.
        unset: formal inputs of a function that the call leaves out.
        outer: the scope around a subgraph; None for the main graph and for a function.
        in_function: this is the body of a local function, or within it.
        carrier: the position in `outer` of the node that carries this subgraph.
        call: of this function body, None where nothing calls it.
    """

    path: str
    listing: Listing
    defined: frozenset[str]
    declared: Mapping[str, tuple[TensorInfo, ...]]
    inferred: Mapping[str, TensorInfo]
    outer: GraphScope | None
    in_function: bool
    derived: Mapping[str, TensorInfo] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()
    carrier: int | None = None
    call: FunctionCall | None = None


@dataclass(frozen=True)
class FunctionCall:
    """Where a function is called: the scope, and for each formal input that is given its name there."""

    scope: GraphScope
    inputs: Mapping[str, str]


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


def resolve(scope: GraphScope, name: str) -> Resolved:
    """Look a name up from the inside out, up to the scope that defines it."""
    declared: list[TensorInfo] = []
    inferred: TensorInfo | None = None
    derived: TensorInfo | None = None
    current: GraphScope | None = scope
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
    outer: GraphScope | None,
    derived: GraphProto | None = None,
    listings: Listings | None = None,
    carrier: int | None = None,
) -> GraphScope:
    """The scope of a main graph or of a subgraph.

    Args:
        graph: as the model has it.
        inferred: the same graph after shape inference.
        path: where it is, for people.
        outer: the scope around a subgraph.
        derived: the same graph after shape inference without declarations of computed values.
        listings: where the listing of its nodes is kept, for who has it already.
        carrier: the position in `outer` of the node that carries it.
    """
    listing = (listings or Listings()).of(graph.node)
    values = [
        *_values(graph.input, "graph input"),
        *_values(graph.output, "graph output"),
        *_values(graph.value_info, "value_info"),
        *((tensor.name, from_tensor(tensor, "initializer")) for tensor in graph.initializer),
        *((s.values.name, from_sparse(s, "sparse initializer")) for s in graph.sparse_initializer),
        *_constants(listing),
    ]
    stored = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    known = _inferred(inferred) if inferred is not None else {}
    sure = known if derived is inferred else _inferred(derived) if derived is not None else {}
    return GraphScope(
        path=path,
        listing=listing,
        defined=frozenset(chain((value.name for value in graph.input), stored, listing.made)),
        declared=_grouped(values),
        inferred=known,
        outer=outer,
        in_function=outer.in_function if outer else False,
        derived=sure,
        carrier=carrier,
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
    call: FunctionCall | None = None,
) -> GraphScope:
    """The scope of one call of a local function: its value_info and what the caller passes declare.

    Args:
        function: its attributes already replaced by the values of the call.
        path: where it is, for people.
        passed: empty for a function that is never called.
        inferred: its body after shape inference.
        derived: its body after shape inference without declarations of computed values.
        call: where it is called.
    """
    listing = Listing(function.node)
    values = [
        *_values(function.value_info, "value_info of the function"),
        *((name, info) for name, actual in passed.values.items() for info in actual.declared),
        *_constants(listing),
    ]
    known = {name: actual.inferred for name, actual in passed.values.items() if actual.inferred}
    certain = {name: actual.derived for name, actual in passed.values.items() if actual.derived}
    computed = _inferred(derived) if derived is not None else {}
    # The formal inputs have in `derived` the types they were given for inference, declared ones among them.
    computed = {name: info for name, info in computed.items() if name not in function.input}
    return GraphScope(
        path=path,
        listing=listing,
        defined=frozenset(chain(function.input, listing.made)),
        declared=_grouped(values),
        inferred=(_inferred(inferred) if inferred is not None else {}) | known,
        outer=None,
        in_function=True,
        derived=computed | certain,
        unset=passed.unset,
        call=call,
    )


def _values(values: Iterable[ValueInfoProto], origin: str) -> list[tuple[str, TensorInfo]]:
    # A model has few types and many values: each type is read once.
    values = list(values)
    names = list(map(_NAME, values))
    keys = list(map(_but_name, map(_WRITTEN, values), names))
    each = dict(zip(keys, values, strict=True))
    seen = {key: from_type(value.type, origin) for key, value in each.items()}
    infos = map(seen.__getitem__, keys)
    return [(name, info) for name, info in zip(names, infos, strict=True) if info is not None]


def _but_name(written: bytes, name: str) -> bytes:
    """A declaration as protobuf without its name, which usually stands first, behind a tag and its length.

    To read the type by itself would take longer.
    """
    length = len(name)
    if length < 128 and written[:2] == bytes((10, length)):
        return written[2 + length :]
    return written


def _constants(listing: Listing) -> list[tuple[str, TensorInfo]]:
    nodes = [listing.nodes[index] for index in listing.named("Constant")]
    constants = (node for node in nodes if is_default_domain(node.domain) and node.output)
    found = ((node.output[0], from_constant(node)) for node in constants)
    seen: dict[TensorInfo, TensorInfo] = {}
    return [(name, seen.setdefault(info, info)) for name, info in found if info is not None]


def _grouped(values: Iterable[tuple[str, TensorInfo]]) -> dict[str, tuple[TensorInfo, ...]]:
    grouped: dict[str, list[TensorInfo]] = {}
    for name, info in values:
        grouped.setdefault(name, []).append(info)
    return {name: tuple(infos) for name, infos in grouped.items()}


def _inferred(graph: GraphProto) -> dict[str, TensorInfo]:
    values = [*graph.input, *graph.value_info, *graph.output]
    return dict(_values(values, "shape inference"))
