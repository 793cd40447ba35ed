"""The real Frama-C, for tests: on a copy of generated/c, in which a test may plant a mistake."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from sonnx_clip.backends.acsl import render_acsl
from sonnx_clip.prove.frama_c import PROVERS, SECONDS, FramaC, find_frama_c, prove_type
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

installed = pytest.mark.skipif(
    shutil.which("frama-c") is None, reason="frama-c is not installed: make frama-c installs it"
)


@dataclass(frozen=True)
class Copy:
    """A copy of generated/c, and the Frama-C that is run on it."""

    folder: Path
    tool: FramaC

    def plant(self, path, old, new):
        """Replace a text that stands once in a file."""
        text = (self.folder / path).read_text()
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        (self.folder / path).write_text(text.replace(old, new))

    def render(self, spec):
        """Render the contracts anew, from another specification."""
        for path, text in render_acsl(spec).items():
            (self.folder / path).write_text(text)

    def prove(self, type_id, seconds=SECONDS):
        """What Frama-C shows of an element type, with so many seconds for a goal, and what is open."""
        etype = load_spec().element_type(type_id)
        found = prove_type(self.tool, etype, self.folder, seconds=seconds)
        return found, found.open(etype)


@pytest.fixture(scope="session")
def frama_c(tmp_path_factory):
    build = tmp_path_factory.mktemp("frama-c")
    return find_frama_c(configure(build), find_provers(PROVERS), build, 2)


@pytest.fixture
def copy(frama_c, tmp_path):
    shutil.copytree(repo_file("generated/c"), tmp_path / "generated/c")
    return Copy(tmp_path, frama_c)
