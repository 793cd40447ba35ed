"""What the tests of the toys share."""

import pytest

from tests.toy.toys import TOYS, made


@pytest.fixture(scope="session", params=TOYS)
def toy(request, tmp_path_factory):
    """Each toy, generated into a folder of its own."""
    return made(request.param, tmp_path_factory.mktemp(request.param))
