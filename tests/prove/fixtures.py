"""Fixtures for the tests of the proofs; tests/meta and tests/backends use them too."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.cli import prove_command
from sonnx_clip.spec import load
from tests.other_root import use_root
from tests.prove.remembered import Remembered
from tests.prove.workbench import HERE, SharedSpec, Workbench, copy_of_the_repository

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec


@cache
def _remembered(folder: Path) -> Remembered:
    return Remembered(folder)


def remembered(factory: pytest.TempPathFactory) -> Remembered:
    """What was said in this session; the processes of pytest-xdist share it."""
    base = factory.getbasetemp()
    return _remembered((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "remembered")


def _no_canaries(_: Spec) -> tuple[dict[str, str], tuple[Obligation, ...]]:
    """Saves each run of `prove` two seconds; `Workbench.send_canaries` undoes it."""
    return {}, ()


@pytest.fixture
def bench(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Workbench:
    """A repository of its own: the project's files are looked up there."""
    root = tmp_path / "repository"
    copy_of_the_repository(root)
    use_root(root, monkeypatch)
    specs = SharedSpec()
    monkeypatch.setattr(load, "_load_once", specs)
    remembered(tmp_path_factory).use(monkeypatch)
    monkeypatch.setattr(prove_command, "render_canaries", _no_canaries)
    return Workbench(root, tmp_path / "build", monkeypatch, capsys, specs)


@pytest.fixture
def real_bench(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Workbench:
    """The real repository with an empty ledger."""
    remembered(tmp_path_factory).use(monkeypatch)
    monkeypatch.setattr(prove_command, "render_canaries", _no_canaries)
    return Workbench(HERE, tmp_path / "build", monkeypatch, capsys)
