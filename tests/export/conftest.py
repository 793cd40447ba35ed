from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.export.write_export import write_export

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def npz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole export as .npz."""
    folder = tmp_path_factory.mktemp("export") / "npz"
    write_export("npz", folder)
    return folder
