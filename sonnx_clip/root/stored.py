"""Records: frozen models of what a command stores or prints as JSON, and the function that reads one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.root.form_errors import form_error

if TYPE_CHECKING:
    from pathlib import Path

_Record = TypeVar("_Record", bound=BaseModel)

_DEEPEST = 100  # levels of JSON; records have fewer than 20
# Strings are matched to be passed over: brackets in them nest nothing.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class Stored(BaseModel):
    """A part of a record or of JSON output; unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Excerpt(BaseModel):
    """A part of a record that is read in part; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


def read_record(path: Path, form: type[_Record], todo: str) -> _Record:
    """Read a JSON file strictly, as `parse_record` does.

    UserError, with `todo` as its remedy, if the file is missing, cannot be read, is not JSON, or has another
    form.
    """
    try:
        return parse_record(read_regular(path), form)
    except FileNotFoundError as error:
        raise UserError("the file is missing", str(path), todo) from error
    except (OSError, UnicodeDecodeError) as error:
        words = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"the file cannot be read: {words}", str(path), todo) from error
    except ValueError as error:
        raise UserError(str(error), str(path), todo) from error


def parse_record(text: str, form: type[_Record]) -> _Record:
    """Parse JSON strictly: every key once, every number finite, every field as in the model.

    ValueError, which says what is wrong in one line, if the text is not JSON or has another form.
    """
    try:
        # pydantic would take the last of two equal keys, so the text is read once before.
        _require_shallow(text)
        json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        # One line has room for one error, and others may follow from it.
        first = error.errors()[0]
        # Keys and places in lists, from the outside in.
        location = ".".join(map(str, first["loc"]))
        words = form_error(first)
        raise ValueError(f"{location}: {words}" if location else words) from error


def _require_shallow(text: str) -> None:
    """ValueError if brackets are nested too deeply: parsers recurse, and run out of stack."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
        if depth > _DEEPEST:
            raise ValueError(f"it is nested deeper than {_DEEPEST} levels")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return mapping


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
