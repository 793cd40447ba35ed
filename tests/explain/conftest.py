"""A copy of spec/, in which a test changes what it likes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root import folders
from tests.other_root import use_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def own_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a repository that has its own spec/; the project's files are looked up there."""
    root = tmp_path / "repository"
    shutil.copytree(folders.repo_root() / "spec", root / "spec")
    use_root(root, monkeypatch)
    return root
