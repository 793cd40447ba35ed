from __future__ import annotations

import pytest

from sonnx_clip.spec import Spec, load_spec


@pytest.fixture(scope="session")
def spec() -> Spec:
    return load_spec()
