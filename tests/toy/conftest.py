"""What the tests of the toys share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.toy.toys import TOYS, made

if TYPE_CHECKING:
    from tests.toy.toys import Toy


@pytest.fixture(scope="session", params=TOYS)
def toy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Each toy, generated into a folder of its own."""
    return made(request.param, tmp_path_factory.mktemp(request.param))
