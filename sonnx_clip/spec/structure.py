"""Plain data -> model, with pydantic's complaints turned into messages about the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.form_errors import expected_value
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from sonnx_clip.root.errors import UserError
    from sonnx_clip.spec.document import Document, Position

_Model = TypeVar("_Model", bound=BaseModel)


def validate(model: type[_Model], document: Document) -> _Model:
    """The model of a file; UserError for the first place where the file does not fit.

    A missing key comes after all else: it may be there, misspelt.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        complaints: list[_Complaint] = []
        for details in error.errors():
            if _follows(details):
                continue
            is_missing = details["type"] == "missing"
            at, complaint = _placed(model, document, details)
            complaints.append(_Complaint(is_missing, at, complaint))
        # Errors have no order, so that the first two fields alone are compared.
        first = min(complaints, key=itemgetter(0, 1))
        raise first.error from error


class _Complaint(NamedTuple):
    """A complaint of pydantic as an error about the file."""

    is_missing: bool
    at: Position
    error: UserError


def _follows(details: ErrorDetails) -> bool:
    """Whether a list is called too short only because items of it are wrong, which are reported."""
    if details["type"] != "too_short":
        return False
    value = details["input"]
    least = details.get("ctx", {}).get("min_length", 0)
    return isinstance(value, list) and len(value) >= least


def _placed(
    model: type[BaseModel],
    document: Document,
    details: ErrorDetails,
) -> tuple[Position, UserError]:
    """The place of one complaint, and the message for it."""
    sort = details["type"]
    value = details["input"]
    context = details.get("ctx", {})
    way = _real_way(document.data, details["loc"], missing=sort == "missing")
    # That of the value; where the key is wrong, its own place is given below.
    at = document.position(way)
    todo: str | None = None
    match sort:
        case "extra_forbidden" | "unexpected_keyword_argument":
            at = document.key_position(way)
            message = f"the key `{way[-1]}` is not known here"
            todo = _known_keys(model, document.data, way)
        case "missing":
            message = f"the key `{way[-1]}` is missing"
            todo = f"add `{way[-1]}: …` to this entry"
            way = way[:-1]
        case "literal_error":
            if details["loc"][-1] == "[key]":  # so pydantic marks a wrong key of a mapping
                at = document.key_position(way)
            message = f"`{_short(value)}` is not allowed here"
            todo = f"one of: {context['expected']}"
            if ")" in str(value):  # the end of a text that YAML has split at its comma
                todo += "; inside { } a text with a comma needs quotes"
        case "string_pattern_mismatch":
            message = f"`{_short(value)}` is not a valid name"
            todo = f"it must match {context['pattern']}"
        case "value_error":
            message = str(context["error"])
        case _:
            message = f"{expected_value(details)}, this is {_sort_of(value)}"
    return at, document.error(way, message, todo, at)


def _real_way(
    data: Any,
    loc: tuple[int | str, ...],
    *,
    missing: bool,
) -> tuple[int | str, ...]:
    """A location of pydantic without the parts that name members of a union."""
    way: list[int | str] = []
    for index, part in enumerate(loc):
        # Down in the data as far as the parts lead there: a name of a member does not.
        is_key = isinstance(data, Mapping) and part in data
        is_index = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if is_key or is_index:
            way.append(part)
            data = data[part]
        elif missing and index == len(loc) - 1:
            way.append(part)  # the missing key, which the data cannot have
    return tuple(way)


def _known_keys(model: type[BaseModel], data: Any, way: Sequence[int | str]) -> str:
    """The keys of the part of the model in which an unknown one is."""
    *above, key = way
    for part in above:
        data = data[part]
    # What else the entry has tells which of several parts it is meant to be.
    siblings: set[str] = data.keys() - {key}
    keys_of_parts = [_keys(part) for part in _parts_at(model, above)]
    if not keys_of_parts:
        return "leave it out"

    def likeness(keys: list[str]) -> float:
        shared = siblings.intersection(keys)
        either = siblings.union(keys)
        return len(shared) / len(either)

    # Several parts may be allowed at a place: the one that shares most keys is meant.
    best = max(keys_of_parts, key=likeness)
    # A key that is there already is hardly the one that was meant, but the list names it: without it a reader
    # would take the list for all that an entry may have.
    missing = [name for name in best if name not in siblings]
    names = missing if nearest(str(key), missing) else best
    return suggestion(str(key), names, "known keys")


def _keys(part: type[BaseModel]) -> list[str]:
    """The keys of a part as the file has them."""
    return [field.alias or name for name, field in part.model_fields.items()]


def _parts_at(model: type[BaseModel], way: Sequence[int | str]) -> list[type[BaseModel]]:
    """The parts of a model that may be at a path; the indices of lists and the keys of mappings name none."""
    parts = [model]
    for key in way:
        # Several parts: a union of models may be at a place, each with fields of its own.
        inner: list[type[BaseModel]] = []
        is_name_of_field = False
        for part in parts:
            for name, field in part.model_fields.items():
                if key in (name, field.alias):
                    is_name_of_field = True
                    inner += _parts_of(field.annotation)
        if is_name_of_field:
            parts = inner
    return parts


def _parts_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that the type of a field names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts_of(inner)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _sort_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"`{_short(value)}`"
    return "a mapping" if isinstance(value, Mapping) else "a list"
