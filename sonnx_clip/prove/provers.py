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
        return f"{self.name},{self.version},"  # Why3's form: name, version, alternative

    def within(self, limits: ProverLimits) -> tuple[str, ...]:
        """Program and options with the limits filled in."""
        values = {
            "resources": limits.resources,
            "seconds": limits.seconds,
            "megabytes": limits.megabytes,
        }
        return tuple(part.format(**values) for part in self.command)


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
    names = {known.lower(): known for known in NAMES}
    own_name = names.get(name.lower())
    if own_name is None:
        raise UserError(f"unknown prover {name}", todo=f"choose from {', '.join(NAMES)}")
    command = COMMANDS[own_name]
    program = command[0]
    output = version_of((program, "--version"), INSTALL)
    version = _VERSIONS[own_name].search(output)
    if version is None:
        todo = f"its output: {output[:200]!r}; {INSTALL}"
        raise UserError(f"{program} does not print its version", todo=todo)
    path = Path(shutil.which(program) or "")
    return Prover(own_name, command, version[1], digest_of_file(path), _libraries(path))


_LIBRARY = re.compile(r"=> (/\S+)")


def _libraries(program: Path) -> str:
    """A digest of the shared libraries that the system's loader finds for a program."""
    # Most of cvc5 is in libcvc5: another library is another prover, under the same program.
    listing = run_limited(("ldd", str(program)), 20).text
    libraries = sorted(_LIBRARY.findall(listing))
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
    # With the thread in its name nobody else writes the file: one task may be asked with two limits.
    thread = threading.get_ident()
    file = folder / f"{digest}.{prover.name.lower()}.{thread}.smt2"
    file.write_text(f'(echo "task {digest}")\n{task}\n(echo "end {digest}")\n', encoding="utf-8")
    command = [*prover.within(limits), str(file)]
    seconds = limits.seconds + GRACE  # first the prover itself has the chance to say "timeout"
    done = run_limited(command, seconds, running, environment=LARGE_PAGES, together=True)
    verdict = read_verdict(done.text, digest, done.status, killed=done.killed)
    last_words = _last(done.text, done.status)
    return reply(prover, digest, verdict, last_words, done.cpu, limits.resources)


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


def read_verdict(
    output: str,
    digest: str,
    status: int,
    *,
    killed: bool,
) -> ProverVerdict:
    """The verdict in what a prover printed; anything unexpected is ``failed``."""
    lines = [line.strip().strip('"') for line in output.splitlines() if line.strip()]
    # A prover can run out of time when it has answered: then its answer does not count either.
    # It says so in the place of the answer, or in its last line.
    says_timeout = "timeout" in lines[1:2] or "timeout" in lines[2:][-1:]
    was_interrupted = any("interrupted by timeout" in line for line in lines)
    if killed or says_timeout or was_interrupted:
        return "timeout"
    # An error, a warning or a second answer makes it more than three lines.
    if status != 0 or len(lines) != 3:
        return "failed"
    begin, verdict, end = lines
    if begin != f"task {digest}" or end != f"end {digest}":
        return "failed"  # it is not known what the answer is to
    return _VERDICTS.get(verdict, "failed")


def _last(output: str, status: int) -> str:
    """What a prover printed last, without the names of the task."""
    kept = []
    for line in output.splitlines():
        # cvc5 puts what it echoes in quotes, Z3 does not.
        is_name = line.strip().strip('"').startswith(("task ", "end "))
        if not is_name:
            kept.append(line)
    # The end: a prover says last why it stopped.
    text = "\n".join(kept).strip()[-_WORDS:] or "(no output)"
    return text if status == 0 else f"{text} [exit status {status}]"
