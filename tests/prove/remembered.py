"""What the real tools said of an unchanged question, so that a session of tests asks each of them once.

A question is remembered with all that decides its answer: the texts of the theories, drivers and tasks, and
the options. What a test plants in any of them is another question. A tool that stands in for the real one is
asked each time, and so is a question whose answer was a failure.
"""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sonnx_clip.prove import prove_all, tasks
from sonnx_clip.prove.provers import ask
from sonnx_clip.prove.tasks import WHY3_SECONDS
from sonnx_clip.root.files import digest_of_parts, write_together
from sonnx_clip.whyml.why3_lexer import without_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from sonnx_clip.prove.outcome import Reply
    from sonnx_clip.prove.provers import Prover, ProverLimits
    from sonnx_clip.root.run_program import Ended, Running

_REAL: Final = {name: shutil.which(name) for name in ("why3", "z3", "cvc5")}
_ASKED = ("valid", "countermodel", "unknown", "timeout")
_RUN_WHY3 = tasks.run_why3


class Remembered:
    """What was said, by a digest of the question; shared with the processes that run the same session.

    Args:
        folder: where it is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Any] = {}

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the proofs ask here first."""
        monkeypatch.setattr(tasks, "run_why3", self.run_why3)
        monkeypatch.setattr(prove_all, "ask", self.ask)

    def run_why3(
        self, command: list[str], root: Path, running: Running | None = None, seconds: float = WHY3_SECONDS
    ) -> Ended:
        """As `tasks.run_why3`; the files that Why3 writes are written again."""
        if shutil.which("why3") != _REAL["why3"]:  # see `tools.fake`
            return _RUN_WHY3(command, root, running, seconds)
        folder = Path(command[command.index("-o") + 1]) if "-o" in command else None
        done, files = self._once(lambda: _why3(command, root, folder, running), *_question(command, root))
        for name, text in files.items() if folder else ():
            (folder / name).write_text(text, encoding="utf-8")
        return done

    def ask(
        self, prover: Prover, task: str, digest: str, limits: ProverLimits, folder: Path, running: Running
    ) -> Reply:
        """As `provers.ask`."""
        program = prover.command[0]
        if shutil.which(program) != _REAL[program]:
            return ask(prover, task, digest, limits, folder, running)
        question = ("ask", repr((prover, limits)), task)
        return self._once(lambda: ask(prover, task, digest, limits, folder, running), *question)

    def _once(self, find: Callable[[], Any], *question: str) -> Any:
        key = digest_of_parts(question)
        if key not in self.known:
            file = self.folder / key
            if file.is_file():
                self.known[key] = pickle.loads(file.read_bytes())
            else:
                found = find()
                if _failed(found):
                    return found
                self.known[key] = found
                write_together({file: pickle.dumps(found)})
        return self.known[key]


def _failed(found: Any) -> bool:
    """Whether an answer is one that another run need not give."""
    if isinstance(found, tuple):
        return found[0].killed or found[0].status != 0
    return hasattr(found, "verdict") and found.verdict not in _ASKED


def _why3(
    command: list[str], root: Path, folder: Path | None, running: Running | None
) -> tuple[Ended, dict[str, str]]:
    done = _RUN_WHY3(command, root, running)
    files = folder.iterdir() if folder else ()
    return done, {path.name: path.read_text(encoding="utf-8") for path in files}


def _question(command: list[str], root: Path) -> Iterator[str]:
    """The command with what it reads; where its files are is left out."""
    yield from ("why3", command[1])
    at = 2
    while at < len(command):
        option, file = command[at], root / command[at]
        if option == "-C":
            at += 1
            yield from _configuration(root / command[at])
        elif option == "-o":
            at += 1
        else:
            yield option
            if file.is_file():
                yield _body(file)
        at += 1
    for path in sorted((root / "why3").glob("*.mlw")):
        yield from (path.name, _body(path))


def _configuration(file: Path) -> Iterator[str]:
    """The configuration and the drivers beside it."""
    drivers = file.parent / "drivers"
    yield file.read_text(encoding="utf-8").replace(str(drivers.resolve()), "DRIVERS")
    for path in sorted(drivers.iterdir()):
        yield from (path.name, path.read_text(encoding="utf-8"))


def _body(file: Path) -> str:
    """The text without the header, which is a comment; the places of what follows stay the same."""
    return without_header(file.read_text(encoding="utf-8"))
