"""Reads the records that other commands wrote: one message when they are missing, damaged or stale."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.spec import Spec

_Record = TypeVar("_Record", bound=BaseModel)


def read_record(path: Path, form: type[_Record], todo: str) -> tuple[_Record, str]:
    """A JSON file as a model, and its text; UserError if it cannot be read or has another form."""
    text = read_text(path, todo)
    try:
        return form.model_validate(json.loads(text)), text
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"not JSON: {error}", str(path), todo) from error
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise UserError(f"{at}: {first['msg']}", str(path), todo) from error


def read_text(path: Path, todo: str) -> str:
    """The text of a file; UserError if there is none."""
    try:
        return read_regular(path)
    except FileNotFoundError as error:
        raise UserError("it is missing", str(path), todo) from error
    except (OSError, UnicodeDecodeError) as error:
        words = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"it cannot be read: {words}", str(path), todo) from error


def require_digest(found: str, spec: Spec, path: Path, todo: str) -> None:
    """UserError if a record speaks of another specification."""
    if found != spec.digest:
        what = f"stale: it speaks of a spec/clip.yaml {found[:12]}…, this one is {spec.digest[:12]}…"
        raise UserError(what, str(path), todo)
