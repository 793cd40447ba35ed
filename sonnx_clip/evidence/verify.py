"""`sonnx-clip verify`: confirmed results, results from records, a sample of these, user constraints."""

from __future__ import annotations

import random
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.operator import Operator
from sonnx_clip.conform.shortest_call import shortest
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.evidence.published import compare_published, published_checkout
from sonnx_clip.evidence.records import installed_version, read_records
from sonnx_clip.evidence.user_constraints import conditions
from sonnx_clip.evidence.write_evidence import render
from sonnx_clip.oracle.evaluated import oracle_of
from sonnx_clip.prove.proofs_record import RECORD, prove_command, results_of
from sonnx_clip.prove.prove_all import limits_of
from sonnx_clip.prove.provers import ask, find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.prove.trusted import of_tasks, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.run_program import Running
from sonnx_clip.root.terminal import counted, listed
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.records import ProvedOperator, Records
    from sonnx_clip.prove.outcome import Reply
    from sonnx_clip.prove.tasks import PrintedTasks
    from sonnx_clip.spec import Spec

    _T = TypeVar("_T")

# Neither shows anything, and which of them comes depends on the machine.
_NO_ANSWER = {"unknown", "timeout"}


class Recorded(NamedTuple):
    """A recorded deviation of a runtime."""

    runtime: str
    type: str
    klass: str
    found: Deviation


class Answered(NamedTuple):
    """A recorded answer of a prover."""

    operator: ProvedOperator
    obligation: Obligation
    reply: Reply


def verify(
    spec: Spec,
    build: Path,
    replay: float,
    seed: int | None = None,
    say: Callable[[str], None] = lambda _: None,
    others: Iterable[Spec] = (),
) -> Iterator[str]:
    """Confirm what can be computed again, and repeat a sample of the provers' and runtimes' answers.

    `replay` is the part that is repeated, 0 to 1, drawn by `seed`; `say` is called with what is being done.
    Yields what was confirmed and what was not; UserError for the first statement that is not so.
    """
    say("reading the records, rendering every file")
    records = read_records(build, spec, others)
    _refuse_stale(records)
    checkout = published_checkout(build)
    evidence, pages = render(records, checkout)
    published = compare_published(build, records, evidence, pages)
    seed = secrets.randbelow(10**6) if seed is None else seed
    repeated = [
        _repeat_proofs(build, records, replay, seed, say),
        _repeat_calls(build, records, replay, seed, say),
    ]
    yield "confirmed"
    yield from _lines(evidence, "confirmed")
    yield f"  published evidence: {published.result}"
    if checkout:
        yield f"  its commit, as it states: {printable(checkout.commit)} of {printable(checkout.date)}"
    differing = _differing_of_operators(records)
    if same := [name for name in records.proofs.programs if name not in differing]:
        yield f"  programs: {listed(same)} of this machine are those of the record"
    yield f"  sample (--seed {seed}): {', '.join(repeated)}"
    yield "taken from records, not repeated (except the sample)"
    yield from _lines(evidence, "taken from records, not repeated")
    for basis in ("stale", "not run"):
        if names := [line.name for line in evidence.argument if line.basis == basis]:
            yield f"{basis}: {', '.join(names)}"
    if published.not_compared:
        yield f"not compared in {build / 'evidence'}"
    for name, reason in published.not_compared.items():
        yield f"  {printable(name)}: {reason}"
    if differing:
        yield "programs other than those of the record"
    for name, difference in differing.items():
        yield f"  {printable(name)}: {difference}"
    yield "user constraints, in this process and on this machine (docs/qualification/user-constraints.md)"
    for condition in conditions(build, records, evidence):
        yield f"  {condition.id} {condition.status}: {condition.words}"


def _refuse_stale(records: Records) -> None:
    """The error of another operator's record that is stale, if there is one."""
    for other in records.others:
        if other.stale:
            raise other.stale


def _repeat_proofs(
    build: Path, records: Records, part: float, seed: int, say: Callable[[str], None]
) -> str:
    """Repeat a sample of the answers about every operator; returns how many that are."""
    answers: list[Answered] = []
    for operator in records.proved_operators:
        answers += answers_of(operator)
    chosen = sample(answers, part, seed)
    size = f"{len(chosen)} of {len(answers)} answers of provers"
    say(f"repeating {size}")
    for operator in records.proved_operators:
        chosen_of_operator = [answer for answer in chosen if answer.operator is operator]
        if chosen_of_operator:
            repeat_answers(build, operator, chosen_of_operator)
    return size


def _repeat_calls(
    build: Path, records: Records, part: float, seed: int, say: Callable[[str], None]
) -> str:
    """Call runtimes again for a sample of their deviations; returns how many that are."""
    deviations = []
    for name, report in records.reports.items():
        for type_id, klass, form, deviation in report.deviations:
            if not form:
                deviations.append(Recorded(name, type_id, klass, deviation))
    # A record may name any file or program as its runtime: only packages that are known by name are called.
    called = {name for name in records.reports if name in OURS or installed_version(name)}
    repeatable = [
        recorded
        for recorded in deviations
        if recorded.runtime in called and recorded.found.got is not None
    ]
    chosen = sample(repeatable, part, seed)
    say(f"calling runtimes again: {counted(len(chosen), 'deviation')} of {len(deviations)}")
    operator = Operator(records.spec, oracle_of(records.spec))
    for recorded in chosen:
        repeat_deviation(build, recorded, operator)
    return f"{len(chosen)} of {counted(len(deviations), 'recorded deviation')}"


def _differing_of_operators(records: Records) -> dict[str, str]:
    """`differing_programs` of every record; those of other operators name the operator."""
    differing = differing_programs(records.proofs.programs)
    for operator in records.proved_operators[1:]:
        for name, difference in differing_programs(operator.proofs.programs).items():
            differing[f"{name} ({operator.spec.operator})"] = difference
    return differing


def _lines(evidence: Evidence, basis: str) -> Iterator[str]:
    for line in evidence.argument:
        if line.basis == basis:
            yield f"  {line.name}: {line.result} ({line.record})"


def differing_programs(recorded: Mapping[str, str]) -> dict[str, str]:
    """How the digests of Why3 and the provers on this machine differ from the recorded ones, by program."""
    present = {prover.name: prover.digest for prover in find_provers()}
    if why3 := shutil.which("why3"):
        present["why3"] = digest_of_file(Path(why3))
    differences: dict[str, str] = {}
    for name in sorted(recorded.keys() | present.keys()):
        recorded_digest = recorded.get(name, "none")
        own_digest = present.get(name, "none")
        if recorded_digest != own_digest:
            shown = printable(recorded_digest[:12])
            differences[name] = f"SHA-256 recorded {shown}, on this machine {own_digest[:12]}"
    return differences


def sample(every: Sequence[_T], part: float, seed: int) -> list[_T]:
    """A part of a list, drawn by the seed, in the order of the list; at least one if the part is not 0."""
    size = 0
    if part > 0:
        wanted = max(1, round(len(every) * part))
        size = min(len(every), wanted)
    drawn = random.Random(seed).sample(range(len(every)), size)  # noqa: S311 - no secret
    return [every[index] for index in sorted(drawn)]


def answers_of(operator: ProvedOperator) -> Iterator[Answered]:
    """Every recorded answer about the obligations of an operator."""
    for outcome in operator.proofs.outcomes_of(operator.generated.obligations):
        for reply in outcome.replies:
            yield Answered(operator, outcome.obligation, reply)


def repeat_answers(build: Path, operator: ProvedOperator, asked: Sequence[Answered]) -> None:
    """UserError if a task is another one than recorded, is not accounted for, or is answered otherwise.

    `asked` are answers about the obligations of the operator.
    """
    folder_of_results, root = results_of(operator.spec, build)
    provers = {prover.name: prover for prover in find_provers()}
    why3 = configure(folder_of_results, root=root)
    listed = trusted(operator.generated.obligations, why3.texts)
    known = {(item.kind, item.name, item.statement) for item in operator.proofs.trusted}
    printed: dict[tuple[str, str], PrintedTasks] = {}

    def problem(o: Obligation, reply: Reply, folder: Path, running: Running) -> str | None:
        prover = provers[reply.prover]
        if prover.version != reply.version:
            return f"{reply.prover} {reply.version} answered, but {prover.version} is installed"

        key = (o.file, prover.name)  # the tasks of a file are printed at once
        if key not in printed:
            printed[key] = print_tasks(why3, prover, (o.file,), running)[o.file]
        tasks = printed[key]
        assumed = of_tasks(tasks.account.said, listed)
        unlisted = [item for item in assumed if (item.kind, item.name, item.statement) not in known]
        if unlisted:
            first = unlisted[0]
            return f"the tasks of {o.file} assume {first.kind} {first.name}, which is not listed"

        goal = (o.theory, o.goal)
        task = tasks.tasks.get(goal)
        if task is None or task.digest != reply.task:
            return f"{o.id}: {reply.prover} answered the task {reply.task[:12]}…, the theories have another"
        if refused := tasks.account.refused.get(goal):
            return f"the task of {o.id} in {o.file} is not accounted for: {refused}"

        again = ask(prover, task.text, reply.task, limits_of(o, prover), folder, running).verdict
        alike = _NO_ANSWER | {"countermodel"} if o.kind == "smoke" else _NO_ANSWER
        if again == reply.verdict or {again, reply.verdict} <= alike:
            return None
        return (
            f"{o.id}: {reply.prover} is recorded as {reply.verdict}, but a repetition gives {again}"
        )

    with tempfile.TemporaryDirectory() as folder, Running() as running:
        for _, obligation, reply in asked:
            message = problem(obligation, reply, Path(folder), running)
            if message:
                todo = f"run: {prove_command(operator.spec)}"
                raise UserError(message, str(folder_of_results / RECORD), todo)


def repeat_deviation(build: Path, recorded: Recorded, operator: Operator) -> None:
    """UserError if the runtime, called with the recorded operands, does not give the recorded answer."""
    where = f"{recorded.type}, {recorded.klass}"
    path = str(build / "verdicts" / f"{recorded.runtime}.json")
    todo = f"run: sonnx-clip check --runtime {recorded.runtime} --again"
    try:
        (again,) = shortest(
            [recorded.found], CheckOptions(recorded.runtime, of=operator), recorded.type
        )
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{where}: its operands or layout cannot be read: {error}", path, todo
        ) from None
    if isinstance(again, str):
        raise UserError(
            f"{where}: {recorded.found.got} is recorded, a repetition gives {again[:160]}",
            path,
            todo,
        )
