"""The proofs of one operator: what its record comes to, the counts, and what is open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.evidence.evidence_model import Totals
from sonnx_clip.prove.outcome import distinct_tasks
from sonnx_clip.prove.statements import rendered_differences
from sonnx_clip.prove.trusted import surprises, trusted
from sonnx_clip.root.terminal import counted
from sonnx_clip.whyml.hand_written import theory_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.evidence.evidence_model import Entry
    from sonnx_clip.evidence.records import ProvedOperator
    from sonnx_clip.prove.outcome import Outcome
    from sonnx_clip.prove.proofs_record import TrustedItem

# What is only seen in the tasks that Why3 made, and so can be taken from the record alone.
_OF_TASKS = ("assertion", "setting", "refused")


@dataclass(frozen=True)
class ProofResults:
    """What follows from a record of proofs: statuses, the answers to false statements, the trusted base.

    `unaccounted` has a line for each thing that nobody has reviewed or given a reason for.
    """

    obligations: tuple[Outcome, ...]
    canaries: tuple[Outcome, ...]
    trusted: tuple[TrustedItem, ...]
    unaccounted: tuple[str, ...]

    @property
    def replies(self) -> int:
        """The number of answers of provers."""
        return sum(len(o.replies) for o in self.obligations)


def proof_results(operator: ProvedOperator) -> ProofResults:
    """Derive the results of an operator from its record and its theories."""
    spec, proofs = operator.spec, operator.proofs
    canaries = render_canaries(spec).obligations  # false statements, which each prover must refute
    texts = dict(theory_texts(operator.theories_root))
    in_tasks = (item for item in proofs.trusted if item.kind in _OF_TASKS)
    # What the theories assume is read again, and not taken from the record.
    assumed = (*trusted(operator.generated.obligations, texts), *in_tasks)

    deviations = surprises(assumed)
    if operator.theories_root:
        # The golden list is that of all theories, of which this operator has a part: what it lacks
        # is nothing that is gone.
        deviations = [line for line in deviations if not line.startswith("- ")]
    unaccounted = [*proofs.strays]
    unaccounted += [f"trusted base: {line}" for line in deviations]
    for item in assumed:
        if not item.justification.strip():
            unaccounted.append(f"trusted base: no reason for {item.name}")
    return ProofResults(
        obligations=proofs.outcomes_of(operator.generated.obligations),
        canaries=proofs.outcomes_of(canaries),
        trusted=assumed,
        unaccounted=tuple(unaccounted),
    )


def statements_not_reviewed(operator: ProvedOperator) -> Iterator[str]:
    """A line for each rendered statement that the list of reviewed statements does not have."""
    for line in rendered_differences(operator.spec, operator.generated.files):
        yield f"not as reviewed: {line}"


def open_points(
    operator: ProvedOperator,
    results: ProofResults,
    entries: Iterable[Entry],
    unaccounted: Iterable[str],
) -> Iterator[str]:
    """A line for everything of an operator that its proofs do not show."""
    for outcome in results.obligations:
        if outcome.status == "not proved":
            answers = ", ".join(f"{reply.prover} {reply.verdict}" for reply in outcome.replies)
            yield f"not proved: {outcome.obligation.id}: {answers or 'no prover answered'}"
    for canary in results.canaries:
        # A canary is `proved` if every prover refuted it.
        if canary.status != "proved":
            yield f"a statement planted as false (a canary) was not refuted: {canary.obligation.id}"

    incomplete = _incomplete(results.obligations, set(operator.proofs.provers))
    if incomplete:
        # Counted, not listed: where a prover was left out, these are all obligations.
        yield f"not answered by every prover: {counted(incomplete, 'obligation')}"

    for entry in entries:
        if entry.gaps:
            yield f"no obligation shows {entry.id} in {', '.join(entry.gaps)}"
    for line in unaccounted:
        yield f"unaccounted for: {line}"


def _incomplete(outcomes: Iterable[Outcome], provers: set[str]) -> int:
    """How many obligations were not answered by every prover."""
    answering = ({reply.prover for reply in outcome.replies} for outcome in outcomes)
    return sum(names != provers for names in answering)


def operator_totals(
    operator: ProvedOperator,
    outcomes: Sequence[Outcome],
    entries: Sequence[Entry],
    opened: Iterable[str],
) -> Totals:
    """The counts of an operator, with what is open."""
    goals = [o for o in outcomes if o.obligation.kind != "smoke"]
    smoke = [o for o in outcomes if o.obligation.kind == "smoke"]
    statuses = Counter(o.status for o in goals)
    # Obligations that state the same share a task.
    tasks = distinct_tasks((reply.task for reply in goal.replies) for goal in goals)
    return Totals(
        obligations=len(goals),
        tasks=tasks,
        by_two=statuses["proved"],
        by_one=statuses["proved by one"],
        not_proved=statuses["not proved"],
        smoke=len(smoke),
        smoke_held=sum(o.status == "proved" for o in smoke),
        requirements=sum(entry.requirement for entry in entries),
        refuted=sum(entry.refuted for entry in entries if entry.requirement),
        findings=len(operator.spec.findings),
        vectors=sum(map(len, operator.vectors.values())),
        open=tuple(opened),
    )
