"""Where Clip nodes are in a model, and what is known of the names that they read and give.

Calls of local functions are inlined by onnx before; each node of a function carries a mark, by which reports
name the function and the node in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx import FunctionProto, GraphProto, NodeProto

from sonnx_clip.lint.load import all_nodes, subgraphs
from sonnx_clip.lint.operator_versions import is_default_domain, version_of
from sonnx_clip.lint.tensors import from_constant, from_sparse, from_tensor, from_type, quoted, shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

    from sonnx_clip.lint.tensors import TensorInfo

_MARK = "sonnx-clip lint: node of a function"


@dataclass(frozen=True)
class Known:
    """What is known of a name at its place of use.

    Attributes:
        defined: an input, a stored tensor or a node gives it.
        declared: every declaration that the model makes of it.
        inferred: what onnx's shape inference finds.
        derived: the same, where no declaration of a computed value is believed.
    """

    defined: bool
    declared: tuple[TensorInfo, ...] = ()
    inferred: TensorInfo | None = None
    derived: TensorInfo | None = None


class Scope:
    """A graph or a function body, with what it defines and declares.

    Args:
        body: the graph or function.
        path: where it is, for people.
        inferred: the same graph after shape inference.
        derived: the same, where no declaration of a computed value is believed.
        outer: the scope around a subgraph.
    """

    def __init__(
        self,
        body: GraphProto | FunctionProto,
        path: str,
        inferred: GraphProto | None = None,
        derived: GraphProto | None = None,
        outer: Scope | None = None,
    ) -> None:
        self.body, self.path, self.outer = body, path, outer
        self.in_function: bool = isinstance(body, FunctionProto) or (outer is not None and outer.in_function)
        self._twins = (inferred, derived)
        self._inferred = _of_graph(inferred)
        self._derived = self._inferred if derived is inferred else _of_graph(derived)
        self._declared, self.defined = _declarations(body)
        self._known: dict[str, Known] = {}
        self.equal: dict[Hashable, Known] = outer.equal if outer else {}

    def known(self, name: str) -> Known:
        """What is known of a name; equal answers are one object."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._look_up(name)
        return found

    def _look_up(self, name: str) -> Known:
        """Look a name up from the inside out, up to the scope that defines it."""
        declared: tuple[TensorInfo, ...] = self._declared.get(name, ())
        inferred, derived = self._inferred.get(name), self._derived.get(name)
        if name in self.defined or self.outer is None:
            return self._one(name in self.defined, declared, inferred, derived)
        further = self.outer.known(name)
        return self._one(
            further.defined,
            declared + further.declared,
            inferred or further.inferred,
            derived or further.derived,
        )

    def _one(
        self,
        defined: bool,
        declared: tuple[TensorInfo, ...],
        inferred: TensorInfo | None,
        derived: TensorInfo | None,
    ) -> Known:
        """What is known, as one object for the same declarations; these live as long as this scope."""
        key = (defined, id(inferred), id(derived), *map(id, declared))
        found = self.equal.get(key)
        if found is None:
            found = self.equal[key] = Known(defined, declared, inferred, derived)
        return found

    def defining(self, name: str) -> Scope | None:
        """The scope that defines a name."""
        if name in self.defined:
            return self
        return self.outer.defining(name) if self.outer else None

    def inner(self, index: int, node: NodeProto) -> Iterator[Scope]:
        """The scopes of the subgraphs that a node carries."""
        twins = [
            dict(subgraphs(twin.node[index]))
            if twin is not None and len(twin.node) == len(self.body.node)
            else {}
            for twin in self._twins
        ]
        for attribute, graph in subgraphs(node):
            path = f"{self.path} > {node.op_type} node {index}, {shown(attribute)}"
            yield Scope(graph, path, twins[0].get(attribute), twins[1].get(attribute), self)


def _declarations(
    body: GraphProto | FunctionProto,
) -> tuple[dict[str, tuple[TensorInfo, ...]], frozenset[str]]:
    """What a graph or function declares of each name, and the names that it defines."""
    if isinstance(body, GraphProto):
        stored = [(tensor.name, from_tensor(tensor, "initializer")) for tensor in body.initializer]
        stored += [(s.values.name, from_sparse(s, "sparse initializer")) for s in body.sparse_initializer]
        found = [*_typed(body.input, "graph input"), *_typed(body.output, "graph output")]
        found += [*_typed(body.value_info, "value_info"), *stored]
        given = [value.name for value in body.input]
    else:
        stored, given = [], list(body.input)
        found = _typed(body.value_info, "value_info of the function")
    for node in body.node:
        if node.op_type == "Constant" and is_default_domain(node.domain) and node.output:
            info = from_constant(node)
            found += [(node.output[0], info)] if info is not None else []
    grouped: dict[str, tuple[TensorInfo, ...]] = {}
    for name, one in found:
        grouped[name] = (*grouped.get(name, ()), one)
    defined = {name for node in body.node for name in node.output}
    defined.update(given, (name for name, _ in stored))
    defined.discard("")
    return grouped, frozenset(defined)


def _of_graph(graph: GraphProto | None) -> dict[str, TensorInfo]:
    values = [*graph.input, *graph.value_info, *graph.output] if graph is not None else []
    return dict(_typed(values, "shape inference"))


def _typed(values: Iterable[ValueInfoProto], origin: str) -> list[tuple[str, TensorInfo]]:
    """The declarations of values; a model has many values of few types, and each type is read once."""
    found: list[tuple[str, TensorInfo]] = []
    seen: dict[bytes, TensorInfo | None] = {}
    for value in values:
        name, written = value.name, value.SerializeToString()
        # A name of less than 128 bytes stands first, behind a tag and its length.
        key = written[2 + written[1] :] if written[:1] == b"\n" and written[1] < 128 else written
        if key not in seen:
            seen[key] = from_type(value.type, origin)
        info = seen[key]
        if info is not None:
            found.append((name, info))
    return found


# --- Clip nodes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A Clip node as it stands in a function: what reports name, and the function's own declarations."""

    graph: str
    index: int
    node: NodeProto
    declared: Mapping[str, TensorInfo]


@dataclass(slots=True)
class ClipNode:
    """A node of the operator, with the scope that gives its names a meaning.

    Attributes:
        proto: the node, in the model whose functions are inlined.
        scope: the graph or function that it stands in.
        index: its position there.
        opset: the version of ai.onnx that its graph or function imports.
        mark: the node in its function; None for a node of the model itself.
    """

    proto: NodeProto
    scope: Scope
    index: int
    opset: int
    mark: Mark | None = None

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

    @property
    def place(self) -> str:
        """Where the node is, for people."""
        node, index, graph = self.named
        name = f" {quoted(node.name)}" if node.name else ""
        return f"node {index}{name} of {graph}"

    @property
    def named(self) -> tuple[NodeProto, int, str]:
        """The node as the model has it, its position, and the path of its graph or function."""
        if self.mark is not None:
            return self.mark.node, self.mark.index, self.mark.graph
        return self.proto, self.index, self.scope.path

    def known(self, name: str) -> Known:
        """What is known of a name that the node reads or gives."""
        found = self.scope.known(name)
        if self.mark is None:
            return found
        # The inliner drops what a function declares of its own inputs and outputs.
        inner = self.mark.node
        pairs = [*zip(self.proto.input, inner.input, strict=False), (self.proto.output[0], inner.output[0])]
        own = [self.mark.declared[old] for new, old in pairs if new == name and old in self.mark.declared]
        more = tuple(info for info in own if info not in found.declared)
        return Known(found.defined, found.declared + more, found.inferred, found.derived)


def is_clip(node: NodeProto) -> bool:
    """The node is the operator Clip of ai.onnx."""
    return node.op_type == "Clip" and is_default_domain(node.domain)


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


@dataclass
class FunctionMarks:
    """The Clip nodes of a model's functions, marked so that they are known again when they are inlined."""

    marks: list[Mark] = field(default_factory=list)
    functions: list[FunctionProto] = field(default_factory=list)

    def mark(self, model: ModelProto) -> None:
        """Mark each Clip node of each function, in place."""
        for function in model.functions:
            title = function_title(function)
            declared = dict(_typed(function.value_info, "value_info of the function"))
            for index, node in enumerate(function.node):
                for inner in all_nodes([node]):
                    if is_clip(inner):
                        original = NodeProto()
                        original.CopyFrom(inner)
                        inner.metadata_props.add(key=_MARK, value=str(len(self.marks)))
                        self.marks.append(Mark(title, index, original, declared))
                        self.functions.append(function)

    def of(self, node: NodeProto) -> Mark | None:
        """The mark of an inlined node."""
        if not self.marks:
            return None
        values = [entry.value for entry in node.metadata_props if entry.key == _MARK]
        return self.marks[int(values[0])] if values and values[0].isdecimal() else None

    def not_inlined(self, reached: Iterable[Mark]) -> list[FunctionProto]:
        """The functions with Clip nodes of which none was inlined."""
        seen = {id(mark) for mark in reached}
        found = {
            id(function): function
            for mark, function in zip(self.marks, self.functions, strict=True)
            if id(mark) not in seen
        }
        return list(found.values())


def function_title(function: FunctionProto) -> str:
    """A local function, for people."""
    overload = f" overload {quoted(function.overload)}" if function.overload else ""
    return f"function {quoted(f'{function.domain}::{function.name}')}{overload}"


def clip_nodes(scope: Scope, opset: int | None, path: Path, marks: FunctionMarks) -> Iterator[ClipNode]:
    """The Clip nodes of a scope and of the subgraphs in it, in order.

    Raises:
        UserError: there is one, and no version of ai.onnx is imported.
    """
    # Protobuf refuses messages nested deeper than 100, so this recursion ends after some 30 graphs.
    for index, node in enumerate(scope.body.node):
        if node.op_type == "Clip" and is_default_domain(node.domain):
            if opset is None:
                raise UserError(
                    f"{scope.path} uses Clip of ai.onnx, but no version of that operator set is imported",
                    where=shown(str(path)),
                    todo="add an opset_import for the domain ai.onnx (the empty domain)",
                )
            yield ClipNode(node, scope, index, opset, marks.of(node))
        elif node.attribute:
            for inner in scope.inner(index, node):
                yield from clip_nodes(inner, opset, path, marks)
