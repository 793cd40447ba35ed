import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.write_export import write_export


@pytest.fixture(scope="session")
def npz(tmp_path_factory):
    """The whole export as .npz."""
    folder = tmp_path_factory.mktemp("export") / "npz"
    write_export(clip_operator(), "npz", folder)
    return folder
