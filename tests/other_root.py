"""A repository of a test's own: the project's files are looked up there, and written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root import folders

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def use_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take `root` for the repository, until `monkeypatch` is undone."""
    monkeypatch.setattr(folders, "_PACKAGE", root / "sonnx_clip")
