"""Write an export: the files of a format with their manifest, the whole folder or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import sonnx_clip
from sonnx_clip.export.c_header import c_files, compile_line
from sonnx_clip.export.plain_formats import json_files, npz_files
from sonnx_clip.export.suite import TABLES, granted, suite
from sonnx_clip.language.printing import unparse
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, is_standard_output, require_folder_of
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.runtimes.layouts import Layout
    from sonnx_clip.runtimes.model_forms import Choice

ExportFormat: TypeAlias = Literal["onnx-backend", "npz", "c-header", "json", "sonnx"]

MANIFEST = "manifest.json"
_COMPARE = (
    "A result is right if it has the bits of `expected`. Where `also` is not 0, an answer that one of its"
    " flags grants is acceptable: see `latitude`. The strict policy counts the flags alone that are `always`"
    " granted."
)
_TODO = "name a new or empty folder"


def write_export(
    form: ExportFormat, folder: Path, types: Sequence[str] = (), forms: Choice = "default",
    newest: int | None = None, build: Path | None = None,
) -> str:  # fmt: skip
    """Write an export, the whole folder or nothing; returns a summary in one line.

    Args:
        form: the format.
        folder: where to; new or empty.
        types: ids of element types; all that have bit patterns, if empty.
        forms: of models, for ``onnx-backend``: as `check` takes them.
        newest: their newest operator set; the newest that onnxruntime serves, if None.
        build: the folder with proofs.json, for ``sonnx``.

    Raises:
        UserError: an unknown type or operator set, missing or stale vectors, or an unusable folder.
        ModuleNotFoundError: onnx is not installed, for ``onnx-backend``.
    """
    _check_folder(folder)
    suites = suite(types)
    if form == "onnx-backend":
        from sonnx_clip.export.onnx_directories import directory_files  # needs onnx

        files, more = directory_files(suites, forms, newest)
        sets = sum(one["data_sets"] for one in more["directories"])
        what = f"{len(more['directories']):,} test directories with {sets:,} data sets"
    elif form == "sonnx":
        from sonnx_clip.export.sonnx_files import (
            sonnx_files,
        )  # only this format needs printers and claims

        files, more, what = sonnx_files(build), {}, "the page, the cases and the trace"
    else:
        counts: list[dict[str, Any]] = [
            {"type": one.etype.id, "vectors": len(one.vectors), "calls": len(one.calls)}
            for one in suites
        ]
        layouts = [layout_fields(layout) for layout in LAYOUTS]
        more = {"compare": _COMPARE, "layouts": layouts, "tables": list(TABLES), "types": counts}
        if form == "c-header":
            files = dict(c_files(suites, layouts))
            for fields, one in zip(counts, suites, strict=True):
                fields["compile"] = compile_line(one.etype)
        else:
            files = dict(npz_files(suites) if form == "npz" else json_files(suites))
        vectors, calls = (sum(one[key] for one in counts) for key in ("vectors", "calls"))
        what = f"{vectors:,} vectors and {calls:,} calls"
    files[MANIFEST] = _manifest(form, suites, files, more)
    _write_folder(folder, files)
    return f"{what} of {counted(len(suites), 'element type')} are in {folder}"


def _manifest(
    form: str, suites: Sequence[TypeSuite], files: Mapping[str, bytes], more: Mapping[str, Any]
) -> bytes:
    """The manifest of files (content by path) as JSON, with the fields of the format in `more`."""
    spec = load_spec()
    document = {
        "kind": "sonnx-clip export",
        "version": 2,
        "format": form,
        "generated": f"sonnx-clip {sonnx_clip.__version__}",
        "operator": spec.operator,
        "spec_sha256": spec.digest,
        **more,
        "latitude": [asdict(one) for one in granted()],
        "cases": [{"id": c.id, "title": c.title, "when": unparse(c.when), "result": c.result_text}
                  for c in spec.cases],
        "classes": [
            {"id": c.id, "title": c.title, "matters": c.matters, "case": c.case, "when": unparse(c.when),
             "example": {"X": c.inhabited_by.X, "min": c.inhabited_by.L, "max": c.inhabited_by.M},
             "types": [s.etype.id for s in suites if s.etype.family in c.families]}
            for c in spec.classes
        ],
        "definitions": [{"id": d.id, "title": d.title, "is": unparse(d.is_)} for d in spec.definitions],
        "files": [{"file": name, "bytes": len(c), "sha256": digest_of(c)} for name, c in files.items()],
    }  # fmt: skip
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def layout_fields(layout: Layout) -> dict[str, Any]:
    """The places of the entries in memory, for any language; a shape of null is one dimension.

    `strides` and `first_entry` are in entries, from the start of memory that is aligned, and
    `misaligned_bytes` come on top. Where it `repeats`, all entries are the first one.
    """
    array = layout.arrange(np.zeros(layout.length or 0, np.uint32))
    base = array if array.base is None else array.base
    memory = base if isinstance(base, np.ndarray) else np.frombuffer(base, np.uint8)
    entry, rest = divmod(array.ctypes.data - memory.ctypes.data, array.itemsize)
    return {
        "id": layout.id,
        "shape": None if layout.plain else list(array.shape),
        "strides": [1] if layout.plain else [stride // array.itemsize for stride in array.strides],
        "first_entry": entry,
        "misaligned_bytes": rest,
        "repeats": layout.repeats,
        "numpy": layout.text,
    }


def _check_folder(folder: Path) -> None:
    """UserError for standard output, a missing parent, and whatever exists and is no empty folder."""
    if is_standard_output(folder):
        raise UserError(
            "an export is a folder, and cannot be written to standard output", todo=_TODO
        )
    require_folder_of(folder)
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        raise UserError("this exists and is not a folder", str(folder), _TODO)
    try:
        occupied = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise UserError(
            f"this folder cannot be read: {error.strerror}", str(folder), _TODO
        ) from error
    if occupied:
        raise UserError("this folder is not empty", str(folder), _TODO)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a temporary folder beside a new or empty one, which it then replaces.

    A file that appears in the folder meanwhile is kept, and UserError raised, as for any failure.
    """
    place = folder.absolute()
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
        raise UserError(
            what, str(folder), "check the folder's permissions, or write elsewhere"
        ) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
