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
    spec, root = load_spec(), root or repo_root()
    require_fresh(render_coq(spec), root)
    record = coq.check_coq(spec, root, build / "foundation")
    text = record.model_dump_json(indent=1)
    write_whole(build / coq.RECORD, text + "\n")
    if as_json:
        print(text)
        return 1 if record.problems else 0
    for problem in record.problems:
        print(f"problem: {problem}")
    if not record.theorems:
        print(f"not checked: {len(record.problems)} problems; Coq {record.coq}")
        return 1
    closed = sum(not record.axioms[t.module] for t in record.theorems)
    print(
        f"{len(record.theorems)} theorems checked by Coq's kernel"
        f" ({record.coq}, {record.seconds['wall clock']} s); {closed} closed under the global context,"
        f" {len(record.theorems) - closed} on the axioms of the reals;"
        f" {f'{len(record.problems)} problems' if record.problems else 'coqchk agrees'}"
    )
    return 1 if record.problems else 0


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
    spec, root = spec or load_spec(), root or repo_root()
    every = tuple(etype for etype in spec.element_types if etype.c is not None)
    wanted = {spec.element_type(id_).id for id_ in types}
    if without := sorted(wanted - {etype.id for etype in every}):
        raise UserError(
            f"there is no C kernel for {without[0]}", todo="choose another element type"
        )
    chosen = tuple(etype for etype in every if not wanted or etype.id in wanted)
    require_fresh(render_acsl(spec), root, FOLDER)
    tool = frama_c.find_frama_c(configure(build), find_provers(PROVERS), build, os.cpu_count() or 1)
    began, stream = time.monotonic(), sys.stderr if as_json else sys.stdout
    found = []
    for etype in chosen:
        found.append(frama_c.prove_type(tool, etype, root))
        for line in _lines(found[-1], etype):
            print(line, file=stream, flush=True)
    record = frama_c.FramaCRecord(
        tool=f"sonnx-clip {__version__}",
        spec_digest=spec.digest,
        tools={"Frama-C": tool.version, **{p.name: p.version for p in tool.provers}},
        options=frama_c.OPTIONS,
        complete=chosen == every,
        types=tuple(found),
    )
    if record.complete:
        write_whole(build / frama_c.RECORD, record.model_dump_json(indent=1) + "\n")
    else:
        print(f"partial run: {build / frama_c.RECORD} is unchanged", file=stream)
    states = [one.status(etype) for one, etype in zip(found, chosen, strict=True)]
    if as_json:
        print(record.model_dump_json(indent=1))
    else:
        single = (
            f", {states.count('proved by one')} by one prover" if "proved by one" in states else ""
        )
        counts = f"{states.count('proved')} proved{single}, {states.count('not proved')} not proved"
        print(f"{len(states)} C kernels: {counts} ({time.monotonic() - began:.0f} s)")
    return 1 if "not proved" in states else 0


def _lines(one: frama_c.OfType, etype: ElementType) -> Iterator[str]:
    """The counts of an element type, and its open goals."""
    sent = one.total - one.simplified
    by = ", ".join(f"{one.shown_by(name)} by {name}" for name in PROVERS)
    axioms = f", {len(one.taken)} axioms" if one.taken else ""
    yield (
        f"{one.type}: {one.status(etype)}: {one.shown} of {one.total} goals: {one.simplified} by WP itself,"
        f" of the other {sent}: {by}; {sum(s.held for s in one.smoke)} of {len(one.smoke)} smoke tests"
        f" held{axioms} ({one.seconds:.1f} s)"
    )
    lines = one.open(etype)
    yield from (f"{one.type}: {line}" for line in lines[:_SHOWN])
    if len(lines) > _SHOWN:
        yield f"{one.type}: … and {len(lines) - _SHOWN} more"
    for goal in one.goals:
        if goal.status == "proved by one":
            yield f"{one.type}: {goal.name}: proved by {goal.shown_by[0]} only"
