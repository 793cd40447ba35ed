"""A copy of what the proofs read, in which a test plants a mistake, and the command line over it."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.generate import render_theories, write
from sonnx_clip.cli import prove_command
from sonnx_clip.cli.prove_command import ProveRequest, prove_these
from sonnx_clip.prove import prove_all
from sonnx_clip.root import folders
from sonnx_clip.spec import check_spec, load, load_spec
from tests.command import run

HERE = folders.repo_root()
_REAL = load._load_once


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def document(self):
        """What ``--json`` printed."""
        return json.loads(self.out)

    @property
    def outcomes(self):
        """The outcomes of ``--json`` by obligation."""
        return {outcome["id"]: outcome for outcome in self.document["outcomes"]}


class SharedSpec:
    """Stands for `load._load_once`: reads spec/ once for each state of its files.

    As long as a copy of spec/ is what the repository has, it is the repository's specification, with all
    that was computed for it before.
    """

    def __init__(self):
        self.alone = False  # whether it shares nothing with the repository
        self.believed = False  # whether nothing is checked by evaluation
        self.read = {}

    def __call__(self, path):
        texts = texts_of(path.parent)
        if texts == texts_of(HERE / "spec") and not self.alone:
            return _REAL(HERE / "spec" / path.name)
        if texts not in self.read:
            self.read[texts] = _REAL.__wrapped__(path)
        return self.read[texts]


@dataclass(frozen=True)
class Workbench:
    """Runs the command line on a repository of its own or the real one; what it writes is in `build`."""

    root: Path
    build: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    specs: SharedSpec = field(default_factory=SharedSpec)

    def plant(self, file, old, new):
        """Replace a text that stands once in a file of the copy."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"the text to replace must stand once in {file}: {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def believe_the_yaml(self):
        """Switch off the checks by evaluation, so that only the provers find mistakes."""
        self.specs.believed = True
        self.monkeypatch.setattr(prove_command, "check_spec", lambda _: None)

    def render_anew(self):
        """Share nothing that was rendered before: for what is planted in a function that renders."""
        self.specs.read = {}
        self.specs.alone = True

    def limit(self, seconds):
        """Stop the provers earlier than usual, by the clock."""
        self.monkeypatch.setattr(prove_all, "GUARD_SECONDS", seconds)

    def limit_steps(self, steps):
        """Stop the provers earlier than usual, by the steps that each counts: alike on every machine."""
        self.monkeypatch.setattr(prove_all, "PROOF_RESOURCES", steps)

    def send_canaries(self):
        """Send canaries in each run, as users do."""
        self.monkeypatch.setattr(prove_command, "render_canaries", render_canaries)

    def generate(self):
        """Check the specification of the copy, and render its theories."""
        spec = load_spec()
        if not self.specs.believed:
            check_spec(spec)
        write(render_theories(spec), self.root)

    def command(self, *arguments):
        """Run ``sonnx-clip`` with these arguments in this process."""
        done = run(*arguments, cwd=Path.cwd())
        return Ended(done.returncode, done.stdout, done.stderr)

    def prove_these(self, theories, shown=20, **request):
        """Prove these theories as the command does; `request` has the fields of `ProveRequest`."""
        self.capsys.readouterr()
        status = prove_these(
            load_spec(), theories, ProveRequest(self.build, jobs=2, **request), shown=shown
        )
        said = self.capsys.readouterr()
        return Ended(status, said.out, said.err)

    def prove(self, *arguments, jobs=2):
        """Run ``sonnx-clip prove`` with these arguments."""
        return self.command("prove", "--build", str(self.build), "--jobs", str(jobs), *arguments)


def texts_of(folder):
    """Names and contents of the files in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((path.relative_to(folder), path.read_bytes()) for path in files)


def copy_of_the_repository(root):
    """What the proofs read: the YAML with the texts that it quotes, the theories, written and generated."""
    for folder in ("spec", "why3", "generated/why3", "generated/c/drivers"):
        shutil.copytree(HERE / folder, root / folder)
