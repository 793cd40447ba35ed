"""Reads the records that other commands wrote: one message when they are missing, damaged or stale, and
whether they are of what is here.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.generate import Generated, differences, render_all
from sonnx_clip.backends.numpy_oracle import render_numpy
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.runtimes.runtime import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.spec import Spec


_Record = TypeVar("_Record", bound=BaseModel)


def read_record(path: Path, form: type[_Record], todo: str) -> tuple[_Record, str]:
    """A JSON file as a model, and its text; UserError if it cannot be read or has another form."""
    text = read_text(path, todo)
    try:
        return form.model_validate_json(text), text
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise UserError(f"not JSON: {first['ctx']['error']}", str(path), todo) from error
        at = ".".join(map(str, first["loc"]))
        raise UserError(": ".join(filter(None, (at, first["msg"]))), str(path), todo) from error


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


# ------------------------------------------------------------------------------------------------------------
# Whether the generated files are what the specification gives, and the versions those that are installed


GENERATE = "run: sonnx-clip generate"


def require_fresh(spec: Spec, generated: Path, *, everything: bool) -> None:
    """UserError for the first generated file that is not as the specification gives it.

    Args:
        spec: the specification.
        generated: the folder of what is generated.
        everything: whether all files are rendered, or those alone that no other check covers: the theories
            and the C have their digests in proofs.json, and the vectors are computed one by one.
    """
    if everything:
        found = differences(render_all(spec), generated.parent)
    else:
        rendered = Generated({**render_coq(spec), **render_numpy(spec)}, ())
        found = differences(rendered, generated.parent, folders=())
    if found:
        raise UserError(found[0], str(generated), GENERATE)


def require_installed(reports: Mapping[str, Report], again: str) -> tuple[str, ...]:
    """UserError if a report is on another version than the installed one; the runtimes that are not there.

    The code of our own implementations has a digest of its own in each report.
    """
    missing = []
    for name, report in reports.items():
        package = PACKAGES.get(name)
        if package is None:
            continue
        try:
            installed = f"{package} {version(package)}"
        except PackageNotFoundError:
            missing.append(name)
            continue
        if report.runtime_version != installed:
            what = f"it speaks of {report.runtime_version}, and {installed} is installed"
            raise UserError(what, f"the report on {name}", again.format(name=name))
    return tuple(missing)
