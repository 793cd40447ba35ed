"""The independent proof by Coq: every file is compiled afresh, the axioms behind each file's theorems are
compared with coq/assumptions.txt, a list that a person keeps, and coqchk checks the compiled files again.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from threading import Semaphore
from typing import TYPE_CHECKING, Final, NamedTuple

from sonnx_clip import __version__
from sonnx_clip.backends.generate import ids_of
from sonnx_clip.prove.statements import lines_of_list
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.run_program import LARGE_PAGES, Running, run_limited, version_of
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.root.run_program import Ended
    from sonnx_clip.spec import Spec

RECORD: Final = "foundation.json"
GOLDEN: Final = "coq/assumptions.txt"
FOLDERS: Final = {"coq": "SonnxClip", "generated/coq": "SonnxClip.Generated"}
INSTALL: Final = "install Coq and Flocq: apt-get install --no-install-recommends coq libcoq-flocq"
CLOSED: Final = "closed under the global context"
MEGABYTES: Final = 6000
SECONDS: Final = 600  # for one program; a busy machine takes ten times as long as a quiet one

_VERSION = re.compile(r"version (\S+)")
_PLACE = re.compile(r'^File "[^"]*", line (?P<line>\d+)', re.MULTILINE)
_ANSWER = re.compile(r"^question \d+$", re.MULTILINE)
# ``name : type``, or ``name is assumed to be guarded``.
_AXIOM = re.compile(r"^(?P<name>[\w.']+)(?=\s*(?::|$)| is assumed )", re.MULTILINE)
_REQUIRE = re.compile(
    r"From\s+(SonnxClip(?:\.Generated)?)\s+Require\s+(?:Import\s|Export\s)?([\w'\s]+)\."
)
_THEOREM = re.compile(
    r"(?:\(\*\*(?P<comment>(?:(?!\*\)).)*)\*\)\s*)?^Theorem\s+(?P<name>[\w']+)",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"^\s*(?:Theorem|Lemma|Definition|Record)\s+[\w']+", re.MULTILINE)
_SHOWS = re.compile(r"shows:\s*(?P<ids>[\w-]+(?:,\s*[\w-]+)*)")


class CoqTheorem(Stored):
    """A theorem, ``id`` with its file's module, and the ids of spec/clip.yaml that it shows."""

    id: str
    module: str
    file: str
    line: int
    shows: tuple[str, ...]


class CoqRecord(Stored):
    """build/foundation.json: a run.

    `sources` holds the SHA-256 of each file, `axioms` those on which the theorems of each module rest.
    Without `problems`, every theorem is checked. `seconds` is the time of each file, and of all.
    """

    tool: str
    spec_sha256: str
    coq: str
    sources: dict[str, str]
    theorems: tuple[CoqTheorem, ...]
    axioms: dict[str, tuple[str, ...]]
    problems: tuple[str, ...]
    seconds: dict[str, float]


# --- Files and theorems -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CoqSource:
    """A Coq file, by its path in the repository and its name in Coq."""

    path: str
    module: str
    text: str

    def needs(self) -> frozenset[str]:
        """The modules of the project that it requires, by ``From SonnxClip Require Import A B``."""
        modules: set[str] = set()
        for folder, names in _REQUIRE.findall(self.text):
            modules.update(f"{folder}.{name}" for name in names.split())
        return frozenset(modules)

    def theorems(self) -> Iterator[CoqTheorem]:
        """Its theorems in order; a lemma is only a step."""
        module = self.module.removeprefix("SonnxClip.")
        for match in _THEOREM.finditer(self.text):
            name = match["name"]
            # The comment right above a theorem lists what it shows.
            shows = _SHOWS.search(match["comment"] or "")
            ids = shows["ids"].replace(",", " ").split() if shows else []
            line = self.text.count("\n", 0, match.start("name")) + 1
            yield CoqTheorem(
                id=f"{module}.{name}",
                module=module,
                file=self.path,
                line=line,
                shows=tuple(ids),
            )

    def statement_at(self, line: int) -> str:
        """The theorem, lemma or definition in which a line lies, as it is written."""
        lines_above = self.text.splitlines()[:line]
        heads = _NAMED.findall("\n".join(lines_above))
        if not heads:  # an import, say
            return "the file"
        return " ".join(heads[-1].split())


def coq_sources(root: Path) -> tuple[CoqSource, ...]:
    """All Coq files of a checkout, sorted by path; UserError if there are none."""
    sources = []
    for folder, prefix in FOLDERS.items():
        files = sorted((root / folder).glob("*.v"))
        if not files:
            todo = "restore it, or run: sonnx-clip generate"
            raise UserError("the folder has no Coq file", folder, todo)
        for path in files:
            module = f"{prefix}.{path.stem}"
            text = path.read_text(encoding="utf-8")
            sources.append(CoqSource(f"{folder}/{path.name}", module, text))
    return tuple(sources)


def coq_digests(sources: Sequence[CoqSource]) -> dict[str, str]:
    """The SHA-256 of each file, by its path."""
    return {source.path: digest_of(source.text) for source in sources}


# --- A run --------------------------------------------------------------------------------------------------


def check_coq(spec: Spec, root: Path, folder: Path) -> CoqRecord:
    """Compile the Coq files of a checkout in an empty folder, and check what their theorems rest on.

    Args:
        spec: has the entries that theorems may show.
        root: the checkout.
        folder: where the files are compiled; what is in it is removed.

    Raises:
        UserError: Coq is missing, files need each other in a circle, or Coq gives an unknown answer.
    """
    started = time.monotonic()
    version = _version()
    sources = coq_sources(root)
    theorems = tuple(chain.from_iterable(source.theorems() for source in sources))
    problems = list(_unknown_entries(theorems, spec))
    axioms: dict[str, tuple[str, ...]] = {}
    shutil.rmtree(folder, ignore_errors=True)  # no compiled file of an earlier run may be left
    lay_out(sources, folder)
    with Running() as running, ThreadPoolExecutor(2) as pool:
        seconds, refused = compile_all(sources, folder, running)
        if refused:
            problems += refused
            theorems = ()  # the record names only theorems that are checked
        else:
            # Every other module, so that the two processes take about as long.
            slowest_first = sorted(seconds, key=lambda module: -seconds[module])
            halves = filter(None, (slowest_first[::2], slowest_first[1::2]))
            checks = [pool.submit(check_again, half, folder, running) for half in halves]
            # Meanwhile, in this thread, Coq prints the axioms.
            axioms = axioms_of(theorems, folder, running)
            problems += unlisted_axioms(root, axioms)
            complaints = [check.result() for check in checks]
            problems += filter(None, complaints)
    return CoqRecord(
        tool=f"sonnx-clip {__version__}",
        spec_sha256=spec.digest,
        coq=version,
        sources=coq_digests(sources),
        theorems=theorems,
        axioms=axioms,
        problems=tuple(problems),
        seconds={**seconds, "wall clock": round(time.monotonic() - started, 2)},
    )


def _unknown_entries(theorems: Sequence[CoqTheorem], spec: Spec) -> Iterator[str]:
    """A line for each entry that a theorem shows and the specification does not have."""
    known = ids_of(spec)
    for theorem in theorems:
        for id_ in theorem.shows:
            if id_ not in known:
                place = f"{theorem.file}:{theorem.line}"
                claim = f"Theorem {theorem.id} shows {id_}"
                yield f"{place}: {claim}, which is not in spec/clip.yaml"


def _version() -> str:
    """The version of Coq; UserError if a tool is missing."""
    for tool in ("coqc", "coqchk"):
        if shutil.which(tool) is None:
            raise UserError(f"{tool} is not installed", todo=INSTALL)
    version = _VERSION.search(version_of(("coqc", "--version"), INSTALL))
    if version is None:
        raise UserError("coqc does not print its version", todo=INSTALL)
    return version[1]


def lay_out(sources: Sequence[CoqSource], folder: Path) -> None:
    """Write the files into a folder."""
    for source in sources:
        file = folder / source.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source.text, encoding="utf-8")


def compile_all(
    sources: Sequence[CoqSource],
    folder: Path,
    running: Running,
) -> tuple[dict[str, float], list[str]]:
    """Compile every file after those that it needs, as many at once as there are cores.

    Returns:
        The seconds of each module, and a line for each file that Coq did not accept or that needs one such.
    """
    by_module = {source.module: source for source in sources}
    needs: dict[str, list[str]] = {}
    for source in sources:
        needs[source.module] = sorted(source.needs() & by_module.keys())
    compiling: dict[str, Future[_Compiled]] = {}
    cores = Semaphore(os.cpu_count() or 1)

    def compiled(source: CoqSource) -> _Compiled:
        # Submitted in the order of needs, so that what a file needs is in `compiling` already.
        for needed in needs[source.module]:
            if compiling[needed].result().problem:
                return _Compiled(0.0, f"{source.path}: not checked: it needs {needed}")
        with cores:
            return _compile(source, folder, running)

    # A thread for each file: most wait for files that they need, and the semaphore counts those that run.
    with ThreadPoolExecutor(len(sources)) as pool:
        try:
            for module in TopologicalSorter(needs).static_order():
                compiling[module] = pool.submit(compiled, by_module[module])
            results = {module: compiling[module].result() for module in by_module}
        except CycleError as error:
            _, modules = error.args
            raise UserError(f"cycle of Coq files: {', '.join(modules)}") from None
        except BaseException:
            # Ctrl-C too: else the pool would wait for each file to end.
            running.stop()
            raise
    seconds = {module: result.seconds for module, result in results.items()}
    problems = [result.problem for result in results.values() if result.problem]
    return seconds, problems


class _Compiled(NamedTuple):
    """The time that a file took, and Coq's complaint; empty if it has none."""

    seconds: float
    problem: str


def _compile(source: CoqSource, folder: Path, running: Running) -> _Compiled:
    """Compile a file; without a compiled file it is no proof."""
    started = time.monotonic()
    file = folder / source.path
    done = _run(["coqc", "-q", *_load_path(folder), str(file)], running)
    seconds = round(time.monotonic() - started, 2)
    if done.status == 0 and file.with_suffix(".vo").is_file():
        return _Compiled(seconds, "")

    line = 1
    message = done.text
    place = _PLACE.search(done.text)
    if place:
        line = int(place["line"])
        after_line = done.text[place.end() :]
        _, _, message = after_line.partition("\n")  # without the columns
    reason = " ".join(message.split())[:400] or f"coqc ended with status {done.status}"
    if done.killed:
        reason = f"no answer within {SECONDS} s"
    statement = source.statement_at(line)
    problem = f"{source.path}:{line}: {statement} is not accepted by Coq: {reason}"
    return _Compiled(seconds, problem)


def axioms_of(
    theorems: Sequence[CoqTheorem],
    folder: Path,
    running: Running,
) -> dict[str, tuple[str, ...]]:
    """The axioms on which the theorems of each module rest together: Coq's `Print Assumptions`.

    Raises:
        UserError: Coq gives no answer, or one that is not known here.
    """
    ids_of_module: dict[str, list[str]] = defaultdict(list)
    for theorem in theorems:
        ids_of_module[theorem.module].append(theorem.id)

    # One question a module: a term that uses all its theorems.
    modules = [f"SonnxClip.{module}" for module in ids_of_module]
    lines = [f"Require {' '.join(modules)}."]
    for number, ids in enumerate(ids_of_module.values()):
        term = "".join(f"let _ := @SonnxClip.{id_} in " for id_ in ids) + "I"
        # The line by which the answer to this question is told from the one before.
        lines.append(f'Goal True. idtac "question {number}". exact I. Qed.')
        lines.append(f"Definition asked{number} := {term}. Print Assumptions asked{number}.")
    file = folder / "Ask.v"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    done = _run(["coqc", "-q", *_load_path(folder), str(file)], running)
    # What comes before the first question answers none.
    answers = _ANSWER.split(done.text)[1:] if done.status == 0 else []
    if len(answers) != len(ids_of_module):
        end_of_output = " ".join(done.text.split())[-400:]
        raise UserError(f"Coq does not print the assumptions of the theorems: {end_of_output}")
    return dict(zip(ids_of_module, map(_axioms, answers), strict=True))


def _axioms(answer: str) -> tuple[str, ...]:
    """The names in an answer of Coq, in order; UserError where it is none of the known ones."""
    text = answer.strip()
    if text == "Closed under the global context":
        return ()
    head, _, axioms = text.partition("\n")
    names = {match["name"] for match in _AXIOM.finditer(axioms)}
    # An answer in other words could hide an axiom: it is not read as "none".
    if head != "Axioms:" or not names:
        raise UserError(f"Coq printed an unknown answer: {text[:200]}")
    return tuple(sorted(names))


def unlisted_axioms(
    root: Path,
    axioms_of_module: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """Where the axioms of a module differ from the list that a person keeps."""
    listed = _listed_axioms(root / GOLDEN)
    now: dict[str, str] = {}
    for module, axioms in axioms_of_module.items():
        now[module] = ", ".join(axioms) or CLOSED
    # A module that is listed and has no theorems differs too: its theorems were lost.
    for module in sorted(now.keys() | listed.keys()):
        if now.get(module) == listed.get(module):
            continue
        actual = now.get(module, "nothing (no theorems)")
        expected = listed.get(module, "no entry")
        yield (
            f"{GOLDEN}: the theorems of {module} rest on: {actual};"
            f" the list says: {expected}; edit the list if that is intended"
        )


def _listed_axioms(file: Path) -> dict[str, str]:
    """The list that a person keeps: axioms by module; empty where there is none."""
    listed: dict[str, str] = {}
    for line in lines_of_list(file):
        module, axioms = line.split(": ", 1)
        listed[module] = axioms
    return listed


def check_again(modules: Sequence[str], folder: Path, running: Running) -> str:
    """Have coqchk check compiled files; returns its complaint.

    It takes the compiled libraries of Coq and Flocq as they are, and computes without the virtual machine of
    coqc.
    """
    command = ["coqchk", "-silent", "-o", *_load_path(folder)]
    for module in modules:
        command += ["-norec", module]  # the module without what it requires
    done = _run(command, running)
    if done.killed:
        return f"coqchk rejects the compiled files: no answer within {SECONDS} s"
    if done.status != 0:
        end_of_output = " ".join(done.text.split())[-400:]
        return f"coqchk rejects the compiled files: {end_of_output}"
    return summary_problem(done.text)


def summary_problem(output: str) -> str:
    """Problems in coqchk's summary: an axiom of ours, or a check switched off."""
    axioms = re.search(r"^\* Axioms:(?P<list>.*?)^\*", output, re.MULTILINE | re.DOTALL)
    if axioms is None:
        end_of_output = " ".join(output.split())[-200:]
        return f"coqchk prints no summary: {end_of_output}"
    # Axioms of Coq's libraries are compared with the list by `unlisted_axioms`.
    ours = re.search(r"^\s*(SonnxClip\S*)", axioms["list"], re.MULTILINE)
    if ours:
        return f"coqchk finds an axiom of ours: {ours[1]}"
    for escape in ("type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        if not re.search(re.escape(escape) + r":\s*<none>", output):
            return f"coqchk finds a use of {escape}"
    return ""


def _load_path(folder: Path) -> list[str]:
    """Coq's options for the folders of the project, each under its name in Coq."""
    options: list[str] = []
    for place, name in FOLDERS.items():
        options += ["-Q", str(folder / place), name]
    return options


def _run(command: list[str], running: Running) -> Ended:
    return run_limited(
        command,
        SECONDS,
        running,
        megabytes=MEGABYTES,
        environment=LARGE_PAGES,
        together=True,
    )
