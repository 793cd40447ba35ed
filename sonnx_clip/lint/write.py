"""Normalise several models in one run and write each result whole, its external data beside it.

A model that fails does not hide the others.
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
from onnx import load_model

from sonnx_clip.lint.model_file import external_files
from sonnx_clip.lint.normalise import normalise
from sonnx_clip.lint.tensors import quoted, shown
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, is_standard_output, make_folder, write_whole_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, NormaliseReport

_OTHER_NAME = "give another name"


@dataclass(frozen=True)
class NormaliseRun:
    """Several models: the reports of those that were normalised, the errors of the others."""

    reports: tuple[NormaliseReport, ...]
    errors: tuple[tuple[Path, UserError], ...]

    @property
    def exit_status(self) -> int:
        """2 where a model failed, 1 where something is left, else 0."""
        return 2 if self.errors else max((report.exit_status for report in self.reports), default=0)


def normalise_models(
    paths: Sequence[Path],
    output: Path | None,
    options: NormaliseOptions,
    *,
    in_place: bool = False,
    dry_run: bool = False,
) -> NormaliseRun:
    """Normalise models and write the results.

    Args:
        paths: the models.
        output: a file, a folder where there are several models or the folder exists, or ``-``.
        options: of normalise.
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
        what = "several models go to a folder, and this is none"
        raise UserError(what, where=str(output), todo="give a folder: -o FOLDER")
    if folder and len({path.name for path in paths}) < len(paths):
        raise UserError("two of the models have one name", todo="write them to two folders, by two runs")
    reports: list[NormaliseReport] = []
    errors: list[tuple[Path, UserError]] = []
    read = {file: "external data" for path in paths for file in _data_files(path)}
    if not in_place:
        read |= dict.fromkeys(paths, "a model")
    for path in paths:
        try:
            target = None
            if not dry_run and not to_stream:
                target = _target(path, output, in_place=in_place, folder=folder)
                _check_not_read(target, read)
            found = normalise(path, target, options)
            if to_stream and not dry_run:
                _print(found)
            elif target is not None:
                _save(found, target)
            reports.append(found.report)
        except UserError as error:
            errors.append((path, error))
    return NormaliseRun(tuple(reports), tuple(errors))


def _target(source: Path, output: Path | None, *, in_place: bool, folder: bool) -> Path:
    """Where the result of one model goes.

    Raises:
        UserError: neither or both ways are given, or it is no regular file. A link is none, so a model is
            never replaced by another name.
    """
    if (output is None) == (not in_place):
        raise UserError(
            "give one place for the result: either -o OUT.onnx or --in-place",
            todo="or -o - for standard output, or --dry-run to write nothing",
        )
    target = source if output is None else output / source.name if folder else output
    check_target(target)
    return target


def _data_files(model: Path) -> list[Path]:
    """The files of a model's external data; none for what cannot be read, which is reported elsewhere."""
    try:
        return [model.parent / name for name in external_files(load_model(model, load_external_data=False))]
    except (OSError, ValueError, TypeError, DecodeError):
        return []


def _check_not_read(target: Path, read: dict[Path, str]) -> None:
    """Refuse an output that is a file which this run reads, by whatever name or link."""
    for file, kind in read.items():
        with suppress(OSError, ValueError):
            if target.samefile(file):
                what = f"the output is {kind} that this run reads, {quoted(str(file))}"
                raise UserError(
                    what, shown(str(target)), f"{_OTHER_NAME}, or --in-place for the model itself"
                )


def _save(found: Normalised, target: Path) -> None:
    """Write a result; external data is copied where the result goes to another folder.

    Raises:
        UserError: something cannot be written, or another file has the name of the data.
    """
    source = found.report.source
    check_target(target)
    names = external_files(found.model)
    if target.resolve() in {(target.parent / name).resolve() for name in names}:
        raise UserError(
            "the output has the name of the model's external data", shown(str(target)), _OTHER_NAME
        )
    made: list[Path] = []
    try:
        if target.parent.resolve() != source.parent.resolve():
            _copy_data(source.parent, target.parent, names, made)
        write_whole_bytes(target, found.data, stat.S_IMODE(source.stat().st_mode))
    except BaseException:
        for file in made:
            file.unlink(missing_ok=True)
        raise


def _copy_data(source: Path, target: Path, names: Iterable[str], made: list[Path]) -> None:
    """Copy data files that are not there yet, each whole or not at all; `made` collects the new ones."""
    for name in names:
        old, new = source / name, target / name
        if new.exists():
            if not filecmp.cmp(old, new, shallow=False):
                what = "another file has the name of the model's external data"
                raise UserError(what, where=shown(str(new)), todo="write the model to another folder")
            continue
        make_folder(new.parent)
        try:
            with tempfile.TemporaryDirectory(dir=new.parent, prefix=".sonnx-clip.") as folder:
                shutil.copyfile(old, Path(folder) / "data").replace(new)
        except OSError as error:
            what = f"the external data cannot be copied: {error.strerror}"
            todo = "check the folder's permissions and space, or write elsewhere"
            raise UserError(what, where=shown(str(new)), todo=todo) from error
        made.append(new)


def _print(found: Normalised) -> None:
    """Write the bytes of a result to standard output."""
    if external_files(found.model):
        what = "the model has external data, which standard output cannot take"
        raise UserError(what, where=str(found.report.source), todo="give a file: -o OUT.onnx")
    sys.stdout.buffer.write(found.data)
    sys.stdout.buffer.flush()
