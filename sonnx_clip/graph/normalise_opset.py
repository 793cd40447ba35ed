"""The version of ai.onnx raised, so that Clip has its bounds as inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import ModelProto, defs

from sonnx_clip.graph.arguments import BOUNDS_ARE_INPUTS_SINCE
from sonnx_clip.graph.ask_onnx import converted
from sonnx_clip.graph.edit import all_names, clips, graphs
from sonnx_clip.graph.scope import is_default_domain
from sonnx_clip.graph.walk import all_nodes, is_clip, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from onnx import GraphProto, NodeProto

# The least change comes first: versions of ai.onnx whose Clip has inputs, up to the newest version of Clip.
_TARGETS = (11, 12, 13)


@dataclass(frozen=True)
class Raised:
    """The model at a higher version, its Clip nodes with X alone, or None; and how, or why not."""

    model: ModelProto | None
    version: int
    how: str


def raise_opset(model: ModelProto, version: int, folder: Path) -> Raised:
    """Raise ai.onnx to the least version that fits.

    Where every other operator of the model is the same in both versions, only the number changes. Otherwise
    onnx's version converter is asked for `_TARGETS[0]`; what it has no reason to touch stays as it was.

    Args:
        model: not changed.
        version: the one that it imports.
        folder: of the model's external data.
    """
    for target in _TARGETS:
        if not _different(model.graph.node, version, target):
            result = _copy(model, target)
            _without_bounds(result)
            return Raised(result, target, "every other operator of the model is the same in both versions")
    return _convert(model, version, _TARGETS[0], folder)


def _convert(model: ModelProto, version: int, target: int, folder: Path) -> Raised:
    unknown = [name for name, _, new in _different(model.graph.node, version, target) if new is None]
    if unknown:
        return Raised(None, version, f"ai.onnx {target} has no operator {unknown[0]}")
    found, reason = converted(model.SerializeToString(), target, folder)
    if found is None:
        return Raised(None, version, f"onnx's version converter refuses the model: {reason}")
    result = _copy(model, target)
    problem = _take_over(result, found, version, target)
    if problem:
        return Raised(None, version, problem)
    _without_bounds(result)
    _prune(result.graph, all_names(model))
    pairs = dict.fromkeys(
        f"{name}-{old} to {new}" for name, old, new in _different(model.graph.node, version, target)
    )
    return Raised(
        result, target, f"by onnx's version converter, which is believed, not proved: {', '.join(pairs)}"
    )


def _copy(model: ModelProto, target: int) -> ModelProto:
    result = ModelProto()
    result.CopyFrom(model)
    for entry in result.opset_import:
        if is_default_domain(entry.domain):
            entry.version = target
    return result


def _different(nodes: Iterable[NodeProto], old: int, new: int) -> list[tuple[str, int | None, int | None]]:
    """The operators, Clip apart, whose versions differ between two operator sets: name, version in each."""
    found = []
    for node in all_nodes(nodes):
        if not is_default_domain(node.domain) or is_clip(node):
            continue
        pair = (_since(node.op_type, old), _since(node.op_type, new))
        if pair[0] != pair[1] or pair[0] is None:
            found.append((node.op_type, *pair))
    return found


def _since(operator: str, version: int) -> int | None:
    try:
        return defs.get_schema(operator, version, "").since_version
    except defs.SchemaError:
        return None


def _without_bounds(model: ModelProto) -> None:
    """Leave its Clip nodes their X; the bounds are put in afterwards."""
    for node in clips(model):
        del node.input[1:]
        kept = [
            attribute
            for attribute in node.attribute
            if attribute.name not in ("min", "max", "consumed_inputs")
        ]
        del node.attribute[:]
        node.attribute.extend(kept)


def _take_over(result: ModelProto, found: ModelProto, old: int, new: int) -> str | None:
    """Take the converted nodes over into the model that was read; returns what prevents it."""
    if [v.name for v in found.graph.output] != [v.name for v in result.graph.output]:
        return "onnx's version converter renames outputs of the model"
    stored = {tensor.name: tensor for tensor in result.graph.initializer}
    for tensor in found.graph.initializer:
        same = stored.get(tensor.name)
        if same is None:
            result.graph.initializer.append(tensor)
        elif (list(same.dims), same.data_type) != (list(tensor.dims), tensor.data_type):
            return f"onnx's version converter changes the stored tensor {tensor.name!r}"
    untouched = {tuple(n.output): n for n in result.graph.node if is_clip(n) or _untouched(n, old, new)}
    nodes = [_original(node, untouched.get(tuple(node.output))) for node in found.graph.node]
    if len(clips(result)) != sum(is_clip(node) for node in all_nodes(nodes)):
        return "onnx's version converter changes the number of Clip nodes"
    copies = ModelProto()
    copies.graph.node.extend(nodes)
    del result.graph.node[:]
    result.graph.node.extend(copies.graph.node)
    return None


def _original(node: NodeProto, original: NodeProto | None) -> NodeProto:
    """The node as it was, unless the converter gave it another input."""
    if original is None:
        return node
    count = 1 if is_clip(node) else None  # the bounds of Clip are new inputs
    return original if list(node.input[:count]) == list(original.input[:count]) else node


def _untouched(node: NodeProto, old: int, new: int) -> bool:
    holds_clip = any(is_clip(inner) for inner in all_nodes([node]))
    return not holds_clip and not _different([node], old, new)


def _prune(graph: GraphProto, names: set[str]) -> None:
    """Take out Constant nodes that the converter added and that nothing reads any more."""
    found = [inner for _, inner in graphs(graph, "")]
    read = {value.name for inner in found for value in inner.output}
    read |= {name for node in all_nodes(graph.node) for name in node.input}
    for inner in found:
        for node in list(inner.node):
            if (
                node.op_type == "Constant"
                and not {*node.output} & (names | read)
                and not list(subgraphs(node))
            ):
                inner.node.remove(node)


assert _TARGETS[0] == BOUNDS_ARE_INPUTS_SINCE
