"""Several models normalised in one run: each written by itself, one that fails does not hide the others."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.graph.normalise import normalise
from sonnx_clip.graph.normalise_report import exit_status
from sonnx_clip.graph.save import external_files, save, target_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import is_standard_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.graph.normalise import Normalised, Wish
    from sonnx_clip.graph.steps import NormaliseReport


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
    for path in paths:
        try:
            target = None
            if not dry_run and not to_stream:
                target = target_of(path, output, in_place=in_place, folder=folder)
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
    for part in found.content():
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
