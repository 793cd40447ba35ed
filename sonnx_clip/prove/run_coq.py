"""Runs Coq: each file under a memory and time limit, then what the theorems rest on, compared with a list
that a person keeps, then coqchk.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from sonnx_clip.prove.coq_sources import FOLDERS, CoqSource, TheoremInFile
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import LARGE_PAGES, run_limited, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.root.run_program import Running


INSTALL = "install Coq and Flocq: apt-get install --no-install-recommends coq libcoq-flocq"
MEGABYTES = 6000
SECONDS = 120  # for one file; the longest takes a tenth of it
CLOSED = "closed under the global context"
_VERSION = re.compile(r"version (\S+)")
_PLACE = re.compile(r'^File "[^"]*", line (?P<line>\d+)', re.MULTILINE)
_SAID = re.compile(r"^question \d+$", re.MULTILINE)
_AXIOM = re.compile(r"^(?P<name>[\w.']+)(?=\s*(?::|$))", re.MULTILINE)


@dataclass(frozen=True)
class Compiled:
    """What became of a file: `problem` is empty when Coq accepted it."""

    source: CoqSource
    seconds: float
    problem: str


def coq_version() -> str:
    """The version of coqc; UserError if Coq, coqchk or Flocq is missing."""
    for tool in ("coqc", "coqchk"):
        if shutil.which(tool) is None:
            raise UserError(f"{tool} is not installed", todo=INSTALL)
    found = _VERSION.search(version_of(("coqc", "--version"), INSTALL))
    if found is None:
        raise UserError("coqc does not say its version", todo=INSTALL)
    return found[1]


def lay_out(sources: Iterable[CoqSource], folder: Path) -> None:
    """Copy the sources into an empty folder, so that nothing compiled before is taken."""
    shutil.rmtree(folder, ignore_errors=True)
    for source in sources:
        file = folder / source.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source.text, encoding="utf-8")


def compile_all(sources: Sequence[CoqSource], folder: Path, running: Running) -> list[Compiled]:
    """Compile every file after those that it needs, as many at once as there are cores.

    A file that needs one that failed is not tried, and says so.
    """
    done: dict[str, Compiled] = {}
    left = {source.module: source for source in sources}
    at_work: dict[Future[Compiled], str] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            while left or at_work:
                unfinished = {*left, *at_work.values()}
                ready = [m for m, s in left.items() if not s.needs() & (unfinished - {m})]
                if not ready and not at_work:
                    _refuse_circle(left)
                for module in ready:
                    source = left.pop(module)
                    failed = sorted(need for need in source.needs() if need in done and done[need].problem)
                    if failed:
                        done[module] = Compiled(source, 0, f"{source.path}: not tried, it needs {failed[0]}")
                    else:
                        at_work[pool.submit(_compile, source, folder, running)] = module
                for future in wait(at_work, return_when=FIRST_COMPLETED).done if at_work else ():
                    done[at_work.pop(future)] = future.result()
        except BaseException:
            running.stop()
            raise
    return [done[source.module] for source in sources]


def _refuse_circle(left: Iterable[str]) -> NoReturn:
    raise UserError(f"Coq files need each other in a circle: {', '.join(left)}")


def _compile(source: CoqSource, folder: Path, running: Running) -> Compiled:
    started = time.monotonic()
    status, output, killed = _run(["coqc", "-q", *load_path(folder), str(folder / source.path)], running)
    seconds = time.monotonic() - started
    made = (folder / source.path).with_suffix(".vo").is_file()
    if status == 0 and made:
        return Compiled(source, seconds, "")
    return Compiled(source, seconds, _problem(source, status, output, killed=killed))


def _problem(source: CoqSource, status: int, output: str, *, killed: bool) -> str:
    place = _PLACE.search(output)
    line = int(place["line"]) if place else 1
    within = source.theorem_at(line) or "the file"
    words = " ".join(output[place.end() :].partition("\n")[2].split() if place else output.split())
    reason = f"no answer within {SECONDS} s" if killed else words[:400] or f"coqc ended with status {status}"
    return f"{source.path}:{line}: {within} is not accepted by Coq: {reason}"


def assumptions(
    theorems: Sequence[TheoremInFile],
    folder: Path,
    running: Running,
    told: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, tuple[str, ...]]:
    """The axioms on which each theorem rests, by its id: what Coq's `Print Assumptions` says.

    Each question costs a walk through the libraries, so theorems that are said to rest on the same axioms are
    asked about together: first all, where the answer is another those of a module, and in the end each by
    itself. So none rests on more than is returned for it.

    Args:
        theorems: the theorems of compiled files.
        folder: where the compiled files lie.
        running: what stops the programs.
        told: on what they are said to rest; on nothing where it is silent.

    Raises:
        UserError: Coq does not answer for each theorem.
    """
    said = {t.id: (told or {}).get(t.id, ()) for t in theorems}
    found: dict[str, tuple[str, ...]] = {}
    for step in ("all", "module", "theorem"):
        groups: dict[str, list[TheoremInFile]] = {}
        for t in theorems:
            if t.id not in found:
                own = {"all": "", "module": t.module, "theorem": t.id}[step]
                groups.setdefault(" ".join((own, *said[t.id])), []).append(t)
        for group, axioms in _ask_all([*groups.values()], folder, running):
            if step == "theorem" or set(axioms) == set(said[group[0].id]):
                found |= {t.id: axioms for t in group}
    return {t.id: found[t.id] for t in theorems}


def _ask_all(
    groups: Sequence[Sequence[TheoremInFile]], folder: Path, running: Running
) -> Iterator[tuple[Sequence[TheoremInFile], tuple[str, ...]]]:
    """On what the theorems of each group rest together; two processes share the questions."""
    halves = [half for half in (groups[::2], groups[1::2]) if half]
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(_ask, half, folder / f"Ask{n}.v", running) for n, half in enumerate(halves)]
        for half, answers in zip(halves, asked, strict=True):
            yield from zip(half, answers.result(), strict=True)


def _ask(groups: Sequence[Sequence[TheoremInFile]], file: Path, running: Running) -> list[tuple[str, ...]]:
    lines = [f"Require {' '.join(sorted({t.module for group in groups for t in group}))}."]
    for number, group in enumerate(groups):
        theorems = "".join(f"let _ := @{t.module}.{t.name} in " for t in group)
        lines.append(f'Goal True. idtac "question {number}". exact I. Qed.')
        lines.append(f"Definition asked{number} := {theorems}I. Print Assumptions asked{number}.")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    status, output, _ = _run(["coqc", "-q", *load_path(file.parent), str(file)], running)
    if status != 0:
        raise UserError(f"Coq does not say what the theorems rest on: {' '.join(output.split())[-400:]}")
    found = [_axioms(said) for said in _SAID.split(output)[1:]]
    if len(found) != len(groups):
        raise UserError(f"Coq does not say what {groups[len(found)][0].id} rests on")
    return found


def _axioms(said: str) -> tuple[str, ...]:
    text = said.strip()
    if text == "Closed under the global context":
        return ()
    head, _, listed = text.partition("\n")
    names = tuple(sorted({m["name"] for m in _AXIOM.finditer(listed)}))
    if head != "Axioms:" or not names:
        raise UserError(f"Coq printed an answer that is not known here: {text[:200]}")
    return names


def check_again(modules: Sequence[str], folder: Path, running: Running) -> str:
    """Have coqchk check the compiled files; returns what it finds, empty when it agrees.

    It takes the compiled libraries of Coq and Flocq as they are, and checks every file of the project. Two
    run at once, each with half of the files, and they compute without the virtual machine of coqc.
    """
    with ThreadPoolExecutor(2) as pool:
        halves = [half for half in (modules[::2], modules[1::2]) if half]
        return next(filter(None, pool.map(lambda half: _check_half(half, folder, running), halves)), "")


def _check_half(modules: Sequence[str], folder: Path, running: Running) -> str:
    wanted = [part for module in modules for part in ("-norec", module)]
    status, output, killed = _run(["coqchk", "-silent", "-o", *load_path(folder), *wanted], running)
    if status != 0 or killed:
        return f"coqchk does not accept the compiled files: {' '.join(output.split())[-400:]}"
    return context_problem(output)


def context_problem(output: str) -> str:
    """What in coqchk's summary speaks against the files: an axiom of ours, or a check switched off."""
    axioms = re.search(r"^\* Axioms:(?P<list>.*?)^\*", output, re.MULTILINE | re.DOTALL)
    if axioms is None:
        return f"coqchk gives no summary: {' '.join(output.split())[-200:]}"
    if ours := re.search(r"^\s*(SonnxClip\S*)", axioms["list"], re.MULTILINE):
        return f"coqchk finds an axiom of ours: {ours[1]}"
    for what in ("type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        if not re.search(re.escape(what) + r":\s*<none>", output):
            return f"coqchk finds what relies on {what}"
    return ""


def load_path(folder: Path) -> list[str]:
    """The options that tell Coq where the files lie."""
    return [part for place, name in FOLDERS.items() for part in ("-Q", str(folder / place), name)]


def _run(command: list[str], running: Running) -> tuple[int, str, bool]:
    done = run_limited(command, SECONDS, running, megabytes=MEGABYTES, environment=LARGE_PAGES, together=True)
    return done.status, done.text, done.killed


def golden(text: str) -> dict[str, tuple[str, ...]]:
    """What coq/assumptions.txt says of each theorem: the axioms on which it rests."""
    told = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {id_: () if rests == CLOSED else tuple(rests.split(", ")) for id_, rests in told.items()}


def golden_lines(found: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A line for each theorem: what coq/assumptions.txt has to hold."""
    return [f"{id_}: {words(axioms)}" for id_, axioms in found.items()]


def words(axioms: Sequence[str]) -> str:
    """What a theorem rests on, in the words of coq/assumptions.txt."""
    return ", ".join(axioms) or CLOSED


# --- On what the theorems rest, compared with coq/assumptions.txt, a list that a person keeps ---------------


GOLDEN = "coq/assumptions.txt"


def read_golden(root: Path) -> dict[str, tuple[str, ...]]:
    """On what the theorems rest by the list that a person keeps; empty where there is none."""
    file = root / GOLDEN
    return golden(file.read_text(encoding="utf-8")) if file.is_file() else {}


def surprises(root: Path, found: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Where what the theorems rest on differs from the list that a person keeps."""
    told = read_golden(root)
    for id_, axioms in found.items():
        rests = words(axioms)
        if id_ not in told:
            yield f"{GOLDEN}: it does not speak of {id_} ({rests}); if that is as it should be, add the line"
        elif set(told[id_]) != set(axioms):
            yield f"{GOLDEN}: {id_} rests on: {rests}; the list says: {words(told[id_])}"
    for id_ in told:
        if id_ not in found:
            yield f"{GOLDEN}: there is no theorem {id_}; if that is as it should be, remove the line"
