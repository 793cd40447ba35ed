"""Runs Coq: each file under a memory and time limit, then what the theorems rest on, then coqchk."""

from __future__ import annotations

import os
import re
import shutil
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from sonnx_clip.errors import UserError
from sonnx_clip.foundation.sources import FOLDERS, Source, Theorem
from sonnx_clip.prove.provers import Running, run_limited, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

INSTALL = "install Coq and Flocq: apt-get install --no-install-recommends coq libcoq-flocq"
MEGABYTES = 6000
SECONDS = 120  # for one file; the longest takes a tenth of it
CLOSED = "closed under the global context"
_VERSION = re.compile(r"version (\S+)")
_PLACE = re.compile(r'^File "[^"]*", line (?P<line>\d+)', re.MULTILINE)
_SAID = re.compile(r"^theorem (?P<id>\S+)$", re.MULTILINE)
_AXIOM = re.compile(r"^(?P<name>[\w.']+)(?=\s*(?::|$))", re.MULTILINE)


@dataclass(frozen=True)
class Compiled:
    """What became of a file: `problem` is empty when Coq accepted it."""

    source: Source
    seconds: float
    problem: str


def coq_version() -> str:
    """The version of coqc; UserError if Coq, coqchk or Flocq is missing."""
    for tool in ("coqc", "coqchk"):
        if shutil.which(tool) is None:
            raise UserError(f"{tool} is not installed", todo=INSTALL)
    found = _VERSION.search(version_of(("coqc", "--version")))
    if found is None:
        raise UserError("coqc does not say its version", todo=INSTALL)
    return found[1]


def lay_out(sources: Iterable[Source], folder: Path) -> None:
    """Copy the sources into an empty folder, so that nothing compiled before is taken."""
    shutil.rmtree(folder, ignore_errors=True)
    for source in sources:
        file = folder / source.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source.text, encoding="utf-8")


def compile_all(sources: Sequence[Source], folder: Path, running: Running) -> list[Compiled]:
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


def _compile(source: Source, folder: Path, running: Running) -> Compiled:
    started = time.monotonic()
    status, output, killed = _run(["coqc", "-q", *load_path(folder), str(folder / source.path)], running)
    seconds = time.monotonic() - started
    made = (folder / source.path).with_suffix(".vo").is_file()
    if status == 0 and made:
        return Compiled(source, seconds, "")
    return Compiled(source, seconds, _problem(source, status, output, killed=killed))


def _problem(source: Source, status: int, output: str, *, killed: bool) -> str:
    place = _PLACE.search(output)
    line = int(place["line"]) if place else 1
    within = source.theorem_at(line) or "the file"
    words = " ".join(output[place.end() :].partition("\n")[2].split() if place else output.split())
    reason = f"no answer within {SECONDS} s" if killed else words[:400] or f"coqc ended with status {status}"
    return f"{source.path}:{line}: {within} is not accepted by Coq: {reason}"


def assumptions(theorems: Sequence[Theorem], folder: Path, running: Running) -> dict[str, tuple[str, ...]]:
    """The axioms on which each theorem rests, by its id: what Coq's `Print Assumptions` says.

    The theorems of a module are asked about together first: each question costs a walk through the libraries.
    Where they are not closed, each is asked about by itself.

    Raises:
        UserError: Coq does not answer for each theorem.
    """
    modules: dict[str, list[Theorem]] = {}
    for theorem in theorems:
        modules.setdefault(theorem.module, []).append(theorem)
    together = {module: _tuple(module, of_module) for module, of_module in modules.items()}
    rests = _ask(together, sorted(modules), folder / "Together.v", running)
    found = {t.id: rests[t.module] for t in theorems}
    single = [t for t in theorems if rests[t.module]]
    with ThreadPoolExecutor(2) as pool:
        halves = [single[::2], single[1::2]]
        asked = [
            pool.submit(_ask, {t.id: f"Print Assumptions {t.module}.{t.name}." for t in half},
                        sorted({t.module for t in half}), folder / f"Single{number}.v", running)
            for number, half in enumerate(halves) if half
        ]  # fmt: skip
        for answer in asked:
            found |= answer.result()
    return found


def _tuple(module: str, theorems: Sequence[Theorem]) -> str:
    name = f"all_{module.replace('.', '_')}"
    pairs = "I"
    for theorem in theorems:
        pairs = f"(@{module}.{theorem.name}, {pairs})"
    return f"Definition {name} := {pairs}. Print Assumptions {name}."


def _ask(
    questions: Mapping[str, str], modules: Sequence[str], file: Path, running: Running
) -> dict[str, tuple[str, ...]]:
    lines = [f"Require {' '.join(modules)}."]
    lines += [f'Goal True. idtac "theorem {name}". exact I. Qed. {text}' for name, text in questions.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    status, output, _ = _run(["coqc", "-q", *load_path(file.parent), str(file)], running)
    if status != 0:
        raise UserError(f"Coq does not say what the theorems rest on: {' '.join(output.split())[-400:]}")
    parts = _SAID.split(output)[1:]
    found = {name: _axioms(said) for name, said in zip(parts[::2], parts[1::2], strict=True)}
    if missing := [name for name in questions if name not in found]:
        raise UserError(f"Coq does not say what {missing[0]} rests on")
    return found


def _axioms(said: str) -> tuple[str, ...]:
    text = said.strip()
    if text == "Closed under the global context":
        return ()
    head, _, listed = text.partition("\n")
    names = tuple(sorted({m["name"] for m in _AXIOM.finditer(listed)}))
    if head != "Axioms:" or not names:
        raise UserError(f"Coq answers in words that are not known here: {text[:200]}")
    return names


def check_again(modules: Sequence[str], folder: Path, running: Running) -> str:
    """Have coqchk check the compiled files; returns what it finds, empty when it agrees.

    It takes the compiled libraries of Coq and Flocq as they are, and checks every file of the project.
    """
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
    limited = ["sh", "-c", 'ulimit -v "$1"; shift; exec "$@"', "sh", str(MEGABYTES * 1000), *command]
    status, output, _, killed = run_limited(limited, SECONDS, running)
    return status, output, killed


def golden_lines(found: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A line for each theorem: what coq/assumptions.txt has to hold."""
    return [f"{id_}: {', '.join(axioms) or CLOSED}" for id_, axioms in found.items()]
