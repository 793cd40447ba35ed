"""Where the project's data files are: in a checkout, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path

from sonnx_clip.root.errors import UserError

_PACKAGE = Path(__file__).resolve().parents[1]


def package() -> Path:
    """The folder of the package, with all its source files."""
    return _PACKAGE


def repo_root() -> Path:
    """The folder that holds ``spec``, ``why3`` and ``generated``."""
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def checkout() -> Path:
    """The root of the repository, where the sources may be changed; UserError in an installed wheel."""
    if repo_root() != _PACKAGE.parent:
        raise UserError(
            "this changes the sources, and there is no checkout: the package was installed without one",
            todo="clone the repository, and run the command there",
        )
    return repo_root()


def build_folder() -> Path | None:
    """Where a checkout keeps what was built; None in an installed wheel."""
    return repo_root() / "build" if repo_root() == _PACKAGE.parent else None


def repo_file(relative: str) -> Path:
    """The path of a data file given by its path in the repository."""
    return repo_root() / relative
