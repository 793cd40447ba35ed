"""The C kernels are built when needed and kept; what goes wrong is one message."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import pytest

from sonnx_clip.oracle.built import built_file, find_compiler, source_files
from sonnx_clip.root.errors import UserError
from tests.other_root import use_root


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own; the folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "sonnx-clip" / "kernels"


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Sources that compile at once; the file."""
    folder = tmp_path / "generated/c"
    folder.mkdir(parents=True)
    use_root(tmp_path, monkeypatch)
    (folder / "one.c").write_text("int one(void) { return 1; }\n")
    return folder / "one.c"


def built_library(compiler):
    return ctypes.CDLL(str(built_file(compiler, source_files())))


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_it_is_built_once_and_kept(sources, cache):
    assert built_library(find_compiler()).one() == 1
    (kept,) = cache.glob("*.so")
    before = kept.stat().st_mtime_ns
    assert built_library(find_compiler()).one() == 1
    assert [*cache.iterdir()] == [kept]
    assert kept.stat().st_mtime_ns == before


def test_other_sources_and_other_flags_are_another_library(sources, cache, monkeypatch):
    built_library(find_compiler())
    sources.write_text("int one(void) { return 2; }\n")
    assert built_library(find_compiler()).one() == 2
    monkeypatch.setenv("CC", f"{find_compiler().command[0]} -DOTHER")
    built_library(find_compiler())
    assert len([*cache.glob("*.so")]) == 3


def test_many_at_once_build_one_library(sources, cache):
    compiler = find_compiler()
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: built_library(compiler).one(), range(16))]
    assert found == [1] * 16
    assert {path.suffix for path in cache.iterdir()} == {".so"}


def test_without_a_compiler_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no C compiler on PATH") as caught:
        find_compiler()
    assert "CC" in caught.value.todo


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("no-such-compiler -O1", "missing"),
        ("'open", "cannot be read"),
        ("false", "without output"),
        ("{folder}/cc", "cannot be run"),
    ],
)
def test_a_CC_that_is_no_compiler_is_refused(monkeypatch, tmp_path, named, words):
    (tmp_path / "cc").write_text("no program")
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("CC", named.format(folder=tmp_path))
    with pytest.raises(UserError, match=words):
        find_compiler()


def test_a_compiler_without_march_is_asked_without(monkeypatch, tmp_path, sources):
    real = find_compiler().command[0]
    refusing = (
        f'case "$*" in *-march=native*) echo no such option >&2; exit 1;; esac\nexec {real} "$@"'
    )
    monkeypatch.setenv("CC", script(tmp_path / "cc", refusing))
    compiler = find_compiler()
    assert "-march=native" not in compiler.flags
    assert built_library(compiler).one() == 1


def test_the_words_of_the_compiler_are_in_the_message(sources, cache):
    sources.write_text('#error "kernels of another world"\n')
    with pytest.raises(UserError, match="kernels of another world"):
        built_library(find_compiler())
    assert [*cache.iterdir()] == []


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only"])
def test_fast_math_is_refused_by_the_header(monkeypatch, flag):
    monkeypatch.setenv("CC", f"{find_compiler().command[0]} {flag}")
    with pytest.raises(UserError, match="compile without -ffast-math"):
        built_library(find_compiler())


def test_sources_that_are_not_generated_are_named(sources):
    sources.unlink()
    with pytest.raises(UserError, match="have not been generated"):
        built_library(find_compiler())


def test_a_cache_that_cannot_be_written_is_named(sources, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file")
    with pytest.raises(UserError, match="cannot be stored"):
        built_library(find_compiler())
