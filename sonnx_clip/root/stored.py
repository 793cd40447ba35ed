"""Records: frozen models of what a command stores or prints as JSON, and the function that reads one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.root.form_errors import form_error

if TYPE_CHECKING:
    from pathlib import Path

_Record = TypeVar("_Record", bound=BaseModel)


class Stored(BaseModel):
    """A part of a record or of JSON output; unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Excerpt(BaseModel):
    """A part of a record that is read in part; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


def read_record(path: Path, form: type[_Record], todo: str) -> _Record:
    """Read a JSON file strictly: every key once, every number finite, every field as in the model.

    UserError, with `todo` as its remedy, if the file is missing, cannot be read, is not JSON, or has another
    form.
    """
    try:
        text = read_regular(path)
        json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        return form.model_validate_json(text)
    except FileNotFoundError as error:
        raise UserError("the file is missing", str(path), todo) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = form_error(first)
        raise UserError(f"{place}: {what}" if place else what, str(path), todo) from error
    except (OSError, UnicodeDecodeError) as error:
        words = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"the file cannot be read: {words}", str(path), todo) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"not JSON: {error}", str(path), todo) from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
