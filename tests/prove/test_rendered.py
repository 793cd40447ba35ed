"""What was rendered is taken again only while what it came from and the files on disk are as they were."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import Generated, differences
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.prove import rendered
from sonnx_clip.root import folders, installed
from sonnx_clip.spec import load_spec
from tests.other_root import use_root
from tests.prove.tools import fake

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = folders.repo_root()
FILES = {"generated/why3/int8.mlw": "theory\n", "docs/readings.md": "page\n"}
INPUTS = ("spec/clip.yaml", "spec/sources/page.md", "why3/clip.mlw", "why3/drivers/a.drv", "coq/A.v",
          "sonnx_clip/code.py", "sonnx_clip/backends/a.j2")  # fmt: skip
FOUND = Generated(FILES, (Obligation("a.b", "theorem", "a", ("x", "y"), "t", "f", "T", "b", "s"),))


class Copy:
    """A small checkout of its own, in which rendering gives `FOUND`, and is counted."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.times = root, 0
        for path in (*INPUTS, *FILES):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(FILES.get(path, "as it was\n"), encoding="utf-8")
        self.spec = load_spec()
        use_root(root, monkeypatch)

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return self.root / "build/cache/rendered.json"

    def render(self, _: object) -> Generated:
        """Stand for `render_all`."""
        self.times += 1
        return FOUND

    def rendered(self, render: Callable[[object], Generated] | None = None) -> Generated:
        """What is rendered, by `render` of this object or by another one."""
        return rendered.rendered(self.spec, render or self.render, self.root / "build/cache")

    def again(self) -> int:
        """How often it was rendered anew when it was asked for once more; what comes is always the same."""
        before = self.times
        assert self.rendered() == FOUND
        return self.times - before


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """A checkout in which it was rendered once, and kept."""
    found = Copy(tmp_path / "checkout", monkeypatch)
    assert (found.again(), found.again(), found.times) == (1, 0, 1)
    return found


@pytest.mark.parametrize("path", [*INPUTS, "spec/new.md", "sonnx_clip/new.py"])
def test_a_changed_input_is_seen(path: str, copy: Copy) -> None:
    (copy.root / path).write_text("as it is now\n", encoding="utf-8")
    assert (copy.again(), copy.again()) == (1, 0)


def test_another_why3_is_seen(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("why3", 'exec "$real" "$@"', tmp_path / "bin", monkeypatch)
    assert copy.again() == 1


def test_a_change_in_the_library_of_why3_is_seen(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["why3", "--print-datadir"]
    data = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    shutil.copytree(data / "stdlib", tmp_path / "data/stdlib")
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin/why3"
    tool.write_text(f"#!/bin/sh\ncase $1 in --print-datadir) echo {tmp_path}/data;; *) echo 1;; esac\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    assert (copy.again(), copy.again()) == (1, 0)
    with (tmp_path / "data/stdlib/int.mlw").open("a", encoding="utf-8") as library:
        library.write("\n")
    assert copy.again() == 1


def test_another_numpy_or_environment_is_seen(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")
    assert (copy.again(), copy.again()) == (1, 0)
    another = tmp_path / "site/numpy-99.0.dist-info"
    another.mkdir(parents=True)
    (another / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 99.0\n")
    (another / "RECORD").write_text("numpy-99.0.dist-info/RECORD,,\n")
    monkeypatch.syspath_prepend(str(another.parent))
    installed._files_of.cache_clear()
    try:
        assert copy.again() == 1
    finally:
        installed._files_of.cache_clear()


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_that_was_edited_or_is_gone_is_never_hidden(path: str, copy: Copy) -> None:
    (copy.root / path).write_text("edited\n", encoding="utf-8")
    assert copy.again() == 1
    assert f"{path} differs from what spec/clip.yaml gives" in differences(copy.rendered(), copy.root)
    (copy.root / path).unlink()
    assert copy.again() == 1
    assert f"{path} is missing" in differences(copy.rendered(), copy.root)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def _link(file: Path) -> None:
    file.rename(file.with_name("other"))
    file.symlink_to("other")


def _forge(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"theorem"', b'"smoke"'))


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _link,
        _forge,
        lambda file: file.write_text("{}\n{}"),
        lambda file: file.chmod(0o666),
        Path.unlink,
    ],
)
def test_what_is_damaged_or_could_be_anybodys_is_not_believed(
    damage: Callable[[Path], object], copy: Copy
) -> None:
    damage(copy.file)
    assert copy.again() == 1


def test_nothing_is_kept_of_sources_that_change_meanwhile(copy: Copy) -> None:
    def render(_: object) -> Generated:
        (copy.root / "spec/clip.yaml").write_text("changed while it was rendered\n", encoding="utf-8")
        return FOUND

    (copy.root / "spec/clip.yaml").write_text("changed before\n", encoding="utf-8")
    copy.rendered(render)
    assert copy.again() == 1


def test_without_why3_nothing_is_kept(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (copy.again(), copy.again()) == (1, 1)


_AUDIT = """
import os, sys
from sonnx_clip.prove.rendered import inputs
from sonnx_clip.backends.generate import render_all
from sonnx_clip.spec import load_spec
spec, known, opened = load_spec(), {str(path) for path in inputs()}, set()
sys.addaudithook(lambda event, given: event == "open" and isinstance(given[0], str) and opened.add(given[0]))
render_all(spec)
root = os.getcwd()
mine = {p for p in map(os.path.abspath, opened) if p.startswith(root + "/") and "/.venv/" not in p}
print(len(mine & known), *sorted(p for p in mine - known if "__pycache__" not in p))
"""


def test_whatever_rendering_reads_is_an_input() -> None:
    """A file that it reads and that is no part of the key could change unseen."""
    done = subprocess.run(
        [sys.executable, "-c", _AUDIT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    count, *unknown = done.stdout.split()
    assert unknown == []
    assert int(count) > 30
