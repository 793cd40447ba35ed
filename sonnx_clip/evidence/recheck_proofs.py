"""Checks what build/proofs.json states against what it was made from: tools, limits, commands, tasks,
reasons, sums, and what each obligation adds.

`evidence` takes from the ledger, under the digest of the theories, what the tasks are and say, and from
standing.json what each obligation adds; `verify` has Why3 print the tasks anew, and evaluates the statements.
"""

from __future__ import annotations

import re
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sonnx_clip.evidence.proof_records import AGAIN
from sonnx_clip.prove.ledger import Ledger
from sonnx_clip.prove.proofs_report import by_hand
from sonnx_clip.prove.prove_all import PROOF, SMOKE
from sonnx_clip.prove.provers import find_provers, follows
from sonnx_clip.prove.standing import standings
from sonnx_clip.prove.tasks import configure, lemmas, print_tasks, source_digest
from sonnx_clip.prove.trusted import of_tasks, trusted
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.evidence.proof_records import OutcomeRecord, ProofsRecord, ReplyRecord
    from sonnx_clip.prove.accounts import Said
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.standing import Standing
    from sonnx_clip.prove.tasks import Why3
    from sonnx_clip.spec import Spec

_LIMITS = {"proof": PROOF, "smoke": SMOKE}
_CONFIGURATION = re.compile(r" -C (?:'[^']*'|\S+)(?= )")
_ROUNDED = 0.001  # seconds by which a figure may differ from the sum of others that were rounded


@dataclass(frozen=True)
class Tasks:
    """What the tasks of a theory file are for a prover.

    Args:
        digests: of each task, by theory and goal.
        said: what they say besides premises and goals: it has to be listed.
    """

    digests: Mapping[tuple[str, str], str]
    said: frozenset[Said]


def require_borne_out(
    build: Path, proofs: ProofsRecord, spec: Spec, wanted: Sequence[Obligation],
    texts: dict[str, str] | None = None,
) -> None:  # fmt: skip
    """UserError for the first statement of proofs.json that is not borne out.

    Args:
        build: the folder that holds proofs.json, the ledger and standing.json.
        proofs: what it states.
        spec: the specification.
        wanted: every obligation.
        texts: if given, Why3 prints the tasks again, instead of the ledger saying what they were, and they
            are put here by their digests; and no standing is taken from standing.json.
    """
    path = build / "proofs.json"
    provers = find_provers()
    why3 = configure(build)
    _tools(path, proofs, why3, provers)
    _limits(path, proofs)
    _commands(path, proofs, why3, provers)
    for outcome in proofs.outcomes:
        for reply in outcome.replies:
            _reply(path, proofs, outcome, reply)
    _run(path, proofs)
    ledger = build / "ledger.sqlite"
    with closing(Ledger(ledger)) if texts is None and ledger.is_file() else nullcontext() as known:
        said = _tasks(path, known, proofs, why3, provers, texts)
    _trusted(path, proofs, wanted, said)
    _standing(path, proofs, standings(spec, wanted, build if texts is None else None))


def _tools(path: Path, proofs: ProofsRecord, why3: Why3, provers: Sequence[Prover]) -> None:
    """The versions are those that are installed here: another version is another proof."""
    installed = {"why3": why3.version, **{p.name: p.version for p in provers}}
    for name, version in proofs.tools.items():
        if installed.get(name) != version:
            what = f"it was made by {name} {version}, and {name} {installed.get(name, 'none')} is installed"
            raise UserError(what, str(path), AGAIN)
    for name in sorted({*why3.files, *proofs.why3_drivers}):
        then, now = proofs.why3_drivers.get(name, "none"), why3.files.get(name, "none")
        if then != now:
            what = f"it was made with {name} of Why3, sha256 {then[:12]}…, and {now[:12]}… is installed"
            raise UserError(what, str(path), AGAIN)


def _limits(path: Path, proofs: ProofsRecord) -> None:
    for name, limits in _LIMITS.items():
        if proofs.limits.get(name) != asdict(limits):
            what = (
                f"the limits of a {name} are stated as {proofs.limits.get(name)}, they are {asdict(limits)}"
            )
            raise UserError(what, str(path), AGAIN)


def _commands(path: Path, proofs: ProofsRecord, why3: Why3, provers: Sequence[Prover]) -> None:
    """The commands that a reader may repeat by hand are those that were run, in whatever folder that was."""
    for prover in provers:
        then, now = proofs.commands.get(prover.name, ""), " ".join(prover.command)
        if then != now:
            what = f"{prover.name} is stated to be run as `{then}`, it is run as `{now}`"
            raise UserError(what, str(path), AGAIN)
        asked = by_hand(why3, prover)
        for outcome in proofs.outcomes:
            then, now = outcome.commands.get(prover.name, ""), asked(outcome.obligation)
            if _without_folder(then) != _without_folder(now):
                who = f"{outcome.id}: {prover.name}"
                raise UserError(f"{who} is stated to be asked by `{then}`, not by `{now}`", str(path), AGAIN)


def _without_folder(command: str) -> str:
    """A command without the place of Why3's configuration."""
    return _CONFIGURATION.sub(" -C ", command)


def _reply(path: Path, proofs: ProofsRecord, outcome: OutcomeRecord, reply: ReplyRecord) -> None:
    if reply.version != proofs.tools[reply.prover]:
        known = proofs.tools[reply.prover]
        what = f"{outcome.id}: {reply.prover} {reply.version} replied, and {known} was asked"
        raise UserError(what, str(path), AGAIN)
    if not follows(reply.verdict, reply.words):
        shown = " ".join(reply.words.split())[:60]
        what = f"{outcome.id}: {reply.prover} is stated as {reply.verdict}, and its words are `{shown}`"
        raise UserError(what, str(path), AGAIN)


def _run(path: Path, proofs: ProofsRecord) -> None:
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


def _trusted(path: Path, proofs: ProofsRecord, wanted: Sequence[Obligation], said: frozenset[Said]) -> None:
    """What is taken for granted, and why, is what theories, tasks and the list of reasons give now."""
    listed = trusted(wanted)
    every = (*listed, *of_tasks(said, listed))
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
        what = f"{len(then)} things are stated as taken for granted, theories and tasks take {len(now)}"
        raise UserError(what, str(path), AGAIN)


def _tasks(
    path: Path, ledger: Ledger | None, proofs: ProofsRecord, why3: Why3, provers: Sequence[Prover],
    texts: dict[str, str] | None,
) -> frozenset[Said]:  # fmt: skip
    """The task of each reply is the one that Why3 prints for the obligation; returns what the tasks say."""
    said: frozenset[Said] = frozenset()
    by_file: dict[str, list[OutcomeRecord]] = {}
    for outcome in proofs.outcomes:
        by_file.setdefault(outcome.file, []).append(outcome)
    named = {p.name: p for p in provers}
    for file, outcomes in by_file.items():
        known = {
            name: tasks_of(ledger, why3, prover, file, [o.obligation for o in outcomes], texts)
            for name, prover in named.items()
        }
        said = said.union(*(tasks.said for tasks in known.values()))
        for outcome in outcomes:
            for reply in outcome.replies:
                _task(path, outcome, reply, known[reply.prover].digests)
    return said


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


def _standing(path: Path, proofs: ProofsRecord, due: Mapping[str, Standing]) -> None:
    """What an obligation is stated to add is what its statement adds, evaluated beside the others."""
    for outcome in proofs.outcomes:
        if outcome.kind == "smoke":
            continue
        now = due[outcome.id]
        repeats = now.of if now.kind == "repeats" else ""
        if (outcome.standing, outcome.repeats) != (now.kind, repeats):
            then = f"{outcome.standing} {outcome.repeats}".strip()
            what = f"{outcome.id} is stated to stand as `{then}`, it is `{f'{now.kind} {repeats}'.strip()}`"
            raise UserError(what, str(path), AGAIN)
        if outcome.witness != now.witness:
            what = f"{outcome.id}: its premises are stated to hold of {outcome.witness}"
            raise UserError(f"{what}, what meets them is {now.witness}", str(path), AGAIN)


def tasks_of(
    ledger: Ledger | None, why3: Why3, prover: Prover, file: str, obligations: Sequence[Obligation],
    texts: dict[str, str] | None = None,
) -> Tasks:  # fmt: skip
    """The tasks of a theory file for a prover, as the ledger has them or by Why3.

    With `texts` Why3 prints them, and each is put there by its digest.

    Raises:
        UserError: Why3 cannot print them, or one of them is not accounted for.
    """
    if ledger is not None:
        source = source_digest(why3, file)
        found, said = ledger.tasks(source, prover.name), ledger.account(source, prover.name)
        digests = {(name.theory, name.goal): name.digest for name in found}
        if said is not None and all((o.theory, o.goal) in digests for o in obligations):
            return Tasks(digests, said)
    printed = print_tasks(why3, prover, file, lemmas())
    if printed.said:
        raise UserError(f"Why3 prints no tasks of it: {printed.said.splitlines()[0]}", file, AGAIN)
    for (theory, goal), refused in printed.account.refused.items():
        raise UserError(f"the task of {theory}.{goal} is not accounted for: {refused}", file, AGAIN)
    if texts is not None:
        texts.update((task.name.digest, task.text) for task in printed.tasks)
    digests = {(task.name.theory, task.name.goal): task.name.digest for task in printed.tasks}
    return Tasks(digests, frozenset(printed.account.said))
