"""Models that contradict themselves so that runtimes need not agree on what they mean, that wait for
themselves, or whose names are no text: refused.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from google.protobuf.descriptor import FieldDescriptor
from onnx import AttributeProto, TensorProto

from sonnx_clip.graph.clip_nodes import all_nodes, function_title, inner_path, subgraphs
from sonnx_clip.graph.declared_tensors import element_type_name, quoted, show_dims, shown
from sonnx_clip.graph.graph_names import is_default_domain
from sonnx_clip.graph.stored_tensors import DATA_FIELDS
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from google.protobuf.message import Message
    from onnx import GraphProto, ModelProto, NodeProto

    from sonnx_clip.graph.graph_names import Listing, Listings


def circular(listing: Listing) -> int | None:
    """The position of a node that needs its own result, through others or itself; None where none does."""
    if _in_order(listing):
        return None
    nodes = listing.nodes
    maker = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needs = [_needs(node, maker) for node in nodes]
    users: dict[int, list[int]] = {}
    for index, wanted in enumerate(needs):
        for earlier in wanted:
            users.setdefault(earlier, []).append(index)
    open_needs = [len(wanted) for wanted in needs]
    ready = [index for index, count in enumerate(open_needs) if count == 0]
    while ready:
        for user in users.get(ready.pop(), ()):
            open_needs[user] -= 1
            if open_needs[user] == 0:
                ready.append(user)
    return next((index for index, count in enumerate(open_needs) if count), None)


def _in_order(listing: Listing) -> bool:
    """Every node stands behind those whose results it reads, which is the order that ONNX asks for."""
    made: set[str] = set()
    read_before: set[str] = set()
    reads = listing.inputs
    if listing.carriers:
        reads = reads.copy()
        for index, node in listing.carriers.items():
            reads[index] = list(_read(node))
    for names, results in zip(reads, listing.outputs, strict=True):
        for name in names:
            if name not in made:
                read_before.add(name)
        made.update(results)
    read_before.discard("")
    return made.isdisjoint(read_before)


def _needs(node: NodeProto, maker: dict[str, int]) -> set[int]:
    """The nodes of the same graph whose results a node or a graph within it reads."""
    return {maker[name] for name in _read(node) if name in maker}


def _read(node: NodeProto) -> Iterable[str]:
    inside = list(all_nodes([node]))
    own = {name for inner in inside[1:] for name in inner.output}
    return [*node.input, *(name for inner in inside[1:] for name in inner.input if name not in own)]


# --- Whether the names in a model are text: protobuf hands a string that is not UTF-8 over as bytes ---------


# Prose that nothing here reads, and in which old exporters left other encodings.
_NAME = attrgetter("name")
_PROSE = frozenset({"doc_string", "metadata_props", "producer_name", "producer_version"})


def bad_text(model: ModelProto, listing: Listing) -> str | None:
    """The field path of the first string of a model that is not valid UTF-8; see `_bad_field`.

    Args:
        model: as it was read.
        listing: of the nodes of its graph.
    """
    if not _plain(listing):
        return _bad_field(model)
    found = _bad_field(model, but="graph")  # all of the model but its nodes, which are by far the most
    if found is None:
        inside = _bad_field(model.graph, but="node")
        found = None if inside is None else f"graph.{inside}"
    return found


def _plain(listing: Listing) -> bool:
    """Every string of the nodes is text."""
    names = chain.from_iterable(chain(listing.inputs, listing.outputs, set(listing.kinds)))
    try:
        "".join(chain(names, map(_NAME, listing.nodes)))
    except TypeError:
        return False
    return all(_bad_field(node) is None for node in listing.carriers.values())


def _bad_field(message: Message, but: str = "") -> str | None:
    """The field path of the first string that is not valid UTF-8, for example ``graph.node[3].input[0]``."""
    fields = (pair for pair in message.ListFields() if pair[0].name != but)
    found = (_bad_value(field.name, field.type, value) for field, value in fields)
    return next((path for path in found if path is not None), None)


def _bad_value(name: str, kind: int, value: object) -> str | None:
    if name in _PROSE or kind not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
        return None
    single = isinstance(value, str | bytes) or hasattr(value, "ListFields")
    for number, item in enumerate([value] if single else cast("Iterable[object]", value)):
        found = _bad_item(item)
        if found is not None:
            return f"{name}{'' if single else f'[{number}]'}{found}"
    return None


def _bad_item(item: object) -> str | None:
    if isinstance(item, str):
        return None
    if isinstance(item, bytes):
        return ""
    found = _bad_field(cast("Message", item))
    return None if found is None else f".{found}"


# --- Models that contradict themselves so that runtimes need not agree on what they mean: refused -----------


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
