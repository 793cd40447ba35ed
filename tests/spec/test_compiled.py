"""A kept specification is the one that was read, and is believed only while nothing has changed."""

from __future__ import annotations

import io
import json
import os
import pickle
import pickletools
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.language.tree import Kind
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import Spec, load
from sonnx_clip.spec.checked import read_and_check
from tests.spec.kept import SPOILT, STALE, Repository, repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return repository(tmp_path / "own", monkeypatch)


def test_the_next_process_has_the_same_specification(own: Repository) -> None:
    first, second = own.load(), own.load()
    assert own.reads == 1
    assert second is not first
    assert second.digest == first.digest
    assert second.whole_dialects == first.whole_dialects
    for name in Spec.model_fields:
        assert getattr(second, name) == getattr(first, name), name
    assert second.model_dump_json(by_alias=True) == first.model_dump_json(by_alias=True)


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_is_pickled_by_its_class(kind: Kind) -> None:
    """Python 3.11.2 names `getattr` where it pickles an enumeration: nothing that was kept was believed."""
    named = [
        of for code, of, _ in pickletools.genops(pickle.dumps(kind, 4)) if code.name == "SHORT_BINUNICODE"
    ]
    assert named == [Kind.__module__, "Kind", kind.value]
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_every_place_is_kept(own: Repository) -> None:
    """Trees know where they stand in the file; equality of the entries includes it."""
    own.load()
    assert own.load().cases[1].when.at == read_and_check(own.yaml).cases[1].when.at


@pytest.mark.parametrize("change", STALE.values(), ids=STALE)
def test_what_is_stale_is_read_again(own: Repository, change: Callable[[Repository], None]) -> None:
    own.load()
    assert not own.reads_again()
    change(own)
    assert own.reads_again()
    assert not own.reads_again(), "the new one is kept"


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_what_is_spoilt_is_read_again(own: Repository, spoil: Callable[[Repository], None]) -> None:
    own.load()
    spoil(own)
    assert own.reads_again()


def test_a_page_that_is_gone_is_reported(own: Repository) -> None:
    own.load()
    (own.root / "spec/sources/numpy-clip.txt").unlink()
    with pytest.raises(UserError, match=r"there is no file spec/sources/numpy-clip\.txt"):
        own.load()


def test_a_mistake_is_reported_and_not_kept(own: Repository) -> None:
    own.load()
    kept = own.file.read_bytes()
    text = own.yaml.read_text(encoding="utf-8")
    own.yaml.write_text(text.replace("result: L\n", "result: M\n", 1), encoding="utf-8")
    for _ in range(2):
        with pytest.raises(UserError, match=r"spec/clip\.yaml:\d+:\d+"):
            own.load()
    assert own.file.read_bytes() == kept


@pytest.mark.parametrize("made", [os.system, print, eval, subprocess.Popen, UserError, json.JSONDecoder])
def test_a_file_can_make_nothing_but_parts_of_a_specification(own: Repository, made: object) -> None:
    body = pickle.dumps(made)
    with pytest.raises(pickle.UnpicklingError, match="is no part of a specification"):
        load._Unpickler(io.BytesIO(body)).load()
    head = {"key": load.key_of(own.yaml, []), "pages": [], "body": digest_of(body)}
    own.load()
    own.file.write_bytes(json.dumps(head).encode() + b"\n" + body)
    assert own.reads_again()


def test_a_file_with_another_part_in_it_is_not_believed(own: Repository) -> None:
    body = pickle.dumps(own.load().cases[0])
    head = {"key": load.key_of(own.yaml, []), "pages": [], "body": digest_of(body)}
    own.file.write_bytes(json.dumps(head).encode() + b"\n" + body)
    assert own.reads_again()


def test_where_the_checkout_cannot_be_written_the_cache_of_the_user_is_used(own: Repository) -> None:
    (own.root / "build").write_text("a file, no folder")
    own.load()
    assert [path.name for path in (own.root / "home/sonnx-clip").iterdir()] == [own.file.name]
    assert not own.reads_again()


def test_where_nothing_can_be_written_it_is_read_each_time(own: Repository) -> None:
    (own.root / "build").write_text("a file, no folder")
    (own.root / "home").write_text("a file, no folder")
    own.load()
    assert own.reads_again()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(own: Repository) -> None:
    (own.root / "build/cache").mkdir(parents=True)
    (own.root / "build/cache").chmod(0o500)
    own.load()
    assert not own.file.exists()
    assert not own.reads_again(), "the cache of the user is used"


def test_a_file_of_another_user_is_not_believed(own: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    own.load()
    monkeypatch.setattr(load.os, "geteuid", lambda: os.getuid() + 1)
    assert own.reads_again()


def test_nobody_else_can_write_what_is_kept(own: Repository) -> None:
    before = os.umask(0)
    try:
        own.load()
    finally:
        os.umask(before)
    assert own.file.stat().st_mode & 0o777 == 0o600
    assert own.file.parent.stat().st_mode & 0o777 == 0o700


_AT_ONCE = """
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load
from sonnx_clip.spec.checked import read_and_check

load.build_folder = lambda: None
print(load.kept(repo_file("spec/clip.yaml"), read_and_check).digest)
"""

_UNCOVERED = """
import sys
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load
from sonnx_clip.spec.checked import read_and_check

read_and_check(repo_file("spec/clip.yaml"))
covered = {str(path) for path in load.code_files()}
ours = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "sonnx_clip"}
print(sorted(name for name, module in ours.items() if module.__file__ not in covered))
"""


def test_processes_at_once(tmp_path: Path) -> None:
    """Several processes without a kept file end alike, and leave one whole file."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", _AT_ONCE]
    running = [
        subprocess.Popen(command, cwd=repo_root(), env=environment, stdout=subprocess.PIPE) for _ in range(3)
    ]
    ends = [process.communicate(timeout=120)[0] for process in running]
    assert len(set(ends)) == 1
    assert len(ends[0]) == 65
    (kept,) = (tmp_path / "sonnx-clip").iterdir()
    assert kept.suffix == ".bin"


def test_the_digest_covers_all_code_that_loading_runs() -> None:
    """Each module of this package that is there after a load is among the files under the digest."""
    command = [sys.executable, "-c", _UNCOVERED]
    done = subprocess.run(command, cwd=repo_root(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['sonnx_clip']", "its __init__ loads nothing by itself"
