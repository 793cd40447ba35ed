"""A normalised model written as a whole, its external data beside it."""

from __future__ import annotations

import filecmp
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import TensorProto

from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.graph.stored_tensors import all_tensors
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, make_folder, write_whole_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.graph.normalise import Normalised


def target_of(source: Path, output: Path | None, *, in_place: bool, folder: bool = False) -> Path:
    """Where the result of one model goes.

    Args:
        source: the model that is read.
        output: what the user gives as output, None with `in_place`.
        in_place: the model itself is overwritten.
        folder: the output is a folder, in which the result has the name of the model.

    Raises:
        UserError: neither or both of them are given, the output is the input, or no regular file.
    """
    if (output is None) == (not in_place):
        raise UserError(
            "say where the result goes: either -o OUT.onnx or --in-place",
            todo="give one of the two, -o - for standard output, or --dry-run to write nothing",
        )
    if output is None:
        return source.resolve()
    target = output / source.name if folder else output
    if target.exists() and source.exists() and target.samefile(source):
        raise UserError(
            "the output is the input, which is never overwritten unless asked",
            where=shown(str(target)),
            todo="give another name, or --in-place",
        )
    check_target(target)
    return target


def save(found: Normalised, target: Path) -> None:
    """Write a result; external data is copied where the result lies in another folder.

    Raises:
        UserError: something cannot be written, or another file has the name of the data.
    """
    source = found.report.source
    check_target(target)
    made: list[Path] = []
    try:
        if target.parent.resolve() != source.parent.resolve():
            _copy_data(source.parent, target.parent, external_files(found), made)
        write_whole_bytes(target, found.content(), stat.S_IMODE(source.stat().st_mode))
    except BaseException:
        for file in made:
            file.unlink(missing_ok=True)
        raise


def external_files(found: Normalised) -> Sequence[Path]:
    """The files, relative to the model's folder, in which a result keeps data."""
    tensors = [t for t in all_tensors(found.model) if t.data_location == TensorProto.EXTERNAL]
    names = [entry.value for tensor in tensors for entry in tensor.external_data if entry.key == "location"]
    return [Path(name) for name in dict.fromkeys(names)]


def _copy_data(source: Path, target: Path, locations: Sequence[Path], made: list[Path]) -> None:
    """Copy data files that are not there yet, each beside its place first; `made` collects the new ones."""
    for location in locations:
        old, new = source / location, target / location
        if new.exists():
            if not filecmp.cmp(old, new, shallow=False):
                raise UserError(
                    "another file has the name of the model's external data",
                    where=shown(str(new)),
                    todo="write the model to another folder",
                )
            continue
        make_folder(new.parent)
        try:
            with tempfile.TemporaryDirectory(dir=new.parent, prefix=".sonnx-clip.") as folder:
                shutil.copyfile(old, Path(folder) / "data").replace(new)
        except OSError as error:
            raise UserError(
                f"the external data cannot be copied: {error.strerror}",
                where=shown(str(new)),
                todo="check the folder's permissions and space, or write elsewhere",
            ) from error
        made.append(new)
