"""Runs a prover on a task, and decides what counts as an answer.

A prover is believed only when it repeats the name of the task, says ``unsat``, repeats the name again,
and says nothing else: a crash, a hang, an empty, truncated or foreign answer is never taken for a proof.
"""

from __future__ import annotations

import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from sonnx_clip.backends.drivers import COMMANDS, GUARD_SECONDS
from sonnx_clip.prove.outcome import ProverVerdict, Reply
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file, digest_of_parts
from sonnx_clip.root.run_program import LARGE_PAGES, Running, run_limited, version_of

INSTALL = "install it: apt-get install why3 z3 cvc5"
_VERDICTS: dict[str, ProverVerdict] = {
    "unsat": "valid",
    "sat": "countermodel",
    "unknown": "unknown",
}
GRACE = 2  # seconds beyond its own limit after which a prover is killed
_WORDS = 2000  # characters of a prover's last words that are kept


@dataclass(frozen=True)
class Prover:
    """A prover as the project uses it.

    Args:
        name: its name in Why3's configuration and in the ledger.
        command: program and options, with places for the limits; the task's file is appended.
        version: as the program prints it.
        digest: SHA-256 of the program.
        libraries: a digest of the shared libraries that the program loads.
    """

    name: str
    command: tuple[str, ...]
    version: str
    digest: str = ""
    libraries: str = ""

    @property
    def why3_name(self) -> str:
        """Its name for Why3; the comma at the end excludes its variants."""
        return f"{self.name},{self.version},"

    def within(self, limits: ProverLimits) -> tuple[str, ...]:
        """Program and options with the limits filled in."""
        return tuple(
            part.format(
                resources=limits.resources, seconds=limits.seconds, megabytes=limits.megabytes
            )
            for part in self.command
        )


@dataclass(frozen=True)
class ProverLimits:
    """What a prover may use for one task.

    Args:
        resources: steps as the prover counts them: they decide, alike on every machine, whether it answers.
        seconds: of wall-clock time, after which it is taken to hang.
        megabytes: of memory.
    """

    resources: int
    seconds: int = GUARD_SECONDS
    megabytes: int = 4000


_VERSIONS = {
    "Z3": re.compile(r"^Z3 version (\S+)"),
    "cvc5": re.compile(r"^This is cvc5 version (\S+)"),
}
NAMES = tuple(COMMANDS)


def find_provers(names: tuple[str, ...] = NAMES) -> tuple[Prover, ...]:
    """The provers with these names, each with the version that is installed; UserError if one is missing."""
    return tuple(dict.fromkeys(_find(name) for name in names))  # one asked twice is one


def _find(name: str) -> Prover:
    match = next((known for known in NAMES if known.lower() == name.lower()), None)
    if match is None:
        raise UserError(f"unknown prover {name}", todo=f"choose from {', '.join(NAMES)}")
    command = COMMANDS[match]
    said = version_of((command[0], "--version"), INSTALL)
    version = _VERSIONS[match].search(said)
    if version is None:
        raise UserError(
            f"{command[0]} does not print its version",
            todo=f"its output: {said[:200]!r}; {INSTALL}",
        )
    program = Path(shutil.which(command[0]) or "")
    return Prover(match, command, version[1], digest_of_file(program), _libraries(program))


_LIBRARY = re.compile(r"=> (/\S+)")


def _libraries(program: Path) -> str:
    """A digest of the shared libraries that the system's loader finds for a program."""
    libraries = sorted(_LIBRARY.findall(run_limited(("ldd", str(program)), 20).text))
    return digest_of_parts(digest_of_file(Path(library)) for library in libraries)


def ask(
    prover: Prover,
    task: str,
    digest: str,
    limits: ProverLimits,
    folder: Path,
    running: Running,
) -> Reply:
    """Ask a prover about one task.

    Args:
        prover: whom.
        task: SMT-LIB text that ends in ``(check-sat)``.
        digest: the name of the task, which the answer must repeat.
        limits: time and memory; a prover that ignores them is killed.
        folder: where the task's file is written and left.
        running: keeps the prover's process group while it runs.
    """
    file = (
        folder / f"{digest}.{prover.name.lower()}.{threading.get_ident()}.smt2"
    )  # nobody else writes it
    file.write_text(f'(echo "task {digest}")\n{task}\n(echo "end {digest}")\n', encoding="utf-8")
    asked = [*prover.within(limits), str(file)]
    done = run_limited(
        asked, limits.seconds + GRACE, running, environment=LARGE_PAGES, together=True
    )
    verdict = read_answer(done.text, digest, done.status, killed=done.killed)
    words = _last(done.text, done.status)
    return reply(prover, digest, verdict, words, done.cpu, limits.resources)


def reply(
    prover: Prover,
    task: str,
    verdict: ProverVerdict,
    words: str,
    cpu: float = 0.0,
    resources: int = 0,
) -> Reply:
    """The answer of a prover to the task with a digest; without a task, the reason."""
    return Reply(
        prover=prover.name,
        version=prover.version,
        verdict=verdict,
        cpu=round(cpu, 3),
        task=task,
        words=words,
        resources=resources,
    )


def read_answer(output: str, digest: str, status: int, *, killed: bool) -> ProverVerdict:
    """The verdict in what a prover printed; anything unexpected is ``failed``."""
    lines = [line.strip().strip('"') for line in output.splitlines() if line.strip()]
    # A prover can run out of time when it has answered: then its answer does not count either.
    out_of_time = "timeout" in (*lines[1:2], *lines[2:][-1:])
    if killed or out_of_time or any("interrupted by timeout" in line for line in lines):
        return "timeout"
    if status != 0 or len(lines) != 3:
        return "failed"
    begin, verdict, end = lines
    if begin != f"task {digest}" or end != f"end {digest}":
        return "failed"  # it is not known what the answer is to
    return _VERDICTS.get(verdict, "failed")


def _last(output: str, status: int) -> str:
    words = "\n".join(
        line
        for line in output.splitlines()
        if not line.strip().strip('"').startswith(("task ", "end "))
    )
    words = words.strip()[-_WORDS:] or "(no output)"
    return words if status == 0 else f"{words} [exit status {status}]"
