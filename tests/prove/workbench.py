"""A copy of what the proofs read, in which a test plants a mistake, and the command line over it."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.generate import render_theories, write
from sonnx_clip.cli.app import main
from sonnx_clip.prove import prove_all
from sonnx_clip.prove.provers import ProverLimits
from sonnx_clip.root import paths
from sonnx_clip.spec import alike, checked, load, load_spec

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from sonnx_clip.spec import Spec

HERE = paths.repo_root()
_REAL = load._load_once


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What ``--json`` printed."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """The outcomes of ``--json`` by obligation."""
        return {outcome["id"]: outcome for outcome in self.document["outcomes"]}


@dataclass(frozen=True)
class Workbench:
    """Runs the command line on a repository of its own, or on the real one when `root` is that.

    Args:
        root: the folder with spec, why3 and generated.
        build: where ledger and results go.
    """

    root: Path
    build: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def plant(self, file: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file of the copy."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"the text to replace must stand once in {file}: {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def believe_the_yaml(self) -> None:
        """Switch off what the loader finds by evaluation, so that the provers stand alone."""
        self.monkeypatch.setattr(load, "kept", lambda path, read: read(path))  # what is unchecked is not kept
        for name in (
            "check_cases", "check_sonnx_page", "check_sonnx_cases", "check_witnesses",
            "check_dialect_numbers", "check_vendor_pages", "check_not_empty", "check_findings",
            "check_claims", "check_demands", "check_latitude", "check_type_names", "check_dialect_examples",
        ):  # fmt: skip
            self.monkeypatch.setattr(checked, name, lambda _: ())

    def render_anew(self) -> None:
        """Share nothing that was rendered before: for what is planted in a function that renders."""
        alike.forget()
        self.monkeypatch.setattr(load, "_load_once", SharedSpec(alone=True))

    def limit(self, seconds: int) -> None:
        """Give the provers less time than usual."""
        self.monkeypatch.setattr(prove_all, "PROOF", ProverLimits(seconds))

    def generate(self) -> None:
        """Render the theories of the copy."""
        write(render_theories(load_spec()), self.root)

    def command(self, *arguments: str) -> Ended:
        """Run ``sonnx-clip`` with these arguments in this process."""
        self.monkeypatch.setattr(sys, "argv", ["sonnx-clip", *arguments])
        self.capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        said = self.capsys.readouterr()
        return Ended(status, said.out, said.err)

    def prove(self, *arguments: str, jobs: int = 2) -> Ended:
        """Run ``sonnx-clip prove`` with these arguments."""
        return self.command("prove", "--build", str(self.build), "--jobs", str(jobs), *arguments)


class SharedSpec:
    """Stands for `load._load_once`: reads spec/ once for each state of its files.

    As long as a copy of spec/ is what the repository has, it is the repository's specification, with all
    that was computed for it before.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self.alone = alone
        self.read: dict[tuple[bytes, ...], Spec] = {}

    def __call__(self, path: Path) -> Spec:
        texts = texts_of(path.parent)
        if texts == texts_of(HERE / "spec") and not self.alone:
            return _REAL(HERE / "spec" / path.name)
        if texts not in self.read:
            self.read[texts] = _REAL.__wrapped__(path)
        return self.read[texts]


def texts_of(folder: Path) -> tuple[bytes, ...]:
    """Names and contents of the files in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = (str(path.relative_to(folder)).encode() for path in files)
    return tuple(part for pair in zip(names, (p.read_bytes() for p in files), strict=True) for part in pair)


def copy_of_the_repository(root: Path) -> None:
    """What the proofs read: the YAML with the texts that it quotes, the theories, written and generated."""
    for folder in ("spec", "why3", "generated/why3", "generated/c/drivers"):
        shutil.copytree(HERE / folder, root / folder)
