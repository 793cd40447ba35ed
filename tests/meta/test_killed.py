"""Kill −9 at random moments: nothing that was finished is lost, nothing is half written, no process stays.

Each command runs in a checkout of its own. It is killed alone, as the system does it when memory runs out:
what it started has to notice by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.nightly

HERE = repo_root()
MARK = "SONNX_CLIP_TEST_OF_KILLS"
PATIENCE = 20  # seconds for what stays behind to end
SHORTEST = 0.05  # seconds: no command ends as early
SHORTER = 0.8
TRIES = 30
_NEEDED = ("sonnx_clip", "spec", "why3", "generated", "coq", "docs", "pyproject.toml")


@dataclass
class Checkout:
    """A copy of the repository, and a mark by which its processes are known."""

    root: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def build(self) -> Path:
        """Where its commands keep what they find."""
        return self.root / "build"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command of the copy, in a session of its own."""
        environment = {**os.environ, MARK: self.mark, "PYTHONPATH": str(self.root)}
        return subprocess.Popen(
            [sys.executable, "-m", "sonnx_clip", *arguments],
            cwd=self.root, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments: str) -> float:
        """Run a command to its end; how long it took."""
        start = time.monotonic()
        process = self.start(*arguments)
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()
        return time.monotonic() - start

    def left(self) -> list[int]:
        """The processes that carry the mark and have not ended."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                environment = (folder / "environ").read_bytes()
                if f"{MARK}={self.mark}".encode() in environment and int(folder.name) != os.getpid():
                    found.append(int(folder.name))
        return found

    def kill_at_random(self, chance: random.Random, longest: float, *arguments: str) -> bool:
        """Kill a command at a random moment; whether it had not ended by itself."""
        process = self.start(*arguments)
        time.sleep(chance.uniform(0.02, longest))
        running = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        end = time.monotonic() + PATIENCE
        while self.left():
            assert time.monotonic() < end, f"{arguments[0]} left processes behind: {self.left()}"
            time.sleep(0.02)
        return running


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """The copy; processes that a failed test leaves behind end with it."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in _NEEDED:
        if (HERE / name).is_dir():
            shutil.copytree(HERE / name, root / name)
        else:
            shutil.copy(HERE / name, root / name)
    found = Checkout(root)
    yield found
    for pid in found.left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _try(
    checkout: Checkout, arguments: tuple[str, ...], before: Callable[[], None], after: Callable[[], None]
) -> None:
    """Run a command once to know how long it takes; then kill it at random moments, and run it to its end.

    The first run may be the slowest, since nothing is kept yet: a run that ended before its kill shortens
    the time that the next kill is drawn from.
    """
    before()
    longest = checkout.run(*arguments)
    after()
    chance = random.Random(TRIES)
    for _ in range(TRIES):
        before()
        while not checkout.kill_at_random(chance, longest, *arguments):
            after()
            longest *= SHORTER
            assert longest > SHORTEST, "it always ended before it was killed"
            before()
        after()
    checkout.run(*arguments)
    after()


def _answers(ledger: Path) -> int:
    with contextlib.suppress(sqlite3.OperationalError):
        database = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
        with contextlib.closing(database):
            count: int = database.execute("SELECT count(*) FROM answers").fetchone()[0]
            return count
    return 0


def test_prove(checkout: Checkout) -> None:
    """Every answer stays; the ledger begins anew now and then, so that there is something to be asked."""
    ledger, known = checkout.build / "ledger.sqlite", [0, 0]

    def before() -> None:
        known[0] += 1
        if known[0] % 5 == 1:
            shutil.rmtree(checkout.build, ignore_errors=True)
        known[1] = _answers(ledger)

    def after() -> None:
        assert _answers(ledger) >= known[1]

    _try(checkout, ("prove", "--only", "int8.*bounds*", "--jobs", "2"), before, after)


def test_check(checkout: Checkout) -> None:
    """A report is the old one or a new one, and verdicts that were kept stay."""
    output = checkout.build / "verdicts" / "numpy.json"
    types = ("--dtype", "uint32", "--dtype", "uint16")
    arguments = ("check", "--runtime", "numpy", *types, "--json", "-o", str(output))
    kept: set[str] = set()
    count = [0]

    def before() -> None:
        count[0] += 1
        if count[0] % 5 == 1:
            shutil.rmtree(checkout.build / "kept", ignore_errors=True)
        kept.clear()
        kept.update(path.name for path in (checkout.build / "kept").glob("check-*"))

    def after() -> None:
        assert kept <= {path.name for path in (checkout.build / "kept").glob("check-*")}
        if output.exists():
            report = json.loads(output.read_text())
            assert [found["verdict"] for found in report["types"]] == ["conforms", "conforms"]

    _try(checkout, arguments, before, after)


def test_generate(checkout: Checkout) -> None:
    """Each file is as it was or as it must be; evidence and normalise write theirs in the same way."""
    checkout.run("generate")
    root = checkout.root / "generated"
    due = {path: path.read_bytes() for path in root.rglob("*.mlw")}
    assert len(due) > 5

    def before() -> None:
        for path, wanted in due.items():
            path.write_bytes(wanted + b"(* stale *)\n")

    def after() -> None:
        for path, wanted in due.items():
            assert path.read_bytes().removesuffix(b"(* stale *)\n") == wanted

    _try(checkout, ("generate",), before, after)
    assert all(path.read_bytes() == wanted for path, wanted in due.items())
