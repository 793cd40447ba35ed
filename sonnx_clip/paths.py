"""Where the project's data files are: in a checkout, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def repo_root() -> Path:
    """The folder that holds ``spec``, ``why3`` and ``generated``."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def build_folder() -> Path | None:
    """Where a checkout keeps what was built; None in an installed wheel."""
    root = repo_root()
    return root / "build" if root == _PACKAGE.parent else None


def repo_file(relative: str) -> Path:
    """The path of a data file given by its path in the repository."""
    return repo_root() / relative
