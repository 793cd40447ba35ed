"""Fixtures for the tests of the proofs; tests/meta, tests/trace and tests/backends use them too."""

import os
from dataclasses import replace
from functools import cache

import pytest

from sonnx_clip.backends.theory import Generated
from sonnx_clip.cli import prove_command
from sonnx_clip.spec import load
from tests.other_root import use_root
from tests.prove.remembered import Remembered
from tests.prove.workbench import HERE, SharedSpec, Workbench, copy_of_the_repository

_remembered = cache(Remembered)


@pytest.fixture
def real_bench(tmp_path, tmp_path_factory, monkeypatch, capsys):
    """The real repository with an empty ledger; the processes of pytest-xdist share what tools said."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    _remembered(base / "remembered").use(monkeypatch)
    # Saves each run of `prove` two seconds; `Workbench.send_canaries` undoes it.
    monkeypatch.setattr(prove_command, "render_canaries", lambda _: Generated({}, ()))
    return Workbench(HERE, tmp_path / "build", monkeypatch, capsys)


@pytest.fixture
def bench(real_bench, tmp_path, monkeypatch):
    """A repository of its own: the project's files are looked up there."""
    root, specs = tmp_path / "repository", SharedSpec()
    copy_of_the_repository(root)
    use_root(root, monkeypatch)
    monkeypatch.setattr(load, "_load_once", specs)
    return replace(real_bench, root=root, specs=specs)
