"""The specification, read and checked once for each state of its files: every command begins here."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec.compiled import kept

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.spec.model import Spec


def load_spec(path: Path | None = None) -> Spec:
    """The specification of Clip; the default file is read once.

    Args:
        path: a YAML file in the form of spec/clip.yaml, which is the default. The texts that it quotes are
            looked up in the repository.

    Raises:
        UserError: the file cannot be read, is not in that form, or contradicts itself; the message has
            file, line, column and the path of the entry.
    """
    default = repo_file("spec/clip.yaml")
    return _read(path) if path is not None and path != default else _load_once(default)


@cache
def _load_once(path: Path) -> Spec:
    return kept(path, _read)


def _read(path: Path) -> Spec:
    from sonnx_clip.spec.checked import read_and_check  # a specification that was kept needs none of it

    return read_and_check(path)
