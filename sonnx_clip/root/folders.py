"""The project's own files, in a checkout or a wheel, and the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from sonnx_clip.root.errors import UserError

BUILD = Path("build")
"""The folder of results, unless a command is given another one."""

_PACKAGE = Path(__file__).resolve().parents[1]


def package() -> Path:
    """The folder of the package, with all its source files."""
    return _PACKAGE


def repo_root() -> Path:
    """The folder that holds ``spec``, ``why3`` and ``generated``."""
    # A wheel carries the data files in the package; in a checkout they are beside it.
    bundled = _PACKAGE / "_data"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def checkout() -> Path:
    """The root of the repository, where the sources may be changed; UserError in an installed wheel."""
    if repo_root() != _PACKAGE.parent:
        raise UserError(
            "this command changes the sources, and the package was installed without a checkout",
            todo="clone the repository, and run the command there",
        )
    return repo_root()


def how_to_install(extra: str) -> str:
    """The sentence of a message that says how to install an extra of this package.

    No package index has sonnx-clip, so that an extra comes from the checkout or from the wheel file.
    """
    if repo_root() == _PACKAGE.parent:
        return f"run in the checkout: pip install '.[{extra}]'"
    # pip needs the whole name of a file, which has the version in it.
    from sonnx_clip import __version__  # sonnx_clip itself imports this module

    wheel = f"sonnx_clip-{__version__}-py3-none-any.whl"
    return f"install it from the wheel file: pip install '{wheel}[{extra}]'"


def repo_file(relative: str) -> Path:
    """The path of a data file given by its path in the repository."""
    return repo_root() / relative


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/sonnx-clip``, by default ``~/.cache/sonnx-clip``; UserError if there is no home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored: XDG Base Directory Specification.
    if Path(named).is_absolute():
        return Path(named, "sonnx-clip")
    try:
        return Path.home() / ".cache" / "sonnx-clip"
    except RuntimeError as error:
        todo = "set the environment variable XDG_CACHE_HOME to a folder"
        raise UserError("there is no home folder for the cache", todo=todo) from error
