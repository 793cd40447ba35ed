from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.prove.frama_c.fake import FakeFramaC

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def fake(tmp_path: Path) -> FakeFramaC:
    return FakeFramaC(tmp_path / "fake")
