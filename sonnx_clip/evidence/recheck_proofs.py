"""Checks what build/proofs.json states against what it was made from: tools, limits, tasks, reasons, sums.

`evidence` takes the digests of the tasks from the ledger, under the digest of the theories; `verify` has Why3
print the tasks anew.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from sonnx_clip.errors import UserError
from sonnx_clip.evidence.proofs import AGAIN
from sonnx_clip.prove.ledger import Ledger
from sonnx_clip.prove.provers import find_provers, follows
from sonnx_clip.prove.run import PROOF, SMOKE
from sonnx_clip.prove.tasks import configure, lemmas, print_tasks, source_digest
from sonnx_clip.prove.trusted import of_tasks, trusted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.evidence.proofs import OutcomeRecord, Proofs, ReplyRecord
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.tasks import Why3
    from sonnx_clip.render.obligation import Obligation

Digests = dict[tuple[str, str], str]
"""The digest of each task of a file, by theory and goal."""

_LIMITS = {"proof": PROOF, "smoke": SMOKE}
_ROUNDED = 0.001  # seconds by which a figure may differ from the sum of others that were rounded


def require_borne_out(
    build: Path, proofs: Proofs, wanted: Sequence[Obligation], texts: dict[str, str] | None = None
) -> None:
    """UserError for the first statement of proofs.json that is not borne out.

    Args:
        build: the folder that holds proofs.json and the ledger.
        proofs: what it states.
        wanted: every obligation.
        texts: if given, Why3 prints the tasks again, instead of the ledger saying what they were, and they
            are put here by their digests.
    """
    path = build / "proofs.json"
    provers = find_provers()
    why3 = configure(build)
    _tools(path, proofs, why3, provers)
    _limits(path, proofs)
    for outcome in proofs.outcomes:
        for reply in outcome.replies:
            _reply(path, proofs, outcome, reply)
    _run(path, proofs)
    _trusted(path, proofs, wanted)
    _tasks(path, build, proofs, why3, provers, texts)


def _tools(path: Path, proofs: Proofs, why3: Why3, provers: Sequence[Prover]) -> None:
    """The versions are those that are installed here: another version is another proof."""
    installed = {"why3": why3.version, **{p.name: p.version for p in provers}}
    for name, version in proofs.tools.items():
        if installed.get(name) != version:
            what = f"it was made by {name} {version}, and {name} {installed.get(name, 'none')} is installed"
            raise UserError(what, str(path), AGAIN)


def _limits(path: Path, proofs: Proofs) -> None:
    for name, limits in _LIMITS.items():
        if proofs.limits.get(name) != asdict(limits):
            what = (
                f"the limits of a {name} are stated as {proofs.limits.get(name)}, they are {asdict(limits)}"
            )
            raise UserError(what, str(path), AGAIN)


def _reply(path: Path, proofs: Proofs, outcome: OutcomeRecord, reply: ReplyRecord) -> None:
    if reply.version != proofs.tools[reply.prover]:
        known = proofs.tools[reply.prover]
        what = f"{outcome.id}: {reply.prover} {reply.version} replied, and {known} was asked"
        raise UserError(what, str(path), AGAIN)
    if not follows(reply.verdict, reply.words):
        shown = " ".join(reply.words.split())[:60]
        what = f"{outcome.id}: {reply.prover} is stated as {reply.verdict}, and its words are `{shown}`"
        raise UserError(what, str(path), AGAIN)


def _run(path: Path, proofs: Proofs) -> None:
    """The figures of the run are those of the replies that it did not take from the ledger."""
    fresh: dict[tuple[str, str, bool], float] = {}
    for outcome in proofs.outcomes:
        for reply in outcome.replies:
            if not reply.from_ledger and reply.task:
                fresh.setdefault((reply.prover, reply.task, outcome.kind == "smoke"), reply.cpu)
    run = proofs.run
    if run.asked != len(fresh):
        what = f"the run is stated to have asked {run.asked} questions, its replies are {len(fresh)}"
        raise UserError(what, str(path), AGAIN)
    if abs(run.prover_cpu - sum(fresh.values())) > _ROUNDED * (len(fresh) + 1):
        what = f"{run.prover_cpu} s of provers are stated, the replies sum up to {sum(fresh.values()):.3f} s"
        raise UserError(what, str(path), AGAIN)
    if min(run.wall, run.prover_cpu, run.why3_cpu) < 0:
        raise UserError("a time of the run is below zero", str(path), AGAIN)


def _trusted(path: Path, proofs: Proofs, wanted: Sequence[Obligation]) -> None:
    """What is taken for granted, and why, is what the theories and the list of reasons give now."""
    listed = trusted(wanted)
    said = {(t.kind, t.name, t.statement) for t in proofs.trusted if t.kind in ("assertion", "setting")}
    every = (*listed, *of_tasks(said, listed))  # what the tasks say is compared with the golden list
    now = [(t.kind, t.name, t.where, t.statement, t.justification, t.discharged_by) for t in every]
    then = [(t.kind, t.name, t.where, t.statement, t.justification, t.discharged_by) for t in proofs.trusted]
    fields = ("kind", "name", "place", "statement", "justification", "obligations")
    for one, other in zip(now, then, strict=False):
        if one != other:
            key = next(field for field, a, b in zip(fields, one, other, strict=True) if a != b)
            raise UserError(
                f"the {key} of {other[0]} {other[1]} is not that of the theories", str(path), AGAIN
            )
    if len(now) != len(then):
        what = f"{len(then)} things are stated as taken for granted, the theories take {len(now)}"
        raise UserError(what, str(path), AGAIN)


def _tasks(
    path: Path, build: Path, proofs: Proofs, why3: Why3, provers: Sequence[Prover],
    texts: dict[str, str] | None,
) -> None:  # fmt: skip
    """The task of each reply is the one that Why3 prints for the obligation."""
    by_file: dict[str, list[OutcomeRecord]] = {}
    for outcome in proofs.outcomes:
        by_file.setdefault(outcome.file, []).append(outcome)
    named = {p.name: p for p in provers}
    for file, outcomes in by_file.items():
        known = {
            name: digests_of(build, why3, prover, file, [o.obligation() for o in outcomes], texts)
            for name, prover in named.items()
        }
        for outcome in outcomes:
            for reply in outcome.replies:
                _task(path, outcome, reply, known[reply.prover])


def _task(
    path: Path, outcome: OutcomeRecord, reply: ReplyRecord, known: Mapping[tuple[str, str], str]
) -> None:
    due = known.get((outcome.theory, outcome.goal))
    if reply.task and reply.task != due:
        shown = f"{due[:12]}…" if due else "none"
        what = (
            f"{outcome.id}: {reply.prover} replied on the task {reply.task[:12]}…, the theories give {shown}"
        )
        raise UserError(what, str(path), AGAIN)


def digests_of(
    build: Path, why3: Why3, prover: Prover, file: str, obligations: Sequence[Obligation],
    texts: dict[str, str] | None = None,
) -> Digests:  # fmt: skip
    """The digests of the tasks of a theory file for a prover, as the ledger has them or by Why3.

    With `texts` Why3 prints them, and each is put there by its digest.

    Raises:
        UserError: Why3 cannot print them.
    """
    ledger = build / "ledger.sqlite"
    if texts is None and ledger.is_file():
        found = Ledger(ledger).tasks(source_digest(why3, file), prover.name)
        digests = {(name.theory, name.goal): name.digest for name in found}
        if all((o.theory, o.goal) in digests for o in obligations):
            return digests
    printed = print_tasks(why3, prover, file, lemmas())
    if printed.said:
        raise UserError(f"Why3 prints no tasks of it: {printed.said.splitlines()[0]}", file, AGAIN)
    for (theory, goal), refused in printed.account.refused.items():
        raise UserError(f"the task of {theory}.{goal} is not accounted for: {refused}", file, AGAIN)
    if texts is not None:
        texts.update((task.name.digest, task.text) for task in printed.tasks)
    return {(task.name.theory, task.name.goal): task.name.digest for task in printed.tasks}
