"""`sonnx-clip prove --road`: proofs by Coq and by Frama-C, each with a record in the build folder."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from sonnx_clip import __version__
from sonnx_clip.backends.acsl import FOLDER, render_acsl
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.cli.prove_command import require_fresh
from sonnx_clip.prove import coq, frama_c
from sonnx_clip.prove.frama_c import PROVERS
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import Spec, load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.language import ElementType

_SHOWN = 12  # open goals of an element type


def prove_by_coq(*, as_json: bool, build: Path, root: Path | None = None) -> int:
    """Check the Coq files of a checkout, write foundation.json, print the result; returns the exit status.

    UserError if Coq is missing, or generated/coq is not fresh.
    """
    spec = load_spec()
    root = root or repo_root()
    # Coq checks the files that are there: they have to be of this specification.
    require_fresh(render_coq(spec), root)
    record = coq.check_coq(spec, root, build / "foundation")
    text = record.model_dump_json(indent=1)
    write_whole(build / coq.RECORD, text + "\n")
    if as_json:
        print(text)
    else:
        print("\n".join(_lines_on_coq(record)))
    return 1 if record.problems else 0


def _lines_on_coq(record: coq.CoqRecord) -> Iterator[str]:
    """The problems, and how many theorems were checked, with and without axioms."""
    for problem in record.problems:
        yield f"problem: {problem}"
    # Without theorems, coqc has failed: there is nothing to count.
    if not record.theorems:
        yield f"not checked: {len(record.problems)} problems; Coq {record.coq}"
        return
    theorems = len(record.theorems)
    # Axioms are known for a whole module: its theorems count by what any of them uses.
    closed = sum(not record.axioms[theorem.module] for theorem in record.theorems)
    outcome = f"{len(record.problems)} problems" if record.problems else "coqchk agrees"
    yield (
        f"{theorems} theorems checked by Coq's kernel"
        f" ({record.coq}, {record.seconds['wall clock']} s); {closed} closed under the global context,"
        f" {theorems - closed} on the axioms of the reals; {outcome}"
    )


def prove_by_frama_c(
    *,
    types: Sequence[str],
    as_json: bool,
    build: Path,
    spec: Spec | None = None,
    root: Path | None = None,
) -> int:
    """Prove the C kernels of a checkout with Frama-C, and print a line for each; returns the exit status.

    frama-c.json is written if all element types are selected. UserError if a tool is missing, generated/ is
    stale, or an element type has no C.
    """
    spec = spec or load_spec()
    root = root or repo_root()
    with_kernel = tuple(etype for etype in spec.element_types if etype.c is not None)
    chosen = _chosen_types(with_kernel, spec, types)
    # As for Coq; a file in the folder that is not rendered is refused too, since it could be
    # included.
    require_fresh(render_acsl(spec), root, FOLDER)
    tool = frama_c.find_frama_c(configure(build), find_provers(PROVERS), build, os.cpu_count() or 1)
    began = time.monotonic()
    # The result of --json is alone on standard output.
    stream = sys.stderr if as_json else sys.stdout
    results = []
    for etype in chosen:
        result = frama_c.prove_type(tool, etype, root)
        results.append(result)
        # At once: an element type takes minutes.
        for line in _lines(result, etype):
            print(line, file=stream, flush=True)
    versions = {prover.name: prover.version for prover in tool.provers}
    record = frama_c.FramaCRecord(
        tool=f"sonnx-clip {__version__}",
        spec_digest=spec.digest,
        tools={"Frama-C": tool.version, **versions},
        options=frama_c.OPTIONS,
        complete=chosen == with_kernel,
        types=tuple(results),
    )
    # A record of some types would take the place of one of all.
    if record.complete:
        write_whole(build / frama_c.RECORD, record.model_dump_json(indent=1) + "\n")
    else:
        print(f"partial run: {build / frama_c.RECORD} is unchanged", file=stream)
    # A goal that one prover alone proves is reported, and is no failure, as for Why3.
    states = [result.status(etype) for result, etype in zip(results, chosen, strict=True)]
    if as_json:
        print(record.model_dump_json(indent=1))
    else:
        by_one = states.count("proved by one")
        single = f", {by_one} by one prover" if by_one else ""
        counts = f"{states.count('proved')} proved{single}, {states.count('not proved')} not proved"
        print(f"{len(states)} C kernels: {counts} ({time.monotonic() - began:.0f} s)")
    return 1 if "not proved" in states else 0


def _chosen_types(
    with_kernel: Sequence[ElementType], spec: Spec, types: Sequence[str]
) -> tuple[ElementType, ...]:
    """The element types to prove: all that have a C kernel, if none is named. UserError for one without."""
    wanted = {spec.element_type(id_).id for id_ in types}
    if not wanted:
        return tuple(with_kernel)
    without = sorted(wanted.difference(etype.id for etype in with_kernel))
    if without:
        message = f"there is no C kernel for {without[0]}"
        raise UserError(message, todo="choose another element type")
    return tuple(etype for etype in with_kernel if etype.id in wanted)


def _lines(result: frama_c.OfType, etype: ElementType) -> Iterator[str]:
    """The counts of an element type, and its open goals."""
    sent = result.total - result.simplified  # to the provers
    by_prover = ", ".join(f"{result.shown_by(name)} by {name}" for name in PROVERS)
    axioms = f", {len(result.taken)} axioms" if result.taken else ""
    held = sum(test.held for test in result.smoke)
    yield (
        f"{result.type}: {result.status(etype)}: {result.shown} of {result.total} goals:"
        f" {result.simplified} by WP itself, of the other {sent}: {by_prover};"
        f" {held} of {len(result.smoke)} smoke tests held{axioms} ({result.seconds:.1f} s)"
    )
    open_goals = result.open(etype)
    for line in open_goals[:_SHOWN]:
        yield f"{result.type}: {line}"
    if len(open_goals) > _SHOWN:
        yield f"{result.type}: … and {len(open_goals) - _SHOWN} more"
    for goal in result.goals:
        if goal.status == "proved by one":
            yield f"{result.type}: {goal.name}: proved by {goal.shown_by[0]} only"
