"""The models that files, folders and patterns name."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.lint.safe_text import shown
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIX = ".onnx"


def model_paths(names: Iterable[Path]) -> list[Path]:
    """The files of models, each once: of a folder all models below it, of a pattern its matches.

    Folders whose name begins with a dot are not entered: virtual environments hold models of packages.

    Raises:
        UserError: a folder has no model, or nothing matches a pattern.
    """
    # A dict keeps the order of the command line, and a model once that two patterns match.
    paths: dict[Path, None] = {}
    for name in names:
        paths.update(dict.fromkeys(_expanded(name)))
    return list(paths)


def _expanded(name: Path) -> list[Path]:
    if name.is_dir():
        models = list(_of_match(name))
        if not models:
            where = shown(str(name))
            raise UserError(f"no {SUFFIX} file in the folder", where, "name another folder")
        return models
    # A file may have brackets in its name. Reading one that is missing is an error with its own message.
    if name.exists() or not glob.has_magic(str(name)):
        return [name]
    matches = glob.glob(str(name), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
    models = []
    for match in sorted(matches):
        models += _of_match(Path(match))
    if not models:
        where = shown(str(name))
        raise UserError("no model matches the pattern", where, "name files, folders or patterns")
    return models


def _of_match(match: Path) -> Iterator[Path]:
    """A file that a pattern matches, or the models of a folder that it matches."""
    if not match.is_dir():
        yield match
        return
    # Sorted, because the order of a folder's entries differs between file systems.
    for path in sorted(match.rglob(f"*{SUFFIX}")):
        if _is_visible(path, match):
            yield path


def _is_visible(path: Path, folder: Path) -> bool:
    """Whether a path is a file, and no folder on the way to it is hidden."""
    # What the user names may itself lie in a hidden folder: only what is below it counts.
    folders = path.relative_to(folder).parts[:-1]
    is_hidden = any(name.startswith(".") for name in folders)
    return path.is_file() and not is_hidden
