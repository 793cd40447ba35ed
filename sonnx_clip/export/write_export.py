"""`sonnx-clip export`: makes the files of a format and writes their folder whole or not at all, and never
over what something else wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sonnx_clip.export.c_header import c_files
from sonnx_clip.export.export_manifest import KIND, MANIFEST, calls_told, manifest
from sonnx_clip.export.plain_formats import json_files, npz_files
from sonnx_clip.export.suite import suite
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, is_standard_output, make_folder
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.runtimes.model_forms import Choice


_TODO = "give the name of a new folder, or of one that an export wrote"


def check_folder(folder: Path) -> Path:
    """Refuse what is no folder, or holds what no export wrote; returns the folder without links and dots.

    An earlier export may be replaced as long as nothing was added to it and nothing in it was changed.

    Raises:
        UserError: see above.
    """
    if is_standard_output(folder):
        raise UserError("an export is a folder, and does not go to standard output", todo=_TODO)
    place = folder.parent.resolve() / folder.name if folder.name not in ("", "..") else folder.resolve()
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return place
    except OSError as error:
        raise UserError(f"this cannot be read: {error.strerror}", str(folder), "write elsewhere") from error
    if not stat.S_ISDIR(mode):
        kind = "a symbolic link" if stat.S_ISLNK(mode) else "no folder"
        raise UserError(f"this is {kind}, and an export is a folder", str(folder), _TODO)
    if place == Path.cwd():
        raise UserError("this folder is the one in which the command runs", str(folder), _TODO)
    try:
        foreign = _foreign(place)
    except OSError as error:
        raise UserError(f"this cannot be read: {error.strerror}", str(folder), "write elsewhere") from error
    if foreign is not None:
        raise UserError(
            f"`{foreign}` in it is not as an export wrote it, and is not replaced", str(folder), _TODO
        )
    return place


def write_folder(place: Path, files: Mapping[str, bytes]) -> None:
    """Write files beside the folder, and rename that to it; what `check_folder` allows is replaced.

    Args:
        place: what `check_folder` returned.
        files: the content of each file, by its path in the folder.

    Raises:
        UserError: something cannot be written.
    """
    make_folder(place.parent)
    beside: list[Path] = []
    try:
        beside.append(Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.")))
        new = beside[0]
        for folder in {(new / name).parent for name in files}:
            folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (new / name).write_bytes(content)
        new.chmod(0o755)
        check_folder(place)  # again: something may have come meanwhile
        if place.exists():
            beside.append(Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.old.")))
            place.replace(beside[1])
        new.replace(place)
    except OSError as error:
        if len(beside) == 2 and not place.exists() and any(beside[1].iterdir()):
            beside[1].replace(place)
        what = f"it cannot be written: {error.strerror}"
        raise UserError(what, str(place), "check the folder's permissions, or write elsewhere") from error
    finally:
        for left in beside:
            shutil.rmtree(left, ignore_errors=True)


def _foreign(folder: Path) -> str | None:
    """The first file in a folder that no export wrote, or that was changed; None if there is none."""
    found = [Path(root) / name for root, folders, names in os.walk(folder) for name in (*folders, *names)]
    if not found:
        return None
    listed = _listed(folder / MANIFEST)
    if not listed:
        return min(path.relative_to(folder).as_posix() for path in found)
    folders = {str(parent) for name in listed for parent in Path(name).parents}
    for path in sorted(found):
        name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
        if stat.S_ISDIR(mode):
            if name not in folders:
                return name
        elif not stat.S_ISREG(mode) or (
            name != MANIFEST and listed.get(name) != digest_of(path.read_bytes())
        ):
            return name
    return None


def _listed(file: Path) -> dict[str, str]:
    """The digests of the files that a manifest names; empty where there is none, or it was changed."""
    if file.is_symlink() or not file.is_file():
        return {}
    try:
        told = json.loads(file.read_bytes())
        if told["kind"] == KIND and told.pop("sha256") == digest_of(json.dumps(told)):
            return {entry["file"]: entry["sha256"] for entry in told["files"]}
    except (ValueError, KeyError, TypeError):
        pass
    return {}


# --- `sonnx-clip export`: makes the files of a format and writes them with their manifest -------------------


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
