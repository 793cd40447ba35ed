"""Writes the folder of an export: whole, or not at all, and never over what something else wrote."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.export.export_manifest import KIND, MANIFEST
from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import is_standard_output, make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

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
