"""Find the Clip nodes of a model, and what is known of the tensors that they read and compute.

Calls of local functions are inlined by onnx before; a node of a function carries a mark, by which reports
name the function and the node in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from onnx import FunctionProto, GraphProto, NodeProto

from sonnx_clip.lint.model_file import all_bodies, malformed, subgraphs
from sonnx_clip.lint.onnx_process import MARK, ask_onnx, function_clips
from sonnx_clip.lint.operator_versions import attributes, inputs, is_clip, is_default_domain, version_of
from sonnx_clip.lint.tensors import (
    NOTHING,
    Argument,
    Declaration,
    Known,
    from_constant,
    from_sparse,
    from_tensor,
    from_type,
    quoted,
    shown,
)
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

    from sonnx_clip.lint.profile import OnnxOperand, OperatorHead


class Scope:
    """A graph or a function body, with what it defines and declares.

    Args:
        body: the graph or function.
        path: where it is, for people.
        inferred: the same graph after shape inference.
        derived: the same, where declarations of computed values were ignored.
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
        self.equal: dict[Known, Known] = outer.equal if outer else {}

    def known(self, name: str) -> Known:
        """What is known of a name, looked up from the inside out up to the scope that defines it.

        Equal answers are one object.
        """
        found = self._known.get(name)
        if found is None:
            declared = self._declared.get(name, ())
            inferred, derived = self._inferred.get(name), self._derived.get(name)
            if name in self.defined or self.outer is None:
                found = Known(name in self.defined, declared, inferred or NOTHING, derived or NOTHING)
            else:
                outer = self.outer.known(name)
                found = Known(
                    outer.defined,
                    declared + outer.declared,
                    inferred or outer.inferred,
                    derived or outer.derived,
                )
            found = self._known[name] = self.equal.setdefault(found, found)
        return found

    def inner(self, index: int, node: NodeProto) -> Iterator[Scope]:
        """The scopes of the subgraphs that a node carries."""
        count = len(self.body.node)
        same = [twin if twin is not None and len(twin.node) == count else None for twin in self._twins]
        twins = [dict(subgraphs(twin.node[index])) if twin is not None else {} for twin in same]
        for attribute, graph in subgraphs(node):
            path = f"{self.path} > {node.op_type} node {index}, {shown(attribute)}"
            yield Scope(graph, path, twins[0].get(attribute), twins[1].get(attribute), self)


def _declarations(
    body: GraphProto | FunctionProto,
) -> tuple[dict[str, tuple[Declaration, ...]], frozenset[str]]:
    """What a graph or function declares of each name, and the names that it defines."""
    if isinstance(body, GraphProto):
        stored = [(tensor.name, from_tensor(tensor, "initializer")) for tensor in body.initializer]
        stored += [(s.values.name, from_sparse(s, "sparse initializer")) for s in body.sparse_initializer]
        found = [*_typed(body.input, "graph input"), *_typed(body.output, "graph output")]
        found += [*_typed(body.value_info, "value_info"), *stored]
        given = [value.name for value in body.input]
    else:
        stored, given = [], list(body.input)
        found = list(_typed(body.value_info, "value_info of the function"))
    defined = {*given, *(name for name, _ in stored)}
    for node in body.node:
        defined.update(node.output)
        if node.op_type == "Constant" and is_default_domain(node.domain) and node.output:
            info = from_constant(node)
            found += [(node.output[0], info)] if info is not None else []
    grouped: dict[str, tuple[Declaration, ...]] = {}
    for name, one in found:
        grouped[name] = (*grouped.get(name, ()), one)
    return grouped, frozenset(defined - {""})


def _of_graph(graph: GraphProto | None) -> dict[str, Declaration]:
    values = [*graph.input, *graph.value_info, *graph.output] if graph is not None else []
    return dict(_typed(values, NOTHING.origin))


def _typed(values: Iterable[ValueInfoProto], origin: str) -> Iterator[tuple[str, Declaration]]:
    """The declarations of values; a model has many values of few types, and each type is parsed once."""
    parsed: dict[bytes, Declaration | None] = {}
    for value in values:
        key = value.type.SerializeToString()
        if key not in parsed:
            parsed[key] = from_type(value.type, origin)
        info = parsed[key]
        if info is not None:
            yield value.name, info


# --- Clip nodes ---------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """A Clip node as it is in a function: what reports name, and the function's own declarations."""

    graph: str
    position: int
    node: NodeProto
    declared: Mapping[str, Declaration]


@dataclass(slots=True)
class ClipNode:
    """A node of the operator, with the scope that defines its tensors.

    Attributes:
        proto: the node, in the model whose functions are inlined.
        scope: the graph or function that holds it.
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
    def in_function(self) -> bool:
        """The model has the node in a local function."""
        return self.mark is not None or self.scope.in_function

    @property
    def original(self) -> tuple[NodeProto, int, str]:
        """The node as the model has it, its position, and the path of its graph or function."""
        if self.mark is not None:
            return self.mark.node, self.mark.position, self.mark.graph
        return self.proto, self.index, self.scope.path

    @property
    def place(self) -> str:
        """Where the node is, for people."""
        node, index, graph = self.original
        name = f" {quoted(node.name)}" if node.name else ""
        return f"node {index}{name} of {graph}"

    def known(self, name: str) -> Known:
        """What is known of a tensor that the node reads or computes."""
        found = self.scope.known(name)
        if self.mark is None:
            return found
        # The inliner drops what a function declares of its own inputs and outputs.
        inner = self.mark.node
        pairs = [*zip(self.proto.input, inner.input, strict=False), (self.proto.output[0], inner.output[0])]
        own = [self.mark.declared[old] for new, old in pairs if new == name and old in self.mark.declared]
        more = tuple(info for info in own if info not in found.declared)
        return found._replace(declared=found.declared + more)


@dataclass(frozen=True)
class FoundNodes:
    """The Clip nodes of a model, after onnx has inlined its functions and inferred shapes.

    Attributes:
        nodes: in the order of the model; those of functions that are not inlined at the end.
        notes: which functions are judged by their own declarations.
        undecided: what could not be analysed.
        inferred: shapes were inferred.
    """

    nodes: tuple[ClipNode, ...] = ()
    notes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    inferred: bool = False


def find_nodes(model: ModelProto, path: Path) -> FoundNodes:
    """Every Clip node of a model: in its graph, in subgraphs at any depth, and in functions.

    Raises:
        UserError: an import of an operator set is malformed.
    """
    imports = opsets(model.opset_import, path, "the model")
    if not any(is_clip(node) for body in all_bodies(model) for node in body.node):
        return FoundNodes()
    answer = ask_onnx(model)
    in_functions = function_clips(model)
    marks = {}
    for number, (function, index, node) in enumerate(in_functions):
        declared = dict(_typed(function.value_info, "value_info of the function"))
        marks[str(number)] = Mark(_title(function), index, node, declared)
    scope = Scope(answer.inlined, f"graph {quoted(model.graph.name)}", answer.inferred, answer.derived)
    nodes = list(_clip_nodes(scope, imports.get(""), path, marks))
    reached = {id(node.mark) for node in nodes}
    unreached = {
        _title(one.function): one.function
        for one, mark in zip(in_functions, marks.values(), strict=True)
        if id(mark) not in reached
    }
    for title, function in unreached.items():
        own = opsets(function.opset_import, path, title)
        nodes += _clip_nodes(Scope(function, title), own.get(""), path, {})
    notes = [f"no call of {one} could be inlined: it is judged by its own declarations" for one in unreached]
    undecided = [f"nothing was inferred: {answer.failure}"] if answer.failure is not None else []
    undecided += [f"onnx's checker refuses the model: {answer.refusal}"] if answer.refusal is not None else []
    return FoundNodes(tuple(nodes), tuple(notes), tuple(undecided), inferred=answer.failure is None)


def _title(function: FunctionProto) -> str:
    overload = f" overload {quoted(function.overload)}" if function.overload else ""
    return f"function {quoted(f'{function.domain}::{function.name}')}{overload}"


def _clip_nodes(scope: Scope, opset: int | None, path: Path, marks: Mapping[str, Mark]) -> Iterator[ClipNode]:
    """The Clip nodes of a scope and of the subgraphs in it, in order."""
    # Protobuf refuses messages nested deeper than 100, so this recursion ends after some 30 graphs.
    for index, node in enumerate(scope.body.node):
        if is_clip(node):
            if opset is None:
                raise UserError(
                    f"{scope.path} uses Clip of ai.onnx, but no version of that operator set is imported",
                    where=shown(str(path)),
                    todo="add an opset_import for the domain ai.onnx (the empty domain)",
                )
            known = (marks.get(e.value) for e in node.metadata_props if e.key == MARK) if marks else ()
            yield ClipNode(node, scope, index, opset, next(iter(known), None))
        elif node.attribute:
            for inner in scope.inner(index, node):
                yield from _clip_nodes(inner, opset, path, marks)


def opsets(imports: Iterable[OperatorSetIdProto], path: Path, where: str) -> dict[str, int]:
    """The imported operator sets by domain, "" for ai.onnx.

    Raises:
        UserError: two versions of one domain, or a version below 1.
    """
    found: dict[str, int] = {}
    for entry in imports:
        domain = "" if is_default_domain(entry.domain) else entry.domain
        title, problem = quoted(domain or "ai.onnx"), ""
        if found.setdefault(domain, entry.version) != entry.version:
            problem = f"two versions of the operator set {title}: {found[domain]}, {entry.version}"
        elif entry.version < 1:
            problem = f"version {entry.version} of the operator set {title}; versions count from 1"
        if problem:
            todo = "keep one opset_import per domain, with the version that the nodes are meant for"
            raise UserError(f"{where} imports {problem}", where=shown(str(path)), todo=todo)
    return found


# --- The tensors of a node ----------------------------------------------------------------------------------


def arguments(node: ClipNode, path: Path, head: OperatorHead) -> tuple[Argument, ...]:
    """The operands of a node in the order of the head, then its result.

    Raises:
        UserError: the node has too few or too many inputs or outputs for its version of the operator, an
            attribute that this version does not have, or an input that nothing defines.
    """
    names, outputs = list(node.proto.input), list(node.proto.output)
    taken = inputs(head.operator, node.version)
    if not names or not names[0] or len(names) > len(taken):
        accepted = f"1 to {len(taken)} inputs, the first of them set" if taken[1:] else "exactly one input"
        raise malformed(f"{node.operator} takes {accepted}; here: {names}", path, node.place)
    if len(outputs) != 1 or not outputs[0]:
        raise malformed(f"{head.operator} gives exactly one output; here: {outputs}", path, node.place)
    # An attribute for an input that is not set is reported by the restrictions.
    unset = {name for name, given in zip_longest(taken, names) if not given}
    had = attributes(head.operator, node.version) | unset
    foreign = next((one.name for one in node.proto.attribute if one.name not in had), None)
    if foreign is not None:
        raise malformed(f"{node.operator} has no attribute {quoted(foreign)}", path, node.place)
    names += [""] * (len(head.operands) - len(names))
    operands = [_argument(node, path, *pair) for pair in zip(head.operands, names, strict=True)]
    x, y = operands[0], _argument(node, path, head.result, outputs[0])
    dims = x.dims if x.derived.dims is None else x.derived.dims
    if y.derived.dims is None and dims is not None and not y.contradiction:
        # The result has the shape of the first operand (C1) even where inference found nothing.
        y = replace(y, derived=y.derived._replace(dims=dims))
    return (*operands, y)


def _argument(node: ClipNode, path: Path, operand: OnnxOperand, name: str) -> Argument:
    if not name:
        return Argument(operand, None)
    found = node.known(name)
    if not found.defined:
        what = f"input {operand.id} is the tensor {quoted(name)}, which nothing defines"
        raise malformed(what, path, node.place)
    return Argument(operand, name, *found[1:])


def scalars(tensors: Iterable[Argument]) -> list[Argument]:
    """The bounds of a node: its operands that are scalars."""
    return [tensor for tensor in tensors if tensor.operand.role == "scalar"]
