"""The C kernels that `clip` uses: built by request alone, tried before they are kept, found by digests."""

import os

import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.oracle import built, load_oracle
from sonnx_clip.oracle.built import (
    built_file,
    find_compiler,
    installed_library,
    kernels,
    source_files,
)
from sonnx_clip.oracle.plan import PLANNERS
from sonnx_clip.oracle.strict import clip_by_numpy
from sonnx_clip.root.errors import UserError
from tests.c.targets import planted
from tests.oracle.keeping import forget, keep

F = np.float32
FLOAT16 = {"float16": ("rank(a) < limit(rank(b))", "rank(a) <= limit(rank(b))")}
"""A mistake in the C of one type."""
X = np.array([-0.0, 0.0, -1.5, np.nan, 7.0], F)


@pytest.fixture(autouse=True)
def cache(by, tmp_path, monkeypatch):
    """A cache of its own, in which nothing is built, and no kernels chosen; the folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(built.VARIABLE)
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "sonnx-clip" / "kernels"


@pytest.fixture
def kept(library):
    """A library that is kept for `clip`: what `install` gives, without trying it again."""
    return keep(library)


@pytest.mark.nightly
def test_installed_kernels_are_used_and_tried_again_only_if_damaged(monkeypatch):
    tried = []
    real = built.ctypes.CDLL
    monkeypatch.setattr(built.ctypes, "CDLL", lambda name: tried.append(name) or real(name))
    assert installed_library() is None
    kept = built.install()
    assert installed_library() == kept
    assert (built.install(), len(tried)) == (kept, 1)
    assert kernels().keys() == PLANNERS.keys()
    x = np.frombuffer(X.tobytes(), F)  # read-only
    assert clip(x, F(0), F(6)).tobytes() == load_oracle().clip(X, F(0), F(6)).tobytes()
    compiled = built_file(find_compiler(), source_files())
    assert sorted(kept.parent.iterdir()) == sorted([kept, compiled])
    tried.clear()
    damaged = kept.read_bytes() + b"x"
    kept.unlink()  # not overwritten: this process has it mapped
    kept.write_bytes(damaged)
    assert (built.install(), len(tried)) == (kept, 1)
    assert kept.read_bytes() == compiled.read_bytes()


def test_clip_never_compiles(monkeypatch):
    def run(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", run)
    assert kernels() is None
    assert clip(X, F(0), F(6)).tobytes() == load_oracle().clip(X, F(0), F(6)).tobytes()


def test_the_variable_chooses(kept, monkeypatch):
    for chosen, in_c in {"": True, "auto": True, "c": True, "numpy": False}.items():
        monkeypatch.setenv(built.VARIABLE, chosen)
        forget()
        assert (kernels() is not None) is in_c
    assert clip_by_numpy(X, F(0), F(6)).tobytes() == load_oracle().clip(X, F(0), F(6)).tobytes()
    monkeypatch.setenv(built.VARIABLE, "fortran")
    forget()
    with pytest.raises(UserError, match="the choices are auto, numpy, c"):
        clip(X, F(0), F(6))


def test_c_that_is_wanted_and_not_built_is_one_message(monkeypatch):
    monkeypatch.setenv(built.VARIABLE, "c")
    with pytest.raises(UserError, match="not built for this processor") as caught:
        clip(X, F(0), F(6))
    assert built.BUILD in str(caught.value)


def damaged(kept):
    kept.chmod(0o700)
    kept.write_bytes(kept.read_bytes() + b"\0")


def linked(kept):
    kept.rename(kept.with_name("elsewhere"))
    kept.symlink_to(kept.with_name("elsewhere"))


SPOILT = {
    "damaged": damaged,
    "a link": linked,
    "writable by others": lambda kept: kept.chmod(0o722),
    "in a folder that others can write to": lambda kept: kept.parent.chmod(0o770),
    "gone": lambda kept: kept.unlink(),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_library_that_is_not_as_it_was_kept_is_not_loaded(name, kept, monkeypatch):
    assert installed_library() == kept
    with monkeypatch.context() as other_user:
        other_user.setattr(os, "geteuid", lambda: 12345)
        assert installed_library() is None
    SPOILT[name](kept)
    assert installed_library() is None
    assert kernels() is None


def test_another_processor_and_other_c_need_another_library(kept, tmp_path, monkeypatch):
    assert installed_library() == kept
    sources = planted(tmp_path, FLOAT16)
    with monkeypatch.context() as changed:
        changed.setattr(built, "source_files", lambda: sources)
        assert installed_library() is None
    assert installed_library() == kept
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags : fpu sse2 made_up\n")
    monkeypatch.setattr(built, "CPUINFO", tmp_path / "cpuinfo")
    assert installed_library() is None


def test_without_features_clip_stays_with_numpy(kept, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(built, "CPUINFO", tmp_path / "none")
    assert kernels() is None
    assert built.main() == 2
    assert "features of the processor cannot be read" in capsys.readouterr().err


def test_c_that_answers_wrong_is_not_kept(tmp_path, monkeypatch, capsys):
    sources = planted(tmp_path, FLOAT16)
    monkeypatch.setattr(built, "source_files", lambda: sources)
    assert built.main() == 2
    message = capsys.readouterr().err
    assert "the compiled kernel gives a wrong answer" in message
    assert "float16, min " in message
    assert installed_library() is None


def test_a_folder_that_others_can_write_to_is_refused(cache, capsys):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert built.main() == 2
    assert "other users can write" in capsys.readouterr().err
    assert not [*cache.iterdir()]
