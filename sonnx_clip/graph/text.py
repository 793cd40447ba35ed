"""Whether the names in a model are text: protobuf hands a string that is not UTF-8 over as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from google.protobuf.descriptor import FieldDescriptor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.message import Message

# Prose that nothing here reads, and in which old exporters left other encodings.
_PROSE = frozenset({"doc_string", "metadata_props", "producer_name", "producer_version"})


def bad_text(message: Message) -> str | None:
    """The field path of the first string that is not valid UTF-8, for example ``graph.node[3].input[0]``."""
    for field, value in message.ListFields():
        if field.name in _PROSE or field.type not in (
            FieldDescriptor.TYPE_STRING,
            FieldDescriptor.TYPE_MESSAGE,
        ):
            continue
        single = isinstance(value, str | bytes) or hasattr(value, "ListFields")
        for number, item in enumerate([value] if single else cast("Iterable[object]", value)):
            found = _bad_item(item)
            if found is not None:
                return f"{field.name}{'' if single else f'[{number}]'}{found}"
    return None


def _bad_item(item: object) -> str | None:
    if isinstance(item, str):
        return None
    if isinstance(item, bytes):
        return ""
    found = bad_text(item)
    return None if found is None else f".{found}"
