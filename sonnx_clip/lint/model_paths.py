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
    paths: dict[Path, None] = {}
    for name in names:
        paths.update(dict.fromkeys(_expanded(name)))
    return list(paths)


def _expanded(name: Path) -> list[Path]:
    if name.is_dir():
        return _models_below(name)
    if name.exists() or not glob.has_magic(str(name)):
        return [name]  # reading a file that is missing is an error with a message of its own
    matches = [Path(match) for match in sorted(_matches(name))]
    models = [model for match in matches for model in _of_match(match)]
    if not models:
        raise UserError(
            "no model matches the pattern", shown(str(name)), "name files, folders or patterns"
        )
    return models


def _matches(pattern: Path) -> list[str]:
    return glob.glob(str(pattern), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern


def _of_match(match: Path) -> Iterator[Path]:
    """A file that a pattern matches, or the models of a folder that it matches."""
    if match.is_dir():
        yield from (path for path in sorted(match.rglob(f"*{SUFFIX}")) if _is_visible(path, match))
    else:
        yield match


def _models_below(folder: Path) -> list[Path]:
    models = list(_of_match(folder))
    if not models:
        raise UserError(
            f"no {SUFFIX} file in the folder", shown(str(folder)), "name another folder"
        )
    return models


def _is_visible(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts[:-1]
    return path.is_file() and not any(part.startswith(".") for part in parts)
