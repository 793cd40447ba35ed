"""Several models normalised in one run: each written by itself, as a whole, its external data beside it; one
that fails does not hide the others.
"""

from __future__ import annotations

import filecmp
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import TensorProto, load_model

from sonnx_clip.graph.declared_tensors import quoted, shown
from sonnx_clip.graph.normalise import normalise
from sonnx_clip.graph.normalise_report import exit_status
from sonnx_clip.graph.stored_tensors import all_tensors
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, is_standard_output, make_folder, write_whole_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.graph.normalise import Normalised, Wish
    from sonnx_clip.graph.normalise_report import NormaliseReport


def target_of(source: Path, output: Path | None, *, in_place: bool, folder: bool = False) -> Path:
    """Where the result of one model goes.

    Args:
        source: the model that is read.
        output: what the user gives as output, None with `in_place`.
        in_place: the model itself is overwritten.
        folder: the output is a folder, in which the result has the name of the model.

    Raises:
        UserError: neither or both of them are given, the output is the input, or no regular file; a link
            is none, so that a model is never replaced by another name.
    """
    if (output is None) == (not in_place):
        raise UserError(
            "say where the result goes: either -o OUT.onnx or --in-place",
            todo="give one of the two, -o - for standard output, or --dry-run to write nothing",
        )
    if output is None:
        check_target(source)
        return source
    target = output / source.name if folder else output
    if target.exists() and source.exists() and target.samefile(source):
        raise UserError(
            "the output is the input, which is never overwritten unless asked",
            where=shown(str(target)),
            todo="give another name, or --in-place",
        )
    check_target(target)
    return target


def data_files(model: Path) -> list[Path]:
    """The files of a model's external data; none for what cannot be read, which is reported elsewhere."""
    try:
        tensors = all_tensors(load_model(model, load_external_data=False))
        entries = [entry for tensor in tensors for entry in tensor.external_data]
    except (OSError, ValueError, DecodeError):
        return []
    return [model.parent / entry.value for entry in entries if entry.key == "location"]


def refuse_input(target: Path, inputs: Iterable[Path], kind: str) -> None:
    """Refuse an output that is one of the inputs, by whatever name or link.

    Raises:
        UserError: naming the input.
    """
    for file in inputs:
        with suppress(OSError, ValueError):
            if target.samefile(file):
                raise UserError(
                    f"the output is {kind} that this run reads, {quoted(str(file))}",
                    shown(str(target)),
                    "give another name",
                )


def save(found: Normalised, target: Path) -> None:
    """Write a result; external data is copied where the result lies in another folder.

    Raises:
        UserError: something cannot be written, or another file has the name of the data.
    """
    source = found.report.source
    check_target(target)
    made: list[Path] = []
    if target.resolve() in {(target.parent / name).resolve() for name in external_files(found)}:
        raise UserError(
            "the output has the name of the model's external data", shown(str(target)), "give another name"
        )
    try:
        if target.parent.resolve() != source.parent.resolve():
            _copy_data(source.parent, target.parent, external_files(found), made)
        write_whole_bytes(target, found.data, stat.S_IMODE(source.stat().st_mode))
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


# ------------------------------------------------------------------------------------------------------------
# Several models normalised in one run: each written by itself, one that fails does not hide the others


@dataclass(frozen=True)
class NormaliseRun:
    """Several models: the reports of those that went through, the errors of the others."""

    reports: tuple[NormaliseReport, ...]
    errors: tuple[tuple[Path, UserError], ...]

    @property
    def exit_status(self) -> int:
        """2 where a model did not go through, 1 where something is left, else 0."""
        return 2 if self.errors else max(map(exit_status, self.reports), default=0)


def normalise_models(
    paths: Sequence[Path],
    output: Path | None,
    wish: Wish,
    *,
    in_place: bool = False,
    dry_run: bool = False,
) -> NormaliseRun:
    """Normalise models and write the results.

    Args:
        paths: the models.
        output: a file, a folder where there are several models or the folder exists, or ``-``.
        wish: what the user asks for.
        in_place: each model itself is overwritten.
        dry_run: nothing is written.

    Raises:
        UserError: the output does not fit the number of models.
    """
    to_stream = is_standard_output(output)
    if to_stream and (len(paths) > 1 or in_place):
        raise UserError("standard output takes one model alone", todo="give a folder: -o FOLDER")
    folder = output is not None and not to_stream and (len(paths) > 1 or output.is_dir())
    if folder and output is not None and output.exists() and not output.is_dir():
        raise UserError(
            "several models go to a folder, and this is none",
            where=str(output),
            todo="give a folder: -o FOLDER",
        )
    names = [path.name for path in paths]
    if folder and len(set(names)) < len(names):
        raise UserError("two of the models have one name", todo="write them to two folders, by two runs")
    reports: list[NormaliseReport] = []
    errors: list[tuple[Path, UserError]] = []
    data = [file for path in paths for file in data_files(path)]
    for path in paths:
        try:
            target = None
            if not dry_run and not to_stream:
                target = target_of(path, output, in_place=in_place, folder=folder)
                refuse_input(target, data, "external data")
                refuse_input(target, [] if in_place else paths, "a model")
            found = normalise(path, target, wish)
            if to_stream and not dry_run:
                _print(found)
            elif target is not None:
                save(found, target)
            reports.append(found.report)
        except UserError as error:
            errors.append((path, error))
    return NormaliseRun(tuple(reports), tuple(errors))


def _print(found: Normalised) -> None:
    """Write the bytes of a result to standard output."""
    if external_files(found):
        raise UserError(
            "the model has external data, which standard output cannot take",
            where=str(found.report.source),
            todo="give a file: -o OUT.onnx",
        )
    sys.stdout.buffer.write(found.data)
    sys.stdout.buffer.flush()
