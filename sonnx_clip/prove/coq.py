"""The independent proof by Coq: every file is compiled afresh, the axioms behind each file's theorems are
compared with coq/assumptions.txt, a list that a person keeps, and coqchk checks the compiled files again.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from threading import Semaphore
from typing import TYPE_CHECKING, Final

from sonnx_clip import __version__
from sonnx_clip.backends.generate import ids_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.run_program import LARGE_PAGES, Running, run_limited, version_of
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

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
        required = _REQUIRE.findall(self.text)
        return frozenset(f"{folder}.{name}" for folder, names in required for name in names.split())

    def theorems(self) -> Iterator[CoqTheorem]:
        """Its theorems in order; a lemma is only a step."""
        module = self.module.removeprefix("SonnxClip.")
        for match in _THEOREM.finditer(self.text):
            shows = _SHOWS.search(match["comment"] or "")
            yield CoqTheorem(
                id=f"{module}.{match['name']}",
                module=module,
                file=self.path,
                line=self.text.count("\n", 0, match.start("name")) + 1,
                shows=tuple(shows["ids"].replace(",", " ").split()) if shows else (),
            )

    def statement_at(self, line: int) -> str:
        """The theorem, lemma or definition in which a line lies, as it is written."""
        above = _NAMED.findall("\n".join(self.text.splitlines()[:line]))
        return " ".join(above[-1].split()) if above else "the file"


def coq_sources(root: Path) -> tuple[CoqSource, ...]:
    """All Coq files of a checkout, sorted by path; UserError if there are none."""
    sources = []
    for folder, prefix in FOLDERS.items():
        files = sorted((root / folder).glob("*.v"))
        if not files:
            raise UserError(
                "the folder has no Coq file", folder, "restore it, or run: sonnx-clip generate"
            )
        for path in files:
            text = path.read_text(encoding="utf-8")
            sources.append(CoqSource(f"{folder}/{path.name}", f"{prefix}.{path.stem}", text))
    return tuple(sources)


def digests(sources: Sequence[CoqSource]) -> dict[str, str]:
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
    theorems = tuple(t for source in sources for t in source.theorems())
    known = ids_of(spec)
    problems: list[str] = []
    for t in theorems:
        unknown = [id_ for id_ in t.shows if id_ not in known]
        problems += [
            f"{t.file}:{t.line}: Theorem {t.id} shows {id_}, which is not in spec/clip.yaml"
            for id_ in unknown
        ]

    axioms: dict[str, tuple[str, ...]] = {}
    shutil.rmtree(folder, ignore_errors=True)
    lay_out(sources, folder)
    with Running() as running, ThreadPoolExecutor(3) as pool:
        seconds, refused = compile_all(sources, folder, running)
        if refused:
            problems += refused
            theorems = ()
        else:
            # Every other module, so that the two processes take about as long.
            slowest_first = sorted(seconds, key=lambda module: -seconds[module])
            halves = [slowest_first[::2], slowest_first[1::2]]
            checks = [pool.submit(check_again, half, folder, running) for half in halves if half]
            axioms = axioms_of(theorems, folder, running)
            problems += unlisted_axioms(root, axioms)
            problems += filter(None, [check.result() for check in checks])
    return CoqRecord(
        tool=f"sonnx-clip {__version__}",
        spec_sha256=spec.digest,
        coq=version,
        sources=digests(sources),
        theorems=theorems,
        axioms=axioms,
        problems=tuple(problems),
        seconds={**seconds, "wall clock": round(time.monotonic() - started, 2)},
    )


def _version() -> str:
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
    sources: Sequence[CoqSource], folder: Path, running: Running
) -> tuple[dict[str, float], list[str]]:
    """Compile every file after those that it needs, as many at once as there are cores.

    Returns:
        The seconds of each module, and a line for each file that Coq did not accept or that needs one such.
    """
    by_module = {source.module: source for source in sources}
    needs = {s.module: sorted(s.needs() & by_module.keys()) for s in sources}
    compiling: dict[str, Future[tuple[float, str]]] = {}
    cores = Semaphore(os.cpu_count() or 1)

    def compiled(source: CoqSource) -> tuple[float, str]:
        for needed in needs[source.module]:
            _, problem = compiling[needed].result()
            if problem:
                return 0.0, f"{source.path}: not checked: it needs {needed}"
        with cores:
            return _compile(source, folder, running)

    with ThreadPoolExecutor(len(sources)) as pool:
        try:
            for module in TopologicalSorter(needs).static_order():
                compiling[module] = pool.submit(compiled, by_module[module])
            results = {s.module: compiling[s.module].result() for s in sources}
        except CycleError as error:
            raise UserError(f"cycle of Coq files: {', '.join(error.args[1])}") from None
        except BaseException:
            running.stop()
            raise
    seconds = {module: took for module, (took, _) in results.items()}
    return seconds, [problem for _, problem in results.values() if problem]


def _compile(source: CoqSource, folder: Path, running: Running) -> tuple[float, str]:
    """The seconds that a file takes, and Coq's complaint. Without a compiled file it is no proof."""
    started = time.monotonic()
    file = folder / source.path
    status, output, killed = _run(["coqc", "-q", *_load_path(folder), str(file)], running)
    seconds = round(time.monotonic() - started, 2)
    if status == 0 and file.with_suffix(".vo").is_file():
        return seconds, ""

    line = 1
    message = output
    place = _PLACE.search(output)
    if place:
        line = int(place["line"])
        _, _, message = output[place.end() :].partition("\n")  # without the columns
    reason = " ".join(message.split())[:400] or f"coqc ended with status {status}"
    if killed:
        reason = f"no answer within {SECONDS} s"
    statement = source.statement_at(line)
    return seconds, f"{source.path}:{line}: {statement} is not accepted by Coq: {reason}"


def axioms_of(
    theorems: Sequence[CoqTheorem], folder: Path, running: Running
) -> dict[str, tuple[str, ...]]:
    """The axioms on which the theorems of each module rest together: Coq's `Print Assumptions`.

    Raises:
        UserError: Coq gives no answer, or one that is not known here.
    """
    by_module: dict[str, list[str]] = {}
    for t in theorems:
        by_module.setdefault(t.module, []).append(t.id)

    # One question a module: a term that uses all its theorems.
    modules = " ".join(f"SonnxClip.{module}" for module in by_module)
    lines = [f"Require {modules}."]
    for number, ids in enumerate(by_module.values()):
        used = "".join(f"let _ := @SonnxClip.{id_} in " for id_ in ids)
        lines.append(f'Goal True. idtac "question {number}". exact I. Qed.')
        lines.append(f"Definition asked{number} := {used}I. Print Assumptions asked{number}.")
    file = folder / "Ask.v"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    status, output, _ = _run(["coqc", "-q", *_load_path(folder), str(file)], running)
    answers = _ANSWER.split(output)[1:] if status == 0 else []
    if len(answers) != len(by_module):
        end_of_output = " ".join(output.split())[-400:]
        raise UserError(f"Coq does not print the assumptions of the theorems: {end_of_output}")
    return dict(zip(by_module, map(_axioms, answers), strict=True))


def _axioms(answer: str) -> tuple[str, ...]:
    text = answer.strip()
    if text == "Closed under the global context":
        return ()
    head, _, listed = text.partition("\n")
    names = tuple(sorted({m["name"] for m in _AXIOM.finditer(listed)}))
    if head != "Axioms:" or not names:
        raise UserError(f"Coq printed an unknown answer: {text[:200]}")
    return names


def unlisted_axioms(root: Path, axioms_of_module: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Where the axioms of a module differ from the list that a person keeps."""
    file = root / GOLDEN
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    entries = [line for line in lines if line.strip() and not line.startswith("#")]
    listed = dict(entry.split(": ", 1) for entry in entries)
    now = {module: ", ".join(axioms) or CLOSED for module, axioms in axioms_of_module.items()}
    for module in sorted(now.keys() | listed.keys()):
        if now.get(module) != listed.get(module):
            actual = now.get(module, "nothing (no theorems)")
            expected = listed.get(module, "no entry")
            yield (
                f"{GOLDEN}: the theorems of {module} rest on: {actual};"
                f" the list says: {expected}; edit the list if that is intended"
            )


def check_again(modules: Sequence[str], folder: Path, running: Running) -> str:
    """Have coqchk check compiled files; returns its complaint.

    It takes the compiled libraries of Coq and Flocq as they are, and computes without the virtual machine of
    coqc.
    """
    command = ["coqchk", "-silent", "-o", *_load_path(folder)]
    for module in modules:
        command += ["-norec", module]
    status, output, killed = _run(command, running)
    if killed:
        return f"coqchk rejects the compiled files: no answer within {SECONDS} s"
    if status != 0:
        end_of_output = " ".join(output.split())[-400:]
        return f"coqchk rejects the compiled files: {end_of_output}"
    return summary_problem(output)


def summary_problem(output: str) -> str:
    """Problems in coqchk's summary: an axiom of ours, or a check switched off."""
    axioms = re.search(r"^\* Axioms:(?P<list>.*?)^\*", output, re.MULTILINE | re.DOTALL)
    if axioms is None:
        return f"coqchk prints no summary: {' '.join(output.split())[-200:]}"
    ours = re.search(r"^\s*(SonnxClip\S*)", axioms["list"], re.MULTILINE)
    if ours:
        return f"coqchk finds an axiom of ours: {ours[1]}"
    for escape in ("type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        if not re.search(re.escape(escape) + r":\s*<none>", output):
            return f"coqchk finds a use of {escape}"
    return ""


def _load_path(folder: Path) -> list[str]:
    return [part for place, name in FOLDERS.items() for part in ("-Q", str(folder / place), name)]


def _run(command: list[str], running: Running) -> tuple[int, str, bool]:
    done = run_limited(
        command, SECONDS, running, megabytes=MEGABYTES, environment=LARGE_PAGES, together=True
    )
    return done.status, done.text, done.killed
