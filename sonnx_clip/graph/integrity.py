"""Models that contradict themselves so that runtimes need not agree on what they mean: refused."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from onnx import AttributeProto, TensorProto

from sonnx_clip.graph.clip_nodes import function_title, inner_path, subgraphs
from sonnx_clip.graph.cycles import circular
from sonnx_clip.graph.declared_tensors import element_type_name, quoted, show_dims, shown
from sonnx_clip.graph.graph_names import is_default_domain
from sonnx_clip.graph.skim import passed_over
from sonnx_clip.graph.stored_tensors import DATA_FIELDS
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from onnx import GraphProto, ModelProto, NodeProto

    from sonnx_clip.graph.listing import Listings

_BYTES = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("FLOAT16", "BFLOAT16", "INT16", "UINT16"), 2),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 4),
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 8),
    "COMPLEX128": 16,
}
_VALUE_TYPES = {
    "value": AttributeProto.TENSOR,
    "sparse_value": AttributeProto.SPARSE_TENSOR,
    "value_float": AttributeProto.FLOAT,
    "value_floats": AttributeProto.FLOATS,
    "value_int": AttributeProto.INT,
    "value_ints": AttributeProto.INTS,
    "value_string": AttributeProto.STRING,
    "value_strings": AttributeProto.STRINGS,
}


def check_integrity(
    model: ModelProto, path: Path, tensors: Iterable[TensorProto], listings: Listings
) -> None:
    """Refuse stored data that do not fit their dimensions, names given twice, Constants with two values.

    Args:
        model: as it was read.
        path: its file.
        tensors: all that it stores.
        listings: of its nodes.

    Raises:
        UserError: naming the tensor, the node, or the graph with the name.
    """
    for tensor in tensors:
        problem = _data_problem(tensor)
        if problem:
            raise malformed(problem, path, f"tensor {quoted(tensor.name)}")
    _check_graph(model.graph, f"graph {quoted(model.graph.name)}", path, listings)
    identities = [(f.domain, f.name, f.overload) for f in model.functions]
    for function, identity in zip(model.functions, identities, strict=True):
        title = function_title(function)
        if identities.count(identity) > 1:
            raise malformed("the model has two functions of this name", path, title)
        _check_names([*function.input, *listings.of(function.node).made], title, path)
        _check_nodes(function.node, title, path, listings)


def malformed(what: str, path: Path, place: str) -> UserError:
    """The refusal of a model of which ONNX does not say what it means."""
    return UserError(
        what,
        where=f"{shown(str(path))}, {place}",
        todo="correct the model; onnx.checker.check_model says more",
    )


def _data_problem(tensor: TensorProto) -> str | None:
    """What is wrong with the number of entries of a stored tensor. No entry is decoded."""
    if tensor.data_location == TensorProto.EXTERNAL or tensor.HasField("segment"):
        return None
    lengths = {field: len(getattr(tensor, field)) for field in DATA_FIELDS}
    for taken, count in passed_over(tensor).items():
        lengths[taken] += count
    filled = [field for field, length in lengths.items() if length > 0]
    if len(filled) > 1:
        return f"its data stand in several fields: {', '.join(filled)}"
    kind = element_type_name(tensor.data_type)
    wanted = math.prod(max(dim, 0) for dim in tensor.dims)
    field = filled[0] if filled else None
    length = lengths[field] if field else 0
    if length in _lengths(kind, field, wanted) and not any(dim < 0 for dim in tensor.dims):
        return None
    unit = "bytes of raw data" if field == "raw_data" else "entries"
    return (
        f"its dimensions {show_dims(tuple(tensor.dims))} do not fit its {length} {unit} ({kind or 'no type'})"
    )


def _lengths(kind: str | None, field: str | None, wanted: int) -> tuple[int, ...]:
    """The lengths that a field may have for so many entries; an unknown type allows any that is not zero."""
    if kind is not None and kind.startswith("COMPLEX") and field != "raw_data":
        return (2 * wanted,)
    if (field != "raw_data" and kind in _BYTES) or kind == "STRING" or field is None:
        return (wanted,)
    if kind in _BYTES:
        return (wanted * _BYTES[kind],)
    if kind is not None and kind.startswith("FLOAT8"):
        return (wanted,)
    # Packed types have two or four entries in a byte; not every writer packs them.
    return (wanted, -(-wanted // 2), -(-wanted // 4))


def _check_graph(graph: GraphProto, title: str, path: Path, listings: Listings) -> None:
    inputs = [value.name for value in graph.input]
    stored = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    computed = list(listings.of(graph.node).made)
    _check_names(inputs, title, path)
    _check_names(computed, title, path)
    made = set(computed)
    for names in (stored, inputs):
        _check_names(names if made.isdisjoint(names) else [*names, *computed], title, path)
    _check_nodes(graph.node, title, path, listings)


def _check_names(names: Sequence[str], title: str, path: Path) -> None:
    if len(set(names)) == len(names):
        return
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise malformed(f"the name {quoted(twice)} is given to two tensors", path, title)


def _check_nodes(nodes: Sequence[NodeProto], title: str, path: Path, listings: Listings) -> None:
    listing = listings.of(nodes)
    index = circular(listing)
    if index is not None:
        name = nodes[index].name or " ".join(nodes[index].output)
        place = f"node {index} {quoted(name)} of {title}"
        raise malformed("the node needs its own result: the nodes form a circle", path, place)
    for index in listing.named("Constant"):
        node = nodes[index]
        if is_default_domain(node.domain):
            _check_constant(
                node, f"node {index} {quoted(node.name or ' '.join(node.output))} of {title}", path
            )
    for index, node in listing.carriers.items():
        for attribute, graph in subgraphs(node):
            _check_graph(graph, inner_path(title, node, index, attribute), path, listings)


def _check_constant(node: NodeProto, place: str, path: Path) -> None:
    names = [attribute.name for attribute in node.attribute]
    if len(names) != 1 or names[0] not in _VALUE_TYPES:
        found = ", ".join(map(quoted, names)) or "none"
        raise malformed(f"a Constant has exactly one value attribute; here: {found}", path, place)
    attribute = node.attribute[0]
    if not attribute.ref_attr_name and attribute.type != _VALUE_TYPES[names[0]]:
        raise malformed(
            f"the attribute {quoted(names[0])} of a Constant holds a value of another kind", path, place
        )
