"""Write an export: the files of a format with their manifest, the whole folder or nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.export.c_header import c_files
from sonnx_clip.export.export_manifest import MANIFEST, calls_fields, manifest
from sonnx_clip.export.plain_formats import json_files, npz_files
from sonnx_clip.export.suite import suite
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import is_standard_output, make_folder
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.runtimes.model_forms import Choice

ExportFormat: TypeAlias = Literal["onnx-backend", "npz", "c-header", "json"]

_PLAIN = {"npz": npz_files, "c-header": c_files, "json": json_files}
_TODO = "name a new or an empty folder"


def _check_folder(folder: Path) -> None:
    """UserError for standard output, and for whatever exists and is no empty folder."""
    if is_standard_output(folder):
        raise UserError("an export is a folder, and cannot be written to standard output", todo=_TODO)
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise UserError("this exists and is not a folder", str(folder), _TODO)
    try:
        occupied = any(folder.iterdir())
    except OSError as error:
        raise UserError(f"this folder cannot be read: {error.strerror}", str(folder), _TODO) from error
    if occupied:
        raise UserError("this folder is not empty", str(folder), _TODO)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a temporary folder beside a new or empty one, which it then replaces.

    A file that appears in the folder meanwhile is kept, and UserError raised, as for any failure.
    """
    place = folder.absolute()
    make_folder(place.parent)
    temporary: Path | None = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}."))
        for name, content in files.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(content)
        temporary.chmod(0o755)
        temporary.rename(place)  # POSIX: replaces an empty folder, and nothing else
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        raise UserError(what, str(folder), "check the folder's permissions, or write elsewhere") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def write_export(
    form: ExportFormat,
    folder: Path,
    types: Sequence[str] = (),
    forms: Choice = "default",
    newest: int | None = None,
) -> str:
    """Write an export, the whole folder or nothing; returns a line that says what was written.

    Args:
        form: the format.
        folder: where to; new or empty.
        types: ids of element types; all that have bit patterns, if empty.
        forms: of models, for ``onnx-backend``: as `check` takes them.
        newest: their newest operator set; that of the installed onnx, if None.

    Raises:
        UserError: an unknown type or operator set, missing or stale vectors, or a folder that is not empty or
            cannot be written.
        ModuleNotFoundError: onnx is not installed, for ``onnx-backend``.
    """
    _check_folder(folder)
    suites = suite(types)
    if form == "onnx-backend":
        from sonnx_clip.export.onnx_directories import directory_files  # needs onnx

        files, more = directory_files(suites, forms, newest)
        sets = sum(one["data_sets"] for one in more["directories"])
        what = f"{len(more['directories']):,} test directories with {sets:,} data sets"
    else:
        files, more = dict(_PLAIN[form](suites)), calls_fields(suites)
        vectors, calls = sum(len(s.vectors) for s in suites), sum(len(s.calls) for s in suites)
        what = f"{vectors:,} vectors and {calls:,} calls"
    files[MANIFEST] = manifest(form, suites, files, more)
    _write_folder(folder, files)
    return f"{what} of {counted(len(suites), 'element type')} are in {folder}"
