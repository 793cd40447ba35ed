"""The proofs of one operator: what its record comes to, the counts, and what is open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.evidence.evidence_model import ObligationEvidence, Totals
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

_OF_TASKS = ("assertion", "setting", "refused")


@dataclass(frozen=True)
class ProofResults:
    """What follows from a record of proofs: statuses, the answers to false statements, the trusted base.

    `unaccounted` has a line for each thing that nobody has reviewed or given a reason for.
    """

    obligations: tuple[ObligationEvidence, ...]
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
    obligations = tuple(
        ObligationEvidence(obligation=o.obligation, status=o.status, replies=o.replies)
        for o in proofs.outcomes_of(operator.generated.obligations)
    )
    _, canaries = render_canaries(spec)  # false statements, which each prover must refute
    texts = dict(theory_texts(operator.theories_root))
    in_tasks = (item for item in proofs.trusted if item.kind in _OF_TASKS)
    # What the theories assume is read again, and not taken from the record.
    assumed = (*trusted(operator.generated.obligations, texts), *in_tasks)
    new = surprises(assumed)
    if (
        operator.theories_root
    ):  # the golden list is that of all theories, and these are a part of them
        new = [line for line in new if not line.startswith("- ")]
    unaccounted = (
        *proofs.strays,
        *(f"trusted base: {line}" for line in new),
        *(f"trusted base: no reason for {t.name}" for t in assumed if not t.justification.strip()),
    )
    return ProofResults(obligations, proofs.outcomes_of(canaries), assumed, unaccounted)


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
    for o in results.obligations:
        if o.status == "not proved":
            answers = ", ".join(f"{r.prover} {r.verdict}" for r in o.replies)
            yield f"not proved: {o.obligation.id}: {answers or 'no prover answered'}"
    for canary in results.canaries:
        if canary.status != "proved":
            yield f"a statement planted as false (a canary) was not refuted: {canary.obligation.id}"
    provers = set(operator.proofs.provers)
    unasked = sum({r.prover for r in o.replies} != provers for o in results.obligations)
    if unasked:
        yield f"not answered by every prover: {counted(unasked, 'obligation')}"
    for entry in entries:
        if entry.gaps:
            yield f"no obligation shows {entry.id} in {', '.join(entry.gaps)}"
    for line in unaccounted:
        yield f"unaccounted for: {line}"


def totals_of(
    operator: ProvedOperator,
    obligations: Sequence[ObligationEvidence],
    entries: Sequence[Entry],
    opened: Iterable[str],
) -> Totals:
    """The counts of an operator, with what is open."""
    goals = [o for o in obligations if o.obligation.kind != "smoke"]
    smoke = [o for o in obligations if o.obligation.kind == "smoke"]
    status = Counter(o.status for o in goals)
    return Totals(
        obligations=len(goals),
        tasks=distinct_tasks((r.task for r in o.replies) for o in goals),
        by_two=status["proved"],
        by_one=status["proved by one"],
        not_proved=status["not proved"],
        smoke=len(smoke),
        smoke_held=sum(o.status == "proved" for o in smoke),
        requirements=sum(e.requirement for e in entries),
        refuted=sum(e.refuted for e in entries if e.section == "properties"),
        findings=len(operator.spec.findings),
        vectors=sum(map(len, operator.vectors.values())),
        open=tuple(opened),
    )
