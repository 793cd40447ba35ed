"""Derives the status of an obligation from its provers' replies: for `prove`, `explain`, the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field, computed_field

from sonnx_clip.claims.claim import Obligation
from sonnx_clip.root.stored import Excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable

ProverVerdict: TypeAlias = Literal["valid", "countermodel", "unknown", "timeout", "failed"]
Status: TypeAlias = Literal["proved", "proved by one", "not proved"]


class Reply(Excerpt):
    """The answer of one prover to one task: as it is given, kept in the ledger and held by build/proofs.json.

    Of the verdicts ``valid`` is the only one that proves anything. `task` is the digest of the task's text,
    and empty if there was no task. `words` is what the prover printed last, for people; `cpu` is in seconds,
    start-up included, and `resources` the limit of its own steps that it was given.
    """

    prover: str
    version: str
    verdict: ProverVerdict
    cpu: float = Field(ge=0)
    task: str
    words: str
    resources: int = Field(default=0, ge=0)


class Outcome(Excerpt):
    """An obligation with the replies of all provers that had to answer, as evidence.json has it too.

    Its status is derived from the replies: a record that states another one has no effect.

    For a smoke obligation ``proved`` means that every prover answered and none derived false; for a canary,
    that every prover refuted it.
    """

    obligation: Obligation
    replies: tuple[Reply, ...]

    @property
    def proved_by(self) -> tuple[str, ...]:
        """The provers that showed it."""
        showing: tuple[ProverVerdict, ...] = ("valid",)
        if self.obligation.kind == "smoke":
            # The search for a contradiction ended without one. A prover that failed did not search.
            showing = ("countermodel", "unknown", "timeout")
        elif self.obligation.kind == "canary":
            showing = ("countermodel",)
        return tuple(reply.prover for reply in self.replies if reply.verdict in showing)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> Status:
        """Whether two provers showed it, one, or none.

        A countermodel overrules a proof, and so does a failure: a prover that crashed or talked nonsense
        is looked into, and not made good by the other. That it does not know, or not in time, is no fault.
        """
        verdicts = {reply.verdict for reply in self.replies}
        shown = len(self.proved_by)
        if self.obligation.kind in ("smoke", "canary"):
            # Of no replies all would show it: what nobody looked at is not shown.
            by_all = bool(self.replies) and shown == len(self.replies)
            return "proved" if by_all else "not proved"
        if shown == 0 or not verdicts.isdisjoint(("countermodel", "failed")):
            return "not proved"
        return "proved" if shown >= 2 else "proved by one"

    @property
    def answers(self) -> str:
        """Each prover with its version and its answer."""
        return ", ".join(f"{r.prover} {r.version}: {r.verdict}" for r in self.replies)

    @property
    def cpu(self) -> float:
        """Seconds of processor time that the provers used."""
        return sum(reply.cpu for reply in self.replies)

    @property
    def failed_replies(self) -> tuple[Reply, ...]:
        """The replies that did not show it."""
        return tuple(reply for reply in self.replies if reply.prover not in self.proved_by)


def distinct_tasks(asked: Iterable[Iterable[str]]) -> int:
    """The number of distinct tasks, from the digests of the tasks of each obligation."""
    # Each prover has a text of its own, so that a task is a set of digests; some obligations have none.
    tasks = set(map(frozenset, asked))
    tasks.discard(frozenset())
    return len(tasks)
