"""Find the Clip nodes of a model, and facts about the tensors that they read and compute.

Calls of local functions are inlined by onnx before; a node of a function carries a mark, by which reports
name the function and the node in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.lint.functions import (
    FunctionClip,
    called_functions,
    function_clips,
    function_title,
    functions_by_key,
    with_default_graphs,
)
from sonnx_clip.lint.graph_scope import FUNCTION_INFO, GraphScope, typed
from sonnx_clip.lint.model_file import bodies, malformed
from sonnx_clip.lint.onnx_process import MARK, ask_onnx
from sonnx_clip.lint.operator_versions import inputs, is_clip, is_default_domain, schema
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.lint.tensors import Known, NodeTensor
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto

    from sonnx_clip.root.signature import Operand


class OriginalNode(NamedTuple):
    """A node as the model has it."""

    node: NodeProto
    position: int  # in its graph or function
    graph: str  # the path of that graph or function


@dataclass(slots=True)
class ClipNode:
    """A node of the operator, with the scope that defines its tensors."""

    proto: NodeProto  # in the model whose functions are inlined
    scope: GraphScope
    index: int  # its position there
    opset: int  # the version of ai.onnx that its graph or function imports
    # The node in its function; None for a node of the model itself.
    mark: FunctionClip | None = None

    @property
    def version(self) -> int:
        """The version of the operator that the operator set means."""
        return int(schema(self.proto.op_type, self.opset).since_version)

    @property
    def operator(self) -> str:
        """The operator with its version: ``Clip-13``."""
        return f"{self.proto.op_type}-{self.version}"

    @property
    def in_function(self) -> bool:
        """The model has the node in a local function."""
        return self.mark is not None or self.scope.in_function

    @property
    def original(self) -> OriginalNode:
        """The node as the model has it, before functions are inlined."""
        if self.mark is not None:
            return OriginalNode(self.mark.node, self.mark.position, self.mark.title)
        return OriginalNode(self.proto, self.index, self.scope.path)

    @property
    def place(self) -> str:
        """Where the node is, for people."""
        original = self.original
        node_name = original.node.name
        name = f" {quoted(node_name)}" if node_name else ""
        return f"node {original.position}{name} of {original.graph}"

    def known(self, name: str) -> Known:
        """The facts about a tensor that the node reads or computes."""
        known = self.scope[name]
        if self.mark is None:
            return known
        # The inliner drops what a function declares of its own inputs and outputs.
        names_in_function = self._names_in_function(self.mark.node, name)
        # A dict keeps the order of declarations, and each once.
        declared = dict.fromkeys(known.declared)
        for inner_name, declaration in typed(self.mark.function.value_info, FUNCTION_INFO):
            if inner_name in names_in_function:
                declared[declaration] = None
        return known._replace(declared=tuple(declared))

    def _names_in_function(self, inner: NodeProto, name: str) -> set[str]:
        """The names that a tensor of this node has at the node in its function."""
        pairs = list(zip(self.proto.input, inner.input, strict=False))
        pairs.append((self.proto.output[0], inner.output[0]))
        return {inner_name for own_name, inner_name in pairs if own_name == name}


@dataclass(frozen=True)
class FoundNodes:
    """The Clip nodes of a model, after onnx has inlined its functions and inferred shapes."""

    opsets: dict[str, int]  # that the model imports, by domain
    # In the order of the model; those of functions not inlined at the end.
    nodes: tuple[ClipNode, ...] = ()
    notes: tuple[str, ...] = ()  # which functions are judged by their own declarations
    undecided: tuple[str, ...] = ()  # what could not be analysed
    inferred: bool = False  # shapes were inferred


def find_nodes(model: ModelProto, path: Path) -> FoundNodes:
    """Every Clip node of a model: in its graph, in subgraphs at any depth, and in functions."""
    imports = opsets(model.opset_import, path, "the model")
    if not any(_has_clip(body) for body in bodies(model.graph, *model.functions)):
        # Without a Clip there is nothing to infer for: no child process is started.
        return FoundNodes(imports)

    model, undecided = with_default_graphs(model)
    answer = ask_onnx(model)
    # The same numbers as the child process writes into the metadata of the nodes that it inlines.
    marks = {}
    for number, clip in enumerate(function_clips(model)):
        marks[str(number)] = clip
    title = f"graph {quoted(model.graph.name)}"
    scope = GraphScope(answer.inlined, title, answer.inferred, answer.derived)
    nodes = list(clip_nodes(scope, imports.get(""), path, marks))

    # A function that was not inlined imports operator sets of its own, and nothing was inferred for it.
    notes = []
    for function, calls in _not_inlined(model, answer.inlined, nodes, marks.values()):
        title = function_title(function)
        own_imports = opsets(function.opset_import, path, title)
        function_scope = GraphScope(function, title)
        nodes += clip_nodes(function_scope, own_imports.get(""), path)
        notes.append(f"{calls} of {title} could be inlined: it is judged by its own declarations")

    if answer.failure is not None:
        undecided.append(f"nothing was inferred: {answer.failure}")
    if answer.refusal is not None:
        undecided.append(f"onnx's checker rejects the model: {answer.refusal}")
    inferred = answer.failure is None
    return FoundNodes(imports, tuple(nodes), tuple(notes), tuple(undecided), inferred)


def _has_clip(body: GraphProto | FunctionProto) -> bool:
    return any(map(is_clip, body.node))


def _not_inlined(
    model: ModelProto,
    inlined: GraphProto,
    nodes: Iterable[ClipNode],
    clips: Iterable[FunctionClip],
) -> Iterator[tuple[FunctionProto, str]]:
    """The functions with a Clip that onnx did not inline everywhere, and which calls it inlined, in words."""
    functions = functions_by_key(model)
    # By identity, because messages of protobuf are not hashable.
    reached = {id(node.mark) for node in nodes}
    called = {id(functions[key]) for key in called_functions(inlined, functions)}
    # One Clip stands for its function: the inliner takes a call whole or not at all.
    clip_of_function = {id(clip.function): clip for clip in clips}
    for function_id, clip in clip_of_function.items():
        if id(clip) not in reached:
            yield clip.function, "no call"
        elif function_id in called:
            yield clip.function, "not every call"


def clip_nodes(
    scope: GraphScope,
    opset: int | None,
    path: Path,
    marks: Mapping[str, FunctionClip] = MappingProxyType({}),
) -> Iterator[ClipNode]:
    """The Clip nodes of a scope and of the subgraphs in it, in order."""
    # Protobuf refuses messages nested deeper than 100, so this recursion ends after some 30 graphs.
    for index, node in enumerate(scope.body.node):
        if is_clip(node):
            if opset is None:
                raise UserError(
                    f"{scope.path} uses Clip of ai.onnx, but no version of that operator set is imported",
                    shown(str(path)),
                    "add an opset_import for the domain ai.onnx (the empty domain)",
                )
            mark = _mark_of(node, marks) if marks else None
            yield ClipNode(node, scope, index, opset, mark)
        elif node.attribute:
            for inner in scope.inner(index, node):
                yield from clip_nodes(inner, opset, path, marks)


def _mark_of(node: NodeProto, marks: Mapping[str, FunctionClip]) -> FunctionClip | None:
    """The node of a function from which a node was inlined."""
    for entry in node.metadata_props:
        if entry.key == MARK:
            return marks.get(entry.value)
    return None


def opsets(
    imports: Iterable[OperatorSetIdProto],
    path: Path,
    where: str,
) -> dict[str, int]:
    """The imported operator sets by domain, "" for ai.onnx; UserError if one has two versions or none."""
    versions: dict[str, int] = {}
    for entry in imports:
        domain = "" if is_default_domain(entry.domain) else entry.domain
        before = versions.setdefault(domain, entry.version)
        # The same import twice is unambiguous. Protobuf reads a version that is not set as 0.
        if before == entry.version and before >= 1:
            continue
        problem = f"version {before}"
        if before >= 1:  # the versions differ then
            problem = f"two versions, {before} and {entry.version},"
        operator_set = quoted(domain or "ai.onnx")
        message = f"{where} imports {problem} of the operator set {operator_set}"
        todo = "keep one opset_import per domain, with the version (1 or later) of its nodes"
        raise UserError(message, shown(str(path)), todo)
    return versions


def arguments(node: ClipNode, path: Path) -> tuple[NodeTensor, ...]:
    """The operands of a node in the order of the profile, then its result.

    UserError if it has too few or too many inputs or outputs, an attribute that its version of the operator
    does not have, or an input that nothing defines.
    """
    signature = profile().signature
    problem = next(_problems(node, signature.op_type), None)
    if problem is not None:
        raise malformed(problem, path, node.place)

    # Inputs left out at the end are as those with an empty name; older versions take fewer than the profile.
    names = list(node.proto.input)
    left_out = len(signature.operands) - len(names)
    names += [""] * left_out
    operands = []
    for operand, name in zip(signature.operands, names, strict=True):
        operands.append(_argument(node, path, operand, name))
    x = operands[0]
    y = _argument(node, path, signature.result, node.proto.output[0])

    # The result has the shape of the first operand (C1) even where inference found nothing.
    x_dims = x.derived.dims
    if x_dims is None:
        x_dims = x.dims
    if y.derived.dims is None and x_dims is not None and not y.contradiction:
        derived = y.derived._replace(dims=x_dims)
        y = replace(y, derived=derived)
    return (*operands, y)


def _problems(node: ClipNode, op_type: str) -> Iterator[str]:
    """Why a node is malformed: its inputs, its outputs, its attributes."""
    names = list(node.proto.input)
    accepted_names = inputs(op_type, node.version)
    has_x = bool(names) and bool(names[0])
    if not has_x or len(names) > len(accepted_names):
        accepted = "exactly one input"
        if len(accepted_names) > 1:
            accepted = f"1 to {len(accepted_names)} inputs, the first of them set"
        yield f"{node.operator} takes {accepted}; here: {names}"
    outputs = list(node.proto.output)
    if len(outputs) != 1 or not outputs[0]:
        yield f"{op_type} has exactly one output; here: {outputs}"

    # An attribute for an input that is not set is reported by the restrictions.
    known = set(schema(op_type, node.opset).attributes)
    for accepted_name, tensor in zip_longest(accepted_names, names):
        if not tensor:
            known.add(accepted_name)
    for attribute in node.proto.attribute:
        if attribute.name not in known:
            yield f"{node.operator} has no attribute {quoted(attribute.name)}"


def _argument(
    node: ClipNode,
    path: Path,
    operand: Operand,
    name: str,
) -> NodeTensor:
    if not name:
        return NodeTensor(operand, None)
    known = node.known(name)
    if not known.defined:
        message = f"input {operand.id} is the undefined tensor {quoted(name)}"
        raise malformed(message, path, node.place)
    return NodeTensor(operand, name, known.declared, known.inferred, known.derived)


def scalars(tensors: Iterable[NodeTensor]) -> list[NodeTensor]:
    """The bounds of a node: its operands that are scalars."""
    return [tensor for tensor in tensors if tensor.operand.role == "scalar"]
