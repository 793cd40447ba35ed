"""`sonnx-clip prove --road coq`: from the Coq files to a record of what Coq's kernel has checked."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import sonnx_clip
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.prove.coq_record import RECORD, CoqRecord, CoqTheorem
from sonnx_clip.prove.coq_sources import (
    CoqSource,
    TheoremInFile,
    coq_sources,
    digests,
    shown_wrongly,
    uncovered,
)
from sonnx_clip.prove.run_coq import (
    GOLDEN,
    Compiled,
    assumptions,
    check_again,
    compile_all,
    coq_version,
    golden_lines,
    lay_out,
    read_golden,
    surprises,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.run_program import Running
from sonnx_clip.spec import Spec, load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What a run has found. Without problems, every theorem is checked.

    Args:
        coq: the version of Coq.
        sources: the files.
        theorems: their theorems, with the axioms on which each rests.
        problems: what speaks against it, one line each.
        seconds: how long each step took.
    """

    coq: str
    sources: tuple[CoqSource, ...]
    theorems: Mapping[TheoremInFile, tuple[str, ...]]
    problems: tuple[str, ...]
    seconds: Mapping[str, float]


def check_coq(*, as_json: bool, build: Path, accept: bool = False, root: Path | None = None) -> int:
    """Check the Coq files, write the record, and print what was found; returns the exit status.

    Args:
        as_json: print the record instead of the text.
        build: where the compiled files and foundation.json go.
        accept: write what the theorems rest on into coq/assumptions.txt instead of comparing it.
        root: the checkout whose files are checked; this one, if None.

    Raises:
        UserError: Coq is missing, or generated/coq is not fresh.
    """
    spec, root = load_spec(), root or repo_root()
    for path, text in render_coq(spec).items():
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text:
            raise UserError(f"generated/ is not fresh: {path}", todo="run: sonnx-clip generate")
    result = check(spec, root, build / "foundation", accept=accept)
    text = record_of(spec, result).model_dump_json(indent=1)
    write_whole(build / RECORD, text + "\n")
    if as_json:
        print(text)
    else:
        for problem in result.problems:
            print(f"problem: {problem}")
        print(closing_line(result))
    return 1 if result.problems else 0


def check(spec: Spec, root: Path, folder: Path, *, accept: bool = False) -> Result:
    """Compile the files of a checkout in `folder` and check what they hold."""
    started = time.monotonic()
    version, running = coq_version(), Running()
    sources = coq_sources(root)
    theorems = tuple(t for source in sources for t in source.theorems())
    problems = [line for source in sources for line in source.forbidden()]
    problems += [*shown_wrongly(spec, theorems), *uncovered(spec, theorems)]
    lay_out(sources, folder)
    compiled = compile_all(sources, folder, running)
    seconds = {c.source.path: round(c.seconds, 2) for c in compiled}
    found: dict[str, tuple[str, ...]] = {}
    if failed := [c.problem for c in compiled if c.problem]:
        problems += failed
    else:
        before = time.monotonic()
        seconds["compiling"] = round(before - started, 2)
        slowest_first = [c.source.module for c in sorted(compiled, key=lambda c: -c.seconds)]
        with ThreadPoolExecutor(1) as pool:
            checking_again = pool.submit(check_again, slowest_first, folder, running)
            try:
                found = assumptions(theorems, folder, running, read_golden(root))
            except BaseException:
                running.stop()
                raise
            if disagreement := checking_again.result():
                problems.append(disagreement)
        seconds["coqchk, beside Print Assumptions"] = round(time.monotonic() - before, 2)
        if accept:
            write_whole(root / GOLDEN, "\n".join(golden_lines(found)) + "\n")
        problems += surprises(root, found)
    seconds["wall clock"] = round(time.monotonic() - started, 2)
    accepted = _accepted(theorems, compiled, found)
    return Result(version, sources, accepted, tuple(problems), seconds)


def _accepted(
    theorems: Sequence[TheoremInFile], compiled: Sequence[Compiled], found: Mapping[str, tuple[str, ...]]
) -> dict[TheoremInFile, tuple[str, ...]]:
    """The theorems that Coq has accepted, all or none."""
    return {} if any(c.problem for c in compiled) else {t: found[t.id] for t in theorems}


def closing_line(result: Result) -> str:
    """The last line of the command: how many theorems, on what they rest, and whether coqchk agrees."""
    if not result.theorems:
        return f"not checked: {len(result.problems)} problems; Coq {result.coq}"
    closed = sum(not axioms for axioms in result.theorems.values())
    of_reals = len(result.theorems) - closed
    agrees = "coqchk agrees" if not result.problems else f"{len(result.problems)} problems"
    with_what = f"{result.coq}, {result.seconds['wall clock']} s"
    return (
        f"{len(result.theorems)} theorems checked by Coq's kernel ({with_what}); "
        f"{closed} closed under the global context, {of_reals} on the axioms of the reals; {agrees}"
    )


def record_of(spec: Spec, result: Result) -> CoqRecord:
    """The record as build/foundation.json holds it."""
    return CoqRecord(
        tool=f"sonnx-clip {sonnx_clip.__version__}",
        spec_sha256=spec.digest,
        coq=result.coq,
        sources=digests(result.sources),
        theorems=tuple(
            CoqTheorem(**asdict(theorem), id=theorem.id, assumptions=axioms)
            for theorem, axioms in result.theorems.items()
        ),
        problems=result.problems,
        seconds=dict(result.seconds),
    )
