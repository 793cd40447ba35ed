"""Proves obligations: Why3 prints the tasks, the provers answer side by side, the ledger remembers; and
makes the record of a run.
"""

from __future__ import annotations

import shlex
import tempfile
import time
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sonnx_clip import __version__
from sonnx_clip.backends.drivers import GUARD_SECONDS, PROOF_RESOURCES, SMOKE_RESOURCES
from sonnx_clip.prove.ledger import Listing
from sonnx_clip.prove.outcome import Outcome, Reply
from sonnx_clip.prove.proofs_record import OutcomeRecord, ProofsAbout, ProofsRecord, theory_digests
from sonnx_clip.prove.provers import Prover, ProverLimits, ask, reply
from sonnx_clip.prove.tasks import PrintedTasks, Task, command, goal_options, print_tasks
from sonnx_clip.root.run_program import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.accounts import GoalName, Said
    from sonnx_clip.prove.ledger import Ledger
    from sonnx_clip.prove.proofs_record import TrustedItem
    from sonnx_clip.prove.snapshot import Why3
    from sonnx_clip.spec import Spec

_PORTIONS = 4  # of the theories for each process and prover, so that none waits long for another


@dataclass
class ProofRun:
    """What a run took, canaries left out. The ledger had the answers to all that was not sent.

    Args:
        asked: how many tasks went to provers.
        sent: the obligations of these tasks.
        wall: seconds in all.
        prover_cpu: processor seconds of the provers.
    """

    asked: int = 0
    sent: list[str] = field(default_factory=list)
    wall: float = 0.0
    prover_cpu: float = 0.0


@dataclass(frozen=True)
class Proofs:
    """A whole run.

    Args:
        outcomes: one for each obligation, in the requested order.
        canaries: false statements; each must be refuted by every prover.
        strays: goals that Why3 printed and nobody asked for, as ``file theory.goal``.
        said: what the tasks say besides premises and goals: it has to be listed.
        run: what the run took.
    """

    outcomes: tuple[Outcome, ...]
    canaries: tuple[Outcome, ...]
    strays: tuple[str, ...]
    said: frozenset[Said]
    run: ProofRun

    @property
    def all_shown(self) -> bool:
        """Whether something was sent, everything is shown, canaries included, and nothing is left over."""
        statuses = {outcome.status for outcome in (*self.outcomes, *self.canaries)}
        return bool(self.outcomes) and "not proved" not in statuses and not self.strays


@dataclass(frozen=True)
class _Batch:
    """The tasks of one prover for one theory file."""

    file: str
    prover: Prover
    obligations: tuple[Obligation, ...]
    are_canaries: bool


class _Question(NamedTuple):
    """What a prover is asked: equal questions are asked once."""

    task: str  # the digest of its text
    prover: str
    limits: ProverLimits


@dataclass
class ProofSession:
    """Runs the questions of one call. Not to be used twice.

    Args:
        why3: Why3 with its configuration.
        provers: those that get every obligation.
        ledger: what is known already, and where answers go.
        jobs: how many processes run at once.
        on_progress: called with the number of replies so far, after each.
    """

    why3: Why3
    provers: Sequence[Prover]
    ledger: Ledger
    jobs: int
    on_progress: Callable[[int], None] = lambda _: None
    # By the obligation's id and the prover.
    _replies: dict[tuple[str, str], Reply] = field(default_factory=dict)
    # What Why3 printed, by file.
    _goals: dict[str, set[GoalName]] = field(default_factory=lambda: defaultdict(set))
    _said: set[Said] = field(default_factory=set)
    _run: ProofRun = field(default_factory=ProofRun)
    _running: Running = field(default_factory=Running)

    def prove(
        self,
        obligations: Sequence[Obligation],
        complete_files: frozenset[str],
        canaries: Sequence[Obligation] = (),
    ) -> Proofs:
        """Ask about every obligation, and about the canaries.

        A run that sends anything to a prover sends all canaries. Where the ledger has every answer, it
        answers for the canaries too: to the same bytes, by the same programs.

        Args:
            obligations: what is to be shown.
            complete_files: files of which every goal is among them: a goal more is then a stray.
            canaries: all of some files.
        """
        start = time.monotonic()
        batches = list(self._batches(obligations))
        batches += self._batches(canaries, are_canaries=True)
        unknown = [batch for batch in batches if not self._known(batch)]
        if unknown:
            # Canaries test the printers, Why3 and provers of this very run, so all of them are sent.
            unknown = [batch for batch in batches if batch in unknown or batch.are_canaries]
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(self.jobs) as pool:
            try:
                self._ask_all(pool, Path(folder), unknown)
            except BaseException:
                # Ctrl-C too: else provers would go on for minutes, and the pool would wait for them.
                self._running.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        # All canaries of a file are asked, so that a further goal in it is a stray too.
        files = complete_files | {canary.file for canary in canaries}
        strays = tuple(self._strays((*obligations, *canaries), files))
        self._run.wall = time.monotonic() - start
        return Proofs(
            outcomes=tuple(map(self._outcome, obligations)),
            canaries=tuple(map(self._outcome, canaries)),
            strays=strays,
            said=frozenset(self._said),
            run=self._run,
        )

    def _outcome(self, obligation: Obligation) -> Outcome:
        replies = []
        for prover in self.provers:
            # Each has one: what was not asked has the reason as a reply.
            replies.append(self._replies[obligation.id, prover.name])
        return Outcome(obligation=obligation, replies=tuple(replies))

    def _batches(
        self,
        obligations: Iterable[Obligation],
        *,
        are_canaries: bool = False,
    ) -> Iterator[_Batch]:
        by_file: dict[str, list[Obligation]] = defaultdict(list)
        for obligation in obligations:
            by_file[obligation.file].append(obligation)
        # A batch for each prover: Why3 prints other tasks for each.
        for file, of_file in sorted(by_file.items()):
            for prover in self.provers:
                yield _Batch(file, prover, tuple(of_file), are_canaries)

    def _strays(self, obligations: Iterable[Obligation], files: Iterable[str]) -> Iterator[str]:
        # Goals are counted: Why3 ends with status 0 for a theory without goals, or an unknown goal.
        expected = {(o.file, o.theory, o.goal) for o in obligations}
        for file in sorted(files):
            for theory, goal in sorted(self._goals[file]):
                if (file, theory, goal) not in expected:
                    yield f"{file} {theory}.{goal}"

    def _known(self, batch: _Batch) -> bool:
        """Take all replies of a batch from the ledger, if it has them."""
        source = self.why3.digest(batch.file)
        listing = self.ledger.listing(source, batch.prover.name)
        if listing is None:
            return False
        self._note(batch, listing)
        is_complete = True
        for obligation in batch.obligations:
            task = listing.tasks.get((obligation.theory, obligation.goal), "")
            limits = limits_of(obligation, batch.prover)
            answer = self.ledger.answer(task, batch.prover, limits)
            if answer is None:
                is_complete = False  # the others are taken nevertheless: progress counts them
            else:
                self._reply(obligation, answer)
        return is_complete

    def _ask_all(
        self,
        pool: ThreadPoolExecutor,
        folder: Path,
        batches: list[_Batch],
    ) -> None:
        """Print the tasks of these batches, and run those without an answer in the ledger."""
        printing: dict[Future[Mapping[str, PrintedTasks]], list[_Batch]] = {}
        for portion in _portions(batches, _PORTIONS * self.jobs):
            prover = portion[0].prover
            files = [batch.file for batch in portion]
            future = pool.submit(print_tasks, self.why3, prover, files, self._running)
            printing[future] = portion

        # Provers start on the tasks of a file as soon as it is printed, while Why3 reads others.
        asking: dict[_Question, Future[Reply]] = {}
        waiting: dict[Future[Reply], list[tuple[_Batch, Obligation]]] = defaultdict(list)
        for printed in as_completed(printing):
            for batch in printing[printed]:
                tasks = printed.result()[batch.file]
                for obligation, task in self._unanswered(batch, tasks):
                    # Two obligations of a type can have one task, and the answer stands for both.
                    limits = limits_of(obligation, batch.prover)
                    question = _Question(task.digest, batch.prover.name, limits)
                    if question not in asking:
                        asking[question] = pool.submit(self._ask, batch, limits, task, folder)
                    answer_to_come = asking[question]
                    waiting[answer_to_come].append((batch, obligation))

        for answered in as_completed(waiting):
            answer = answered.result()
            are_canaries = True
            ids = []
            for batch, obligation in waiting[answered]:
                self._reply(obligation, answer)
                ids.append(obligation.id)
                are_canaries = are_canaries and batch.are_canaries
            # Canaries are asked in every run, whatever the ledger has: they do not count.
            if not are_canaries:
                self._run.asked += 1
                self._run.sent += ids
                self._run.prover_cpu += answer.cpu

    def _unanswered(
        self,
        batch: _Batch,
        printed: PrintedTasks,
    ) -> Iterator[tuple[Obligation, Task]]:
        """Note what Why3 printed, and yield what is left to ask.

        A goal that it did not print is not proved, nor is one whose task holds an unknown assertion.
        """
        digests = {goal: task.digest for goal, task in printed.tasks.items()}
        listing = Listing(digests, frozenset(printed.account.said))
        self._note(batch, listing)
        # A listing in the ledger says that all of it was accounted for.
        if not printed.complaint and not printed.account.refused:
            source = self.why3.digest(batch.file)
            self.ledger.record_listing(source, batch.prover.name, listing)
        for obligation in batch.obligations:
            task = printed.tasks.get((obligation.theory, obligation.goal))
            problem = _problem_of(obligation, printed)
            if problem or task is None:
                self._reply(obligation, reply(batch.prover, "", "failed", problem))
                continue
            limits = limits_of(obligation, batch.prover)
            answer = self.ledger.answer(task.digest, batch.prover, limits)
            # A canary is asked although its answer is known: it tests the programs of this run.
            if answer is not None and not batch.are_canaries:
                self._reply(obligation, answer)
            else:
                yield obligation, task

    def _ask(
        self,
        batch: _Batch,
        limits: ProverLimits,
        task: Task,
        folder: Path,
    ) -> Reply:
        """Ask a prover, and keep the answer.

        A failure is repeated in the next run, and so is what took too long by the clock: that may be the
        machine's fault. What a prover does not know within its resources it will not know again.
        """
        prover = batch.prover
        answer = ask(prover, task.text, task.digest, limits, folder, self._running)
        if answer.verdict not in ("failed", "timeout"):
            self.ledger.record(answer, prover, limits)
        else:
            # A canary may have an answer there, which this one contradicts.
            self.ledger.forget(task.digest, prover, limits)
        return answer

    def _note(self, batch: _Batch, listing: Listing) -> None:
        self._goals[batch.file] |= listing.tasks.keys()
        self._said |= listing.said

    def _reply(self, obligation: Obligation, answer: Reply) -> None:
        self._replies[obligation.id, answer.prover] = answer
        self.on_progress(len(self._replies))


def _problem_of(obligation: Obligation, printed: PrintedTasks) -> str:
    """Why no prover is asked about an obligation; empty where its task is complete and accounted for."""
    if printed.complaint:
        return printed.complaint
    goal = (obligation.theory, obligation.goal)
    task = printed.tasks.get(goal)
    if task is None or not task.text.endswith("(check-sat)"):
        name = f"{obligation.theory}.{obligation.goal}"
        return f"Why3 printed no complete task for {name} of {obligation.file}"
    refused = printed.account.refused.get(goal)
    return f"not accounted for: {refused}" if refused else ""


def _portions(batches: Iterable[_Batch], count: int) -> Iterator[list[_Batch]]:
    """What Why3 prints in one call: some files for one prover.

    Starting Why3 and reading the theories that all files use takes longer than to print most of them.
    """
    by_prover: dict[str, list[_Batch]] = defaultdict(list)
    for batch in batches:
        by_prover[batch.prover.name].append(batch)
    for _, of_prover in sorted(by_prover.items()):
        # Neighbours are theories of one kind for other types: they are spread over the portions.
        for start in range(min(count, len(of_prover))):
            yield of_prover[start::count]


def limits_of(obligation: Obligation, prover: Prover) -> ProverLimits:
    """A smoke obligation only waits whether false turns up."""
    by_prover = SMOKE_RESOURCES if obligation.kind == "smoke" else PROOF_RESOURCES
    return ProverLimits(by_prover[prover.name], GUARD_SECONDS)


def proofs_record_of(
    spec: Spec,
    why3: Why3,
    provers: Sequence[Prover],
    proofs: Proofs,
    taken: Sequence[TrustedItem],
    *,
    complete: bool,
    root: Path | None = None,
) -> ProofsRecord:
    """The record of a run: the same answers give the same record, whenever they were given.

    Args:
        spec: the specification that was proved.
        why3: Why3 as it was used.
        provers: the provers that had to answer.
        proofs: what came out.
        taken: what is taken for granted.
        complete: whether every obligation went to every prover.
        root: the folder that holds generated/ of another operator than Clip.
    """
    # The theories as Why3 read them, which may have changed on the disk meanwhile.
    files = {**theory_digests(root), **why3.digests}
    tools = {"why3": why3.version}
    programs = {"why3": why3.program}
    commands = {}
    for prover in provers:
        tools[prover.name] = prover.version
        programs[prover.name] = prover.digest
        commands[prover.name] = " ".join(prover.command)
    limits: dict[str, dict[str, Any]] = {}
    for kind, resources in (("proof", PROOF_RESOURCES), ("smoke test", SMOKE_RESOURCES)):
        for prover in provers:
            of_prover = ProverLimits(resources[prover.name])
            limits[f"{kind} by {prover.name}"] = asdict(of_prover)
    return ProofsRecord(
        about=ProofsAbout(tool=f"sonnx-clip {__version__}", spec_digest=spec.digest, files=files),
        tools=tools,
        programs=programs,
        why3_drivers=dict(why3.files),
        commands=commands,
        limits=limits,
        complete=complete,
        outcomes=tuple(map(_row, proofs.outcomes)),
        canaries=tuple(map(_row, proofs.canaries)),
        strays=proofs.strays,
        trusted=tuple(taken),
    )


def _row(outcome: Outcome) -> OutcomeRecord:
    # What it states and its status are for people: readers of the record derive both.
    fields = {**vars(outcome.obligation), "status": outcome.status, "replies": outcome.replies}
    return OutcomeRecord.model_validate(fields)


def by_hand(why3: Why3, prover: Prover, obligation: Obligation) -> str:
    """The command that runs a prover on an obligation by hand, from the repository's root."""
    limits = limits_of(obligation, prover)
    # Why3 calls the prover's own steps "steps" too, and passes them on (why3.conf).
    limit_options = ("-s", str(limits.resources), "-t", str(limits.seconds))
    options = (*limit_options, *goal_options(obligation))
    return shlex.join(command(why3, prover, obligation.file, *options))
