"""Why shapes of Clip nodes are not known as numbers: an input with open sizes, or where inference stops."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.lint.clip_nodes import FoundNodes, find_nodes
from sonnx_clip.lint.edit import set_dims
from sonnx_clip.lint.graph_scope import typed
from sonnx_clip.lint.model_file import bodies_in, copy_of
from sonnx_clip.lint.safe_text import quoted, show_dims
from sonnx_clip.lint.tensors import static_dims, symbolic_dims
from sonnx_clip.lint.verdict import NORMALISE, RootCause
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from onnx import ModelProto, NodeProto

    from sonnx_clip.lint.clip_nodes import ClipNode
    from sonnx_clip.lint.graph_scope import GraphScope
    from sonnx_clip.lint.tensors import Dims

# Sizes with which it is tried whether numbers for the inputs give the shapes: of axis 0, of the others.
# Several, since a model need not accept every size.
_TRIALS = ((1, 224), (1, 16), (2, 64))


@dataclass(frozen=True)
class _OpenInput:
    """An input of the graph whose sizes are not all numbers; `dims` is None where it has no shape."""

    name: str
    dims: Dims | None


def causes_of(
    model: ModelProto,
    found: FoundNodes,
    open_nodes: Sequence[int],
    path: Path,
) -> tuple[RootCause, ...]:
    """The root causes of open shapes: inputs on which these nodes depend, and where inference stops.

    A command is offered for an input only where numbers for its sizes give shapes that were open.

    Args:
        model: the model.
        found: its nodes.
        open_nodes: the indices of those whose shapes are not known as numbers.
        path: the file, for messages.
    """
    nodes = [found.nodes[index] for index in open_nodes]
    follow = _unknown_shapes(len(nodes))
    needed = _needed(nodes)
    without_shape: list[_OpenInput] = []
    dynamic: list[_OpenInput] = []
    for value in _open_inputs(model):
        if value.name in needed:
            inputs = without_shape if value.dims is None else dynamic
            inputs.append(value)

    with_sizes = found
    if dynamic:
        with_sizes = _settled_by_sizes(model, dynamic, open_nodes, path)
    still_open = [index for index in open_nodes if _is_open(with_sizes.nodes[index])]
    settles_some = len(still_open) < len(open_nodes)
    causes = [_without_shape(value, follow) for value in without_shape]
    causes += [_dynamic(value, follow, offered=settles_some) for value in dynamic]
    # No trial gives a shape to an input without one, so it may be all that keeps the others open.
    if still_open and not without_shape:
        first = with_sizes.nodes[still_open[0]]
        causes.append(_stop(first, len(still_open)))
    return tuple(causes)


def _unknown_shapes(count: int) -> str:
    return f"the shapes of {counted(count, 'Clip node')} are not known as numbers"


def _without_shape(value: _OpenInput, follow: str) -> RootCause:
    message = f"input {quoted(value.name)} has no shape: {follow}"
    return RootCause(value.name, message, "declare its shape")


def _dynamic(value: _OpenInput, follow: str, *, offered: bool) -> RootCause:
    """The cause where sizes of an input are open; `offered`: numbers for them settle some shapes."""
    assert value.dims is not None
    message = f"input {quoted(value.name)} is dynamic, {show_dims(value.dims)}: {follow}"
    if not offered:
        remedy = "numbers for its sizes do not suffice: see the next cause"
        return RootCause(value.name, message, remedy)
    # The user has to choose: sizes that lint would invent could be pasted unread.
    sizes = ",".join("?" if isinstance(dim, str) else str(dim) for dim in value.dims)
    remedy = f"{NORMALISE} --input-shape sets its sizes: put a number for each ?"
    setting = shlex.quote(f"{value.name}={sizes}")
    return RootCause(value.name, message, remedy, f"--input-shape {setting}")


def _stop(node: ClipNode, count: int) -> RootCause:
    """The cause where no size of an input is open, or none of them is the reason."""
    remedy = "declare the shapes behind it (value_info), or derive them from constants"
    follow = _unknown_shapes(count)
    stop = None if node.scope.in_function else _where_inference_stops(node)
    if stop is None:
        return RootCause(None, f"inference stops at the nodes before Clip: {follow}", remedy)
    index, proto = stop
    name = f" {quoted(proto.name)}" if proto.name else ""
    return RootCause(
        None,
        f"inference stops at {proto.op_type}{name}, node {index}: {follow}",
        remedy,
    )


# --- What depends on what ---


def _open_inputs(model: ModelProto) -> Iterator[_OpenInput]:
    """The inputs that a caller has to give whose sizes are not all numbers."""
    stored = {tensor.name for tensor in model.graph.initializer}
    for name, info in typed(model.graph.input, "graph input"):
        is_open = info.dims is None or bool(symbolic_dims(info.dims))
        if is_open and name not in stored and not info.not_tensor:
            yield _OpenInput(name, info.dims)


def _outermost(node: ClipNode) -> tuple[GraphScope, set[str]]:
    """The scope of the main graph, and the names that the node reads, or a node there that carries it."""
    scope = node.scope
    names = set(node.proto.input)
    # A node of a subgraph may read a name of any graph around it, and runs when its carrier does.
    while scope.outer is not None:
        scope = scope.outer
        for carrier in scope.body.node:
            if _holds(carrier, node.proto):
                names |= _reads(carrier)
    return scope, names


def _holds(carrier: NodeProto, inner: NodeProto) -> bool:
    for body in bodies_in(carrier.attribute):
        for node in body.node:
            # Protobuf makes a new object at some look-ups, so that identity alone does not suffice.
            if node is inner or node == inner:
                return True
    return False


def _reads(node: NodeProto) -> set[str]:
    """The names that a node reads, those in the graphs that it carries among them."""
    names = set(node.input)
    for body in bodies_in(node.attribute):
        for inner in body.node:
            names.update(inner.input)
    return names


def _ancestors(node: ClipNode) -> tuple[GraphScope, list[int], set[str]]:
    """The main graph's scope, its nodes on which a Clip node depends, in order, and all names needed."""
    scope, needed = _outermost(node)
    indices = []
    # Nodes come after those whose results they read, so one walk backwards finds all of them.
    for index in reversed(range(len(scope.body.node))):
        proto = scope.body.node[index]
        if needed.intersection(proto.output):
            needed |= _reads(proto)
            indices.append(index)
    indices.reverse()
    return scope, indices, needed


def _needed(nodes: Sequence[ClipNode]) -> set[str]:
    """The names on which any of the nodes depends; a node of a function depends on what calls may give."""
    needed: set[str] = set()
    for node in reversed(nodes):  # what the last one depends on mostly covers the others
        is_covered = needed.issuperset(node.proto.input)
        if not node.scope.in_function and not is_covered:
            _, _, names = _ancestors(node)
            needed |= names
    return needed


def _where_inference_stops(node: ClipNode) -> tuple[int, NodeProto] | None:
    """The first node before a Clip node whose inputs have known shapes and whose result has not."""
    scope, indices, _ = _ancestors(node)
    for index in indices:
        proto = scope.body.node[index]
        # Optional inputs and outputs that are not set have the empty name, and no shape.
        inputs_known = all(_has_numbers(scope, name) for name in proto.input if name)
        outputs_known = all(_has_numbers(scope, name) for name in proto.output if name)
        if inputs_known and not outputs_known:
            return index, proto
    return None


def _has_numbers(scope: GraphScope, name: str) -> bool:
    known = scope[name]
    facts = (known.inferred, known.derived, *known.declared)
    return any(static_dims(fact.dims) is not None for fact in facts)


# --- Sizes to try ---


def _settled_by_sizes(
    model: ModelProto,
    inputs: Sequence[_OpenInput],
    open_nodes: Sequence[int],
    path: Path,
) -> FoundNodes:
    """The nodes of the model with numbers for the sizes of inputs: of the trial that settles most."""
    best: FoundNodes | None = None
    fewest_open = len(open_nodes) + 1  # so that the first trial is better than none
    for sizes in _TRIALS:
        trial = find_nodes(_with_sizes(model, inputs, sizes), path)
        still_open = sum(_is_open(trial.nodes[index]) for index in open_nodes)
        if still_open < fewest_open:
            best, fewest_open = trial, still_open
        if not still_open:
            break
    assert best is not None
    return best


def _with_sizes(
    model: ModelProto,
    inputs: Sequence[_OpenInput],
    sizes: tuple[int, int],
) -> ModelProto:
    """A copy of the model with a number for each open size of these inputs."""
    copy = copy_of(model)
    first, others = sizes
    dims_of = {value.name: value.dims for value in inputs}
    for value in copy.graph.input:
        dims = dims_of.get(value.name)
        if dims is None:
            continue
        chosen = []
        for axis, dim in enumerate(dims):
            trial = others if axis else first
            chosen.append(dim if isinstance(dim, int) else trial)
        set_dims(value, tuple(chosen))
    return copy


def _is_open(node: ClipNode) -> bool:
    """The shape of the operand or of the result is not known as numbers."""
    x = node.proto.input[0]
    y = node.proto.output[0]
    return not (_has_numbers(node.scope, x) and _has_numbers(node.scope, y))
