"""Whether the names in a model are text: protobuf hands a string that is not UTF-8 over as bytes."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from google.protobuf.descriptor import FieldDescriptor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.message import Message
    from onnx import ModelProto

    from sonnx_clip.graph.listing import Listing

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
