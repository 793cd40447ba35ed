"""Proves obligations: Why3 prints the tasks, the provers answer side by side, the ledger remembers."""

from __future__ import annotations

import resource
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sonnx_clip.prove.outcome import Outcome, ProverReply
from sonnx_clip.prove.provers import Prover, ProverAnswer, ProverLimits, ask
from sonnx_clip.prove.tasks import PrintedTasks, Task, lemmas, print_files, print_tasks, source_of
from sonnx_clip.root.run_program import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.prove.accounts import Said
    from sonnx_clip.prove.ledger import Ledger, TaskName
    from sonnx_clip.prove.snapshot import Why3

PROOF = ProverLimits(seconds=60)
SMOKE = ProverLimits(seconds=1)
_PORTIONS = 8  # of the theories for each process at work, so that none waits long for another

_T = TypeVar("_T")


@dataclass(frozen=True)
class Proofs:
    """A whole run.

    Args:
        outcomes: one for each obligation, in the order asked for.
        strays: goals that Why3 printed and nobody asked for, as ``file theory.goal``.
        asked: how many tasks of obligations went to provers; the ledger had the answers to the others.
        wall: seconds that the run took.
        prover_cpu: processor seconds of the provers in this run, but for canaries.
        why3_cpu: processor seconds of Why3 in this run.
        said: what the tasks say besides premises and goals: it has to be listed.
        canaries: false statements; each must be refuted by every prover.
    """

    outcomes: tuple[Outcome, ...]
    strays: tuple[str, ...]
    asked: int
    wall: float
    prover_cpu: float
    why3_cpu: float
    said: frozenset[Said]
    canaries: tuple[Outcome, ...] = ()

    @property
    def all_shown(self) -> bool:
        """Whether something was asked, everything is shown, canaries included, and nothing is left over."""
        shown = all(o.status != "not proved" for o in (*self.outcomes, *self.canaries))
        return bool(self.outcomes) and shown and not self.strays


@dataclass
class _Questions:
    """What one theory file asks of one prover."""

    file: str
    prover: Prover
    obligations: tuple[Obligation, ...]
    everything: bool
    source: str = ""
    names: dict[tuple[str, str], TaskName] = field(default_factory=dict)


class ProofSession:
    """Runs the questions of one call. Not to be used twice.

    Args:
        why3: Why3 with its configuration.
        provers: who is asked about every obligation.
        ledger: what is known already, and where answers go.
        jobs: how many processes run at once.
        on_progress: called with the number of replies so far, after each.
    """

    def __init__(
        self,
        why3: Why3,
        provers: Sequence[Prover],
        ledger: Ledger,
        jobs: int,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.why3, self.provers, self.ledger, self.jobs = why3, tuple(provers), ledger, jobs
        self.on_progress = on_progress
        self.replies: dict[tuple[str, str], ProverReply] = {}
        self.strays: list[str] = []
        self.said: set[Said] = set()
        self.asked = 0
        self.canaries: frozenset[str] = frozenset()
        self.prover_cpu = self.canary_cpu = 0.0
        self.running = Running()
        self.asking: dict[Future[ProverAnswer], list[tuple[_Questions, Obligation, str]]] = {}
        # Each puts itself here when it is done: to wait for any of thousands is to look at all of them.
        self.done: SimpleQueue[Future[Any]] = SimpleQueue()
        self.open_questions: dict[tuple[str, str, ProverLimits], Future[ProverAnswer]] = {}

    def prove(
        self,
        obligations: Sequence[Obligation],
        complete_files: frozenset[str],
        canaries: Sequence[Obligation] = (),
    ) -> Proofs:
        """Ask about every obligation, and about the canaries among them.

        Args:
            obligations: what is to be shown.
            complete_files: files of which every goal is among them: a goal more is then a stray.
            canaries: all of some files; they are sent in every run, whatever the ledger has.
        """
        self.canaries = frozenset(c.id for c in canaries)
        files = complete_files | {c.file for c in canaries}
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(self.jobs) as pool:
            try:
                self._drain(pool, Path(folder), list(self._questions((*obligations, *canaries), files)))
            except BaseException:
                self.running.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        children = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        outcomes, of_canaries = (
            tuple(Outcome(o, tuple(self.replies[o.id, p.name] for p in self.provers)) for o in every)
            for every in (obligations, canaries)
        )
        wall = time.monotonic() - start
        return Proofs(
            outcomes,
            tuple(self.strays),
            self.asked,
            wall,
            self.prover_cpu,
            max(0.0, children - self.prover_cpu - self.canary_cpu),
            frozenset(self.said),
            of_canaries,
        )

    def _questions(
        self, obligations: Iterable[Obligation], complete_files: frozenset[str]
    ) -> Iterable[_Questions]:
        by_file = groupby(sorted(obligations, key=lambda o: o.file), key=lambda o: o.file)
        for file, group in [(f, tuple(g)) for f, g in by_file]:
            source = self.why3.digest(file)
            for prover in self.provers:
                yield _Questions(file, prover, group, file in complete_files, source)

    def _drain(self, pool: ThreadPoolExecutor, folder: Path, questions: list[_Questions]) -> None:
        """Print what the ledger does not know, ask what it does not know, until nothing is pending."""
        unknown = [q for q in questions if not self._answered_by_ledger(q)]
        proved = lemmas(self.why3) if unknown else frozenset[str]()
        printing: dict[Future[Mapping[str, PrintedTasks]], tuple[_Questions, ...]] = {}
        for portion in _portions(self.why3, unknown, _PORTIONS * self.jobs):
            printing[self._submit(pool, _print, self.why3, portion, proved, self.running)] = portion
        while printing or self.asking:
            future = self.done.get()
            if future in printing:
                for q in printing.pop(future):
                    for o, task in self._printed(q, future.result()[q.file]):
                        self._ask(pool, folder, q, o, task)
            else:
                first, *others = self.asking.pop(future)
                self._answered(*first, future.result())
                for other in others:
                    self._reply(*other, future.result(), from_ledger=False)

    def _answered_by_ledger(self, q: _Questions) -> bool:
        """Take all replies from the ledger, if it has them."""
        known = q.obligations[0].id not in self.canaries and self._known(q)
        for o in q.obligations if known else ():
            self._from_ledger(q, o, self._task_of(q, o))
        return known

    def _submit(self, pool: ThreadPoolExecutor, run: Callable[..., _T], *arguments: object) -> Future[_T]:
        future = pool.submit(run, *arguments)
        future.add_done_callback(self.done.put)
        return future

    def _ask(self, pool: ThreadPoolExecutor, folder: Path, q: _Questions, o: Obligation, task: Task) -> None:
        """Ask, once: two obligations of a type can have one task, and the answer stands for both."""
        digest, limits = task.name.digest, limits_of(o)
        question = (digest, q.prover.name, limits)
        asked = self.open_questions.get(question)
        if asked is None:
            asked = self._submit(pool, ask, q.prover, task.text, digest, limits, folder, self.running)
            self.open_questions[question], self.asking[asked] = asked, []
        if asked in self.asking:
            self.asking[asked].append((q, o, digest))
        else:
            self._reply(q, o, digest, asked.result(), from_ledger=False)

    def _known(self, q: _Questions) -> bool:
        """Whether the ledger has the task of every obligation, and the answer to it."""
        whole, part = q.source, source_of(q.source, q.obligations)
        for source in (whole,) if q.everything else (whole, part):
            q.source = source
            if self._known_of(q):
                return True
        return False

    def _known_of(self, q: _Questions) -> bool:
        q.names = {(t.theory, t.goal): t for t in self.ledger.tasks(q.source, q.prover.name)}
        said = self.ledger.account(q.source, q.prover.name)
        if not q.names or said is None:
            return False
        self.said |= said
        self._note_strays(q)
        tasks = ((o, self._task_of(q, o)) for o in q.obligations)
        return all(t is not None and self.ledger.answer(t.digest, q.prover, limits_of(o)) for o, t in tasks)

    def _task_of(self, q: _Questions, o: Obligation) -> TaskName | None:
        return q.names.get((o.theory, o.goal))

    def _from_ledger(self, q: _Questions, o: Obligation, task: TaskName | None) -> bool:
        if o.id in self.canaries:
            return False
        answer = self.ledger.answer(task.digest, q.prover, limits_of(o)) if task else None
        if task is None or answer is None:
            return False
        self._reply(q, o, task.digest, answer, from_ledger=True)
        return True

    def _printed(self, q: _Questions, printed: PrintedTasks) -> Iterable[tuple[Obligation, Task]]:
        """Note what Why3 printed; yields what is left to ask. What it did not print is not proved.

        Neither is a goal whose task says something that nobody knows of.
        """
        said, refused = printed.said, printed.account.refused
        by_goal = {(t.name.theory, t.name.goal): t for t in printed.tasks}
        self.said |= printed.account.said
        q.names = {key: t.name for key, t in by_goal.items()}
        self._note_strays(q)
        if not said and not refused:
            self.ledger.record_tasks(q.source, q.prover.name, q.names.values())
            self.ledger.record_account(q.source, q.prover.name, printed.account.said)
        for o in q.obligations:
            task = by_goal.get((o.theory, o.goal))
            if task is None or not task.text.endswith("(check-sat)"):
                words = said or f"Why3 printed no complete task for {o.theory}.{o.goal} of {o.file}"
                self._reply(q, o, "", ProverAnswer("failed", words, 0.0), from_ledger=False)
            elif (o.theory, o.goal) in refused:
                words = f"not accounted for: {refused[o.theory, o.goal]}"
                self._reply(q, o, "", ProverAnswer("failed", words, 0.0), from_ledger=False)
            elif said:
                self._reply(q, o, "", ProverAnswer("failed", said, 0.0), from_ledger=False)
            elif not self._from_ledger(q, o, task.name):
                yield o, task

    def _note_strays(self, q: _Questions) -> None:
        if q.everything:
            wanted = {(o.theory, o.goal) for o in q.obligations}
            stray = [f"{q.file} {theory}.{goal}" for theory, goal in q.names if (theory, goal) not in wanted]
            self.strays += [s for s in stray if s not in self.strays]

    def _answered(self, q: _Questions, o: Obligation, digest: str, answer: ProverAnswer) -> None:
        """A failure, or a timeout that may be the machine's fault, is asked again in the next run."""
        final = answer.verdict != "failed" and (answer.verdict != "timeout" or o.kind == "smoke")
        if final and o.id not in self.canaries:
            self.ledger.record(digest, q.prover, limits_of(o), answer)
        if o.id in self.canaries:
            self.canary_cpu += answer.cpu
        else:
            self.asked += 1
            self.prover_cpu += answer.cpu
        self._reply(q, o, digest, answer, from_ledger=False)

    def _reply(
        self, q: _Questions, o: Obligation, digest: str, answer: ProverAnswer, *, from_ledger: bool
    ) -> None:
        self.replies[o.id, q.prover.name] = ProverReply(
            q.prover.name, q.prover.version, digest, answer, from_ledger
        )
        self.on_progress(len(self.replies))


def _portions(why3: Why3, questions: Sequence[_Questions], count: int) -> Iterator[tuple[_Questions, ...]]:
    """What Why3 is asked to print in one go: whole files of about as much text, for one prover.

    Starting Why3 and reading the theories that all files use takes longer than to print most of them.
    """
    sizes = {q.file: len(why3.texts[q.file]) for q in questions}
    most = sum(sizes[q.file] for q in questions) // count
    for q in questions:
        if not q.everything:
            yield (q,)
    for _, group in groupby(
        sorted((q for q in questions if q.everything), key=lambda q: q.prover.name), key=lambda q: q.prover
    ):
        portion: list[_Questions] = []
        for q in group:
            if portion and sum(sizes[p.file] for p in portion) + sizes[q.file] > most:
                yield tuple(portion)
                portion = []
            portion.append(q)
        if portion:
            yield tuple(portion)


def _print(
    why3: Why3, portion: Sequence[_Questions], proved: frozenset[str], running: Running
) -> Mapping[str, PrintedTasks]:
    """What Why3 prints of a portion, by file."""
    first = portion[0]
    if not first.everything:
        asked = first.obligations
        return {first.file: print_tasks(why3, first.prover, first.file, proved, asked, running)}
    return print_files(why3, first.prover, [q.file for q in portion], proved, running)


def limits_of(obligation: Obligation) -> ProverLimits:
    """A smoke obligation only waits whether false turns up."""
    return SMOKE if obligation.kind == "smoke" else PROOF
