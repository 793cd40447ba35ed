"""Normalise several models in one run and write each result whole, its external data beside it.

A model that fails does not hide the others.
"""

from __future__ import annotations

import filecmp
import stat
import sys
from functools import partial
from typing import TYPE_CHECKING

from sonnx_clip.lint.model_file import external_files
from sonnx_clip.lint.normalise import Normalised, NormaliseOptions, NormaliseReport, normalise
from sonnx_clip.lint.safe_text import shown
from sonnx_clip.lint.verdict import BatchRun, run_each
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target, is_standard_output, write_together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def normalise_models(
    paths: Sequence[Path],
    output: Path | None,
    options: NormaliseOptions,
    *,
    in_place: bool = False,
    dry_run: bool = False,
) -> BatchRun[NormaliseReport]:
    """Normalise models and write the results; UserError if the output does not fit the number of models.

    The output is a file, a folder where there are several models or the folder exists, or ``-``.
    """
    to_stream = is_standard_output(output)
    has_several = len(paths) > 1
    if to_stream and (has_several or in_place):
        raise UserError("standard output takes a single model", todo="name a folder: -o FOLDER")
    to_folder = output is not None and not to_stream and (has_several or output.is_dir())
    if to_folder and output is not None and output.exists() and not output.is_dir():
        message = "several models need a folder, and this is a file"
        raise UserError(message, where=str(output), todo="name a folder: -o FOLDER")
    # Results have the names of their models, so that one would replace the other.
    if to_folder and len({path.name for path in paths}) < len(paths):
        message = "two of the models have the same name"
        raise UserError(message, todo="write them to two folders, in two runs")

    def work(path: Path) -> NormaliseReport:
        target = None
        if not dry_run and not to_stream:
            target = _target(path, paths, output, in_place=in_place, to_folder=to_folder)
        normalised = normalise(path, target, options)
        if not dry_run:
            _save(normalised, target)
        return normalised.report

    return run_each(paths, work)


def _target(
    source: Path,
    paths: Sequence[Path],
    output: Path | None,
    *,
    in_place: bool,
    to_folder: bool,
) -> Path:
    """Where the result of one model goes: a regular file, never a link by whose name a model is replaced."""
    if (output is None) == (not in_place):
        raise UserError(
            "name one output: either -o OUT.onnx or --in-place",
            todo="or -o - for standard output, or --dry-run to write nothing",
        )
    if output is None:
        target = source
    elif to_folder:
        target = output / source.name
    else:
        target = output
    check_target(target)
    if output is not None and target.exists():
        # Another name may be a link to the same file, so names are not compared.
        for path in paths:
            if path.exists() and target.samefile(path):
                raise _is_read(target, "an input of this run")
    return target


def _is_read(target: Path, reason: str) -> UserError:
    todo = "use another name, or --in-place for the model itself"
    return UserError(f"the output is {reason}", shown(str(target)), todo)


def _save(normalised: Normalised, target: Path | None) -> None:
    """Write a result, with its external data where it goes to another folder: all of it or nothing.

    None is standard output.
    """
    source = normalised.report.source
    names = external_files(normalised.model)
    if target is None:
        if names:
            message = "the model has external data, which standard output cannot hold"
            raise UserError(message, str(source), "name a file: -o OUT.onnx")
        sys.stdout.buffer.write(normalised.data)
        sys.stdout.buffer.flush()
        return
    # The data lies beside the model, and a copy of it is written beside the result.
    resolved = target.resolve()
    for folder in (source.parent, target.parent):
        if any(resolved == (folder / name).resolve() for name in names):
            raise _is_read(target, "the model's external data")

    files: dict[Path, bytes | Iterator[bytes]] = {target: normalised.data}
    if target.parent.resolve() != source.parent.resolve():
        for name in names:
            old = source.parent / name
            new = target.parent / name
            # Another model of the run may have written the same weights there.
            if not new.exists():
                files[new] = _chunks(old)
            elif not filecmp.cmp(old, new, shallow=False):
                message = "another file has the name of the model's external data"
                raise UserError(message, shown(str(new)), "write the model to another folder")
    write_together(files, stat.S_IMODE(source.stat().st_mode))


def _chunks(file: Path) -> Iterator[bytes]:
    """The content of a file in parts, since weights may be larger than the memory."""
    with file.open("rb") as data:
        yield from iter(partial(data.read, 1 << 20), b"")
