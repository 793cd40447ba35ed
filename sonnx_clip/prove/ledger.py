"""The ledger: keeps each prover's answer under the digest of its task, so that no task is proved twice.

An answer is kept under the digest of the exact task text, the prover's name, version and digest, and the
command with its limits. A change of any of these makes it a new question. Each answer is committed as it
arrives: a run that is killed goes on where it was.

What Why3 printed of a theory file is kept under the digest of everything that Why3 read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.prove.provers import Prover, ProverLimits, reply
from sonnx_clip.root.store import Store, StoreKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.prove.accounts import GoalName, Said
    from sonnx_clip.prove.outcome import Reply

_KIND = StoreKind(
    noun="ledger",
    application=0x736E786C,  # "snxl"
    format=3,
    if_other="remove the file and run again",
    if_damaged="remove the file and run again",
    is_durable=False,  # thousands of answers come at once, and a lost one is asked for again
)


@dataclass(frozen=True)
class Listing:
    """What Why3 printed of a theory file for a prover.

    Args:
        tasks: the digest of each task.
        said: what the tasks say besides premises and goals; all of it was accounted for.
    """

    tasks: Mapping[GoalName, str]
    said: frozenset[Said]


class Ledger:
    """The ledger in an SQLite file; threads may share it.

    Args:
        path: the file; made when it is missing.

    Raises:
        UserError: the file is no ledger, or is damaged, or cannot be written; from every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store = Store(path, _KIND)

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def answer(self, task: str, prover: Prover, limits: ProverLimits) -> Reply | None:
        """The answer of a prover to exactly this task, or None."""
        key = _answer_key(task, prover, limits)
        row = self._store.newest(key, f"an answer of {prover.name}")
        if row is None:
            return None
        verdict, words, cpu = json.loads(row.value)
        return reply(prover, task, verdict, words, cpu, limits.resources)

    def record(self, answer: Reply, prover: Prover, limits: ProverLimits) -> None:
        """Keep an answer."""
        key = _answer_key(answer.task, prover, limits)
        # All else of the reply is in the key.
        value = json.dumps([answer.verdict, answer.words, answer.cpu])
        self._store.add(key, value, prover.name)

    def forget(self, task: str, prover: Prover, limits: ProverLimits) -> None:
        """Remove an answer: the prover now returns another, or none."""
        # Else the next run would take the old one, and not see what has just failed.
        self._store.remove(_answer_key(task, prover, limits))

    def listing(self, source: str, prover: str) -> Listing | None:
        """What Why3 printed from a source for a prover, or None."""
        row = self._store.newest(_listing_key(source, prover), f"the tasks for {prover}")
        if row is None:
            return None
        task_rows, said_rows = json.loads(row.value)
        # JSON has neither keys of two parts nor sets: a task is a row of theory, goal and digest.
        tasks = {(theory, goal): digest for theory, goal, digest in task_rows}
        said = frozenset((kind, name, text) for kind, name, text in said_rows)
        return Listing(tasks, said)

    def record_listing(self, source: str, prover: str, listing: Listing) -> None:
        """Keep what Why3 printed."""
        tasks = [(*goal, digest) for goal, digest in listing.tasks.items()]
        value = json.dumps([tasks, sorted(listing.said)])  # read by `listing`
        self._store.add(_listing_key(source, prover), value, f"tasks for {prover}")


def _answer_key(task: str, prover: Prover, limits: ProverLimits) -> str:
    # A program or library that is replaced has given no answer yet.
    version = f"{prover.version} {prover.digest} {prover.libraries}"
    command = prover.within(limits)
    return json.dumps(["answer", task, prover.name, version, command])


def _listing_key(source: str, prover: str) -> str:
    return json.dumps(["tasks", source, prover])
