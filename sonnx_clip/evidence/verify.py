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
from sonnx_clip.evidence.user_constraints import check_constraints
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
    from sonnx_clip.prove.provers import Prover
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
    deviation: Deviation


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
    # All work comes before the first line of the result: whatever is wrong, no line says `confirmed`.
    say("reading the records, rendering every file")
    records = read_records(build, spec, others)
    _refuse_stale(records)
    checkout = published_checkout(build)
    evidence, pages = render(records, checkout)
    published = compare_published(build, records, evidence, pages)
    # Drawn anew each time, since whoever wrote the records must not know which answers are repeated.
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
    same = [name for name in records.proofs.programs if name not in differing]
    if same:
        yield f"  programs: {listed(same)} of this machine are those of the record"
    yield f"  sample (--seed {seed}): {', '.join(repeated)}"
    yield "taken from records, not repeated (except the sample)"
    yield from _lines(evidence, "taken from records, not repeated")
    for basis in ("stale", "not run"):
        names = [line.name for line in evidence.argument if line.basis == basis]
        if names:
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
    for check in check_constraints(build, records, evidence):
        yield f"  {check.id} {check.status}: {check.reason}"


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
        answers += recorded_answers(operator)
    chosen = random_part(answers, part, seed)
    size = f"{len(chosen)} of {len(answers)} answers of provers"
    say(f"repeating {size}")
    for operator in records.proved_operators:
        # One folder and one configuration of Why3 for all answers of an operator.
        chosen_of_operator = [answer for answer in chosen if answer.operator is operator]
        if chosen_of_operator:
            repeat_answers(build, operator, chosen_of_operator)
    return size


def _repeat_calls(
    build: Path, records: Records, part: float, seed: int, say: Callable[[str], None]
) -> str:
    """Call runtimes again for a sample of their deviations; returns how many that are."""
    deviations = []
    repeatable = []
    for name, report in records.reports.items():
        # A record may name any file or program as its runtime: only packages that are known by name
        # are called.
        is_called = name in OURS or bool(installed_version(name))
        for type_id, klass, form, deviation in report.deviations:
            if form:
                continue
            recorded = Recorded(name, type_id, klass, deviation)
            deviations.append(recorded)
            # Without a result, as after a crash, there is nothing that a repetition could be equal to.
            if is_called and deviation.got is not None:
                repeatable.append(recorded)
    chosen = random_part(repeatable, part, seed)
    say(f"calling runtimes again: {counted(len(chosen), 'deviation')} of {len(deviations)}")
    operator = Operator(records.spec, oracle_of(records.spec))
    for recorded in chosen:
        repeat_deviation(build, recorded, operator)
    return f"{len(chosen)} of {counted(len(deviations), 'recorded deviation')}"


def _differing_of_operators(records: Records) -> dict[str, str]:
    """`differing_programs` of every record; those of other operators name the operator."""
    differing = differing_programs(records.proofs.programs)
    # The first is the operator of the page, whose programs are those above.
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
    # No error: the sample shows whether these programs answer as those of the record did.
    for name in sorted(recorded.keys() | present.keys()):
        recorded_digest = recorded.get(name, "none")
        own_digest = present.get(name, "none")
        if recorded_digest != own_digest:
            shown = printable(recorded_digest[:12])
            differences[name] = f"SHA-256 recorded {shown}, on this machine {own_digest[:12]}"
    return differences


def random_part(items: Sequence[_T], part: float, seed: int) -> list[_T]:
    """A part of a list, drawn by the seed, in the order of the list; at least one if the part is not 0."""
    size = 0
    if part > 0:
        wanted = max(1, round(len(items) * part))
        size = min(len(items), wanted)
    # Indices and not items are drawn, so that those drawn can be put in the order of the list.
    drawn = random.Random(seed).sample(range(len(items)), size)  # noqa: S311 - no secret
    return [items[index] for index in sorted(drawn)]


def recorded_answers(operator: ProvedOperator) -> Iterator[Answered]:
    """Every recorded answer about the obligations of an operator."""
    for outcome in operator.proofs.outcomes_of(operator.generated.obligations):
        for reply in outcome.replies:
            yield Answered(operator, outcome.obligation, reply)


def repeat_answers(build: Path, operator: ProvedOperator, asked: Sequence[Answered]) -> None:
    """UserError if a task is another one than recorded, is not accounted for, or is answered otherwise.

    `asked` are answers about the obligations of the operator.
    """
    folder_of_results, _ = results_of(operator.spec, build)
    with tempfile.TemporaryDirectory() as folder, Running() as running:
        repetition = _Repetition(build, operator, Path(folder), running)
        for _, obligation, reply in asked:
            problem = repetition.problem(obligation, reply)
            if problem:
                todo = f"run: {prove_command(operator.spec, build)}"
                raise UserError(problem, str(folder_of_results / RECORD), todo)


class _Repetition:
    """Puts recorded questions to the provers again; tasks are printed from the theories once a file."""

    def __init__(
        self, build: Path, operator: ProvedOperator, folder: Path, running: Running
    ) -> None:
        folder_of_results, root = results_of(operator.spec, build)
        self.folder = folder
        self.running = running
        self.provers = {prover.name: prover for prover in find_provers()}  # of this machine
        self.why3 = configure(folder_of_results, root=root)
        self.axioms = trusted(operator.generated.obligations, self.why3.texts)
        # Without reasons and places, which people may edit after the run.
        self.known = {(item.kind, item.name, item.statement) for item in operator.proofs.trusted}
        self._printed: dict[tuple[str, str], PrintedTasks] = {}

    def problem(self, o: Obligation, reply: Reply) -> str | None:
        """Why an answer does not hold; None if it does.

        The task comes before the answer: an answer to another question, or one under an assumption that
        nobody has listed, need not be repeated.
        """
        prover = self.provers[reply.prover]
        if prover.version != reply.version:
            return f"{reply.prover} {reply.version} answered, but {prover.version} is installed"

        tasks = self._tasks(o.file, prover)
        for item in of_tasks(tasks.account.said, self.axioms):
            if (item.kind, item.name, item.statement) not in self.known:
                return f"the tasks of {o.file} assume {item.kind} {item.name}, which is not listed"

        goal = (o.theory, o.goal)
        task = tasks.tasks.get(goal)
        if task is None or task.digest != reply.task:
            return f"{o.id}: {reply.prover} answered the task {reply.task[:12]}…, the theories have another"
        refused = tasks.account.refused.get(goal)
        if refused:
            return f"the task of {o.id} in {o.file} is not accounted for: {refused}"

        limits = limits_of(o, prover)
        answer = ask(prover, task.text, reply.task, limits, self.folder, self.running)
        if _same_verdict(o, reply.verdict, answer.verdict):
            return None
        recorded = f"{reply.prover} is recorded as {reply.verdict}"
        return f"{o.id}: {recorded}, but a repetition gives {answer.verdict}"

    def _tasks(self, file: str, prover: Prover) -> PrintedTasks:
        """The tasks of a theory for a prover."""
        key = (file, prover.name)
        if key not in self._printed:
            # Printing is the slow step, and an obligation of the same file may be drawn again.
            printed = print_tasks(self.why3, prover, (file,), self.running)
            self._printed[key] = printed[file]
        return self._printed[key]


def _same_verdict(o: Obligation, recorded: str, repeated: str) -> bool:
    """Whether two verdicts mean the same for an obligation."""
    interchangeable = set(_NO_ANSWER)
    # Of a true goal a countermodel is a refutation, and never the same as no answer.
    if o.kind == "smoke":
        # The goal is false: any answer but a proof shows that the premises are not contradictory.
        interchangeable.add("countermodel")
    return recorded == repeated or {recorded, repeated} <= interchangeable


def repeat_deviation(build: Path, recorded: Recorded, operator: Operator) -> None:
    """UserError if the runtime, called with the recorded operands, does not give the recorded answer."""
    place = f"{recorded.type}, {recorded.klass}"
    path = str(build / "verdicts" / f"{recorded.runtime}.json")
    todo = f"run: sonnx-clip check --runtime {recorded.runtime} --again"
    # With the default policy: only the answer counts, not how it is judged.
    options = CheckOptions(recorded.runtime, of=operator)
    try:
        (repeated,) = shortest([recorded.deviation], options, recorded.type)
    except (KeyError, ValueError) as error:
        message = f"{place}: its operands or layout cannot be read: {error}"
        raise UserError(message, path, todo) from None
    # A text is the outcome of a call that did not deviate as recorded.
    if isinstance(repeated, str):
        answer = repeated[:160]  # it may be a message of the runtime, which has any length
        got = recorded.deviation.got
        message = f"{place}: {got} is recorded, a repetition gives {answer}"
        raise UserError(message, path, todo)
