"""By which kernels `sonnx_clip.clip` computes in a test: by those of NumPy, unless the test asks for C."""

import pytest

from sonnx_clip.oracle import built
from sonnx_clip.oracle.built import built_file, find_compiler, source_files
from tests.oracle.keeping import forget, keep


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The C kernels, compiled once; the file."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("compiled")))
        return built_file(find_compiler(), source_files())


@pytest.fixture(scope="session")
def kept_cache(library, tmp_path_factory):
    """A cache in which the C kernels are kept; the folder."""
    folder = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_CACHE_HOME", str(folder))
        keep(library)
    return folder


@pytest.fixture(autouse=True)
def by(request, monkeypatch):
    """``numpy`` or ``c``: what this user has built takes no part."""
    chosen = getattr(request, "param", "numpy")
    monkeypatch.setenv(built.VARIABLE, chosen)
    if chosen == "c":
        monkeypatch.setenv("XDG_CACHE_HOME", str(request.getfixturevalue("kept_cache")))
    forget()
    yield chosen
    forget()
