"""What the real tools said of an unchanged question, so that a session of tests asks each of them once.

A question is remembered with all that decides its answer: the texts of the theories, drivers and tasks, and
the options. What a test plants in any of them is another question. A tool that stands in for the real one is
asked each time, and so is a question whose answer was a failure.
"""

import pickle
import shutil
from pathlib import Path

from sonnx_clip.prove import prove_all, tasks
from sonnx_clip.prove.provers import ask
from sonnx_clip.root.files import digest_of_parts, write_together
from sonnx_clip.whyml.why3_lexer import without_header

_REAL = {name: shutil.which(name) for name in ("why3", "z3", "cvc5")}
_ASKED = ("valid", "countermodel", "unknown", "timeout")
_RUN_WHY3 = tasks.run_why3


class Remembered:
    """What was said, by a digest of the question, in a folder that the processes of a session share."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def use(self, monkeypatch):
        """Let the proofs ask here first."""
        monkeypatch.setattr(tasks, "run_why3", self.run_why3)
        monkeypatch.setattr(prove_all, "ask", self.ask)

    def run_why3(self, command, root, running=None):
        """As `tasks.run_why3`; the files that Why3 writes are written again."""
        if shutil.which("why3") != _REAL["why3"]:  # see `tools.fake`
            return _RUN_WHY3(command, root, running)
        folder = Path(command[command.index("-o") + 1]) if "-o" in command else None

        def find():
            done = _RUN_WHY3(command, root, running)
            files = folder.iterdir() if folder else ()
            return done, {path.name: path.read_text(encoding="utf-8") for path in files}

        question = _question(command, root)
        done, files = self._once(find, lambda said: said[0].killed or said[0].status, *question)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return done

    def ask(self, prover, task, digest, limits, folder, running):
        """As `provers.ask`."""

        def find():
            return ask(prover, task, digest, limits, folder, running)

        program = prover.command[0]
        if shutil.which(program) != _REAL[program]:
            return find()
        return self._once(
            find, lambda said: said.verdict not in _ASKED, "ask", repr((prover, limits)), task
        )

    def _once(self, find, failed, *question):
        key = digest_of_parts(question)
        if key not in self.known:
            file = self.folder / key
            if file.is_file():
                self.known[key] = pickle.loads(file.read_bytes())
            elif failed(found := find()):  # another run need not give this answer
                return found
            else:
                self.known[key] = found
                write_together({file: pickle.dumps(found)})
        return self.known[key]


def _question(command, root):
    """The command with what it reads; where its files are is left out."""
    yield from ("why3", command[1])
    words = iter(command[2:])
    for word in words:
        if word == "-C":
            yield from _configuration(root / next(words))
        elif word == "-o":
            next(words)
        else:
            yield word
            if (root / word).is_file():
                yield _body(root / word)
    for path in sorted((root / "why3").glob("*.mlw")):
        yield from (path.name, _body(path))


def _configuration(file):
    """The configuration and the drivers beside it."""
    drivers = file.parent / "drivers"
    yield file.read_text(encoding="utf-8").replace(str(drivers.resolve()), "DRIVERS")
    for path in sorted(drivers.iterdir()):
        yield from (path.name, path.read_text(encoding="utf-8"))


def _body(file):
    """The text without the header, which is a comment; the places of what follows stay the same."""
    return without_header(file.read_text(encoding="utf-8"))
