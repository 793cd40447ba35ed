"""`sonnx-clip export`: makes the files of a format and writes them with their manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sonnx_clip.export.c_header import c_files
from sonnx_clip.export.export_folder import check_folder, write_folder
from sonnx_clip.export.export_manifest import MANIFEST, calls_told, manifest
from sonnx_clip.export.json_calls import json_files
from sonnx_clip.export.npz_arrays import npz_files
from sonnx_clip.export.suite import suite
from sonnx_clip.root.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.conform.model_forms.axes import Choice
    from sonnx_clip.export.suite import TypeSuite

ExportFormat: TypeAlias = Literal["onnx-backend", "npz", "c-header", "json"]

_PLAIN = {"npz": npz_files, "c-header": c_files, "json": json_files}


def write_export(
    form: ExportFormat,
    folder: Path,
    types: Sequence[str] = (),
    forms: Choice = "default",
    newest: int | None = None,
) -> str:
    """Write an export, the whole folder or nothing; returns lines that say what was written.

    Args:
        form: the format.
        folder: where to. It is made; if it is there it is empty, or an earlier export as that was written.
        types: ids of element types; all that have bit patterns, if empty.
        forms: of models, for ``onnx-backend``: as `check` takes them.
        newest: their newest operator set; that of the installed onnx, if None.

    Raises:
        UserError: a type is not known or has no bit patterns, the vectors are missing or of another
            specification, the operator set is not one of this Clip, or the folder cannot be written or holds
            what no export wrote.
        ModuleNotFoundError: onnx is not installed, for ``onnx-backend``.
    """
    place = check_folder(folder)
    suites = suite(types)
    if form == "onnx-backend":
        files, more = _onnx(suites, forms, newest)
    else:
        files, more = dict(_PLAIN[form](suites)), calls_told(suites)
    files[MANIFEST] = manifest(form, suites, files, more)
    write_folder(place, files)
    vectors, calls = sum(len(s.vectors) for s in suites), sum(len(s.calls) for s in suites)
    what = f"{vectors:,} vectors and {calls:,} calls of {counted(len(suites), 'element type')}"
    if form == "onnx-backend":
        told = more["directories"]
        what = (
            f"{len(told):,} test directories with {sum(one['data_sets'] for one in told):,} data sets of"
            f" {counted(len(suites), 'element type')}"
        )
    return f"{what} are in {folder}"


def _onnx(
    suites: Sequence[TypeSuite], forms: Choice, newest: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    import onnx

    from sonnx_clip.export.onnx_directories import KIND, directories

    files: dict[str, bytes] = {}
    told = []
    for one in directories(suites, forms, newest):
        told.append(one.told)
        files |= {f"{KIND}/{one.name}/{name}": content for name, content in one.files.items()}
    words = (
        "ONNX's runner takes the expected answer alone, compares by numpy.testing.assert_allclose without a"
        " tolerance, and gives bfloat16 one of 1/64: it sees no sign of a zero, no payload of a NaN, and of"
        " 64-bit integers no difference that float64 rounds away. Directories with `two_answers` expect a"
        " number where the specification accepts a NaN as well."
    )
    types = []
    for suite_ in suites:
        sets = [one["data_sets"] for one in told if one["type"] == suite_.etype.id]
        types.append({"type": suite_.etype.id, "directories": len(sets), "data_sets": sum(sets)})
    return files, {"onnx": onnx.__version__, "runner": words, "types": types, "directories": told}
