"""build/proofs.json, what `sonnx-clip prove` found: read, compared with the specification, derived again.

A stated status is not believed: it is derived again from the provers' replies by the rule of
`sonnx_clip.prove.outcome`, and a difference is refused.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import Field

from sonnx_clip.claims.claim import Kind, Obligation
from sonnx_clip.evidence.read import read_record, require_digest
from sonnx_clip.prove.outcome import Outcome, ProverReply, Status
from sonnx_clip.prove.proofs_report import theory_digests
from sonnx_clip.prove.provers import ProverAnswer, ProverVerdict
from sonnx_clip.prove.standing import StandingKind
from sonnx_clip.prove.trusted import TrustedKind
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sonnx_clip.spec import Spec

AGAIN = "run `sonnx-clip prove`"
_OF_OBLIGATION = tuple(field.name for field in fields(Obligation))


class ReplyRecord(Excerpt):
    """The answer of one prover: `task` is the digest of the task text, `cpu` is in seconds."""

    prover: str
    version: str
    verdict: ProverVerdict
    cpu: float = Field(ge=0)
    task: str
    from_ledger: bool
    words: str


class OutcomeRecord(Excerpt):
    """An obligation, the status that is stated of it, and the replies that must bear it out."""

    id: str
    kind: Kind
    subject: str
    shows: tuple[str, ...]
    title: str
    file: str
    theory: str
    goal: str
    statement: str

    status: Status
    standing: StandingKind = "counts"
    repeats: str = ""
    witness: dict[str, str] | None = None
    commands: dict[str, str]
    replies: tuple[ReplyRecord, ...]

    @cached_property
    def obligation(self) -> Obligation:
        """The same as the provers know it."""
        return Obligation(**{name: getattr(self, name) for name in _OF_OBLIGATION})

    def derived_status(self, provers: Sequence[str]) -> Status:
        """The status that follows from the replies; false must have been looked for by every prover."""
        answers = tuple(
            ProverReply(r.prover, r.version, r.task, ProverAnswer(r.verdict, r.words, r.cpu), r.from_ledger)
            for r in self.replies
        )
        if self.kind == "smoke" and {r.prover for r in self.replies} != set(provers):
            return "not proved"
        return Outcome(self.obligation, answers).status


class Trusted(Excerpt):
    """What is believed without proof, why, and which obligations discharge it where it is used."""

    kind: TrustedKind
    name: str
    where: str
    statement: str
    justification: str
    discharged_by: tuple[str, ...] = ()


class ProofsAbout(Excerpt):
    """Who wrote the file, of which specification; the digests of the files that the proofs rest on."""

    tool: str
    spec_digest: str
    files: dict[str, str]


class ProofRun(Excerpt):
    """How many questions were asked, and the seconds that it took."""

    asked: int
    wall: float
    prover_cpu: float
    why3_cpu: float


class ProofsRecord(Excerpt):
    """What a run of the provers found."""

    about: ProofsAbout
    tools: dict[str, str]
    why3_drivers: dict[str, str] = Field(default_factory=dict)
    commands: dict[str, str] = Field(default_factory=dict)
    limits: dict[str, dict[str, int]] = Field(default_factory=dict)
    run: ProofRun
    complete: bool
    outcomes: tuple[OutcomeRecord, ...] = Field(min_length=1)
    strays: tuple[str, ...] = ()
    trusted: tuple[Trusted, ...] = ()

    @property
    def provers(self) -> tuple[str, ...]:
        """The provers that had to answer: every tool but Why3 itself."""
        return tuple(name for name in self.tools if name.lower() != "why3")


def read_proofs(build: Path, spec: Spec, wanted: Iterable[Obligation]) -> ProofsRecord:
    """The outcomes of all obligations, each with the status that its replies bear out.

    Args:
        build: the folder that holds proofs.json.
        spec: the specification of which the file must speak.
        wanted: what is to be shown, as the theories have it now.

    Raises:
        UserError: the file is missing, damaged or stale, or states what its replies do not bear out.
    """
    path = build / "proofs.json"
    proofs, _ = read_record(path, ProofsRecord, AGAIN)
    require_digest(proofs.about.spec_digest, spec, path, AGAIN)
    _same_files(path, proofs.about.files)
    _same_obligations(path, proofs, wanted)
    seen: set[str] = set()
    for outcome in proofs.outcomes:
        if outcome.id in seen:
            raise UserError(f"{outcome.id} is there twice", str(path), AGAIN)
        seen.add(outcome.id)
        _borne_out(path, outcome, proofs.provers)
    return proofs


def _same_files(path: Path, proved: dict[str, str]) -> None:
    """What was proved must rest on the theories as they are now."""
    now = theory_digests()
    for name in sorted(now.keys() | proved.keys()):
        if now.get(name) != proved.get(name):
            raise UserError(f"stale: {name} has changed since the proofs", str(path), AGAIN)


def _same_obligations(path: Path, proofs: ProofsRecord, wanted: Iterable[Obligation]) -> None:
    """What was proved under an id must be what the id stands for now."""
    by_id = {o.id: o for o in wanted}
    for outcome in proofs.outcomes:
        now = by_id.get(outcome.id)
        if now is not None and now != outcome.obligation:
            what = f"stale: {outcome.id} has changed since it was proved"
            raise UserError(what, str(path), AGAIN)
        if now is None:
            raise UserError(f"stale: there is no obligation {outcome.id} any more", str(path), AGAIN)


def _borne_out(path: Path, outcome: OutcomeRecord, provers: Sequence[str]) -> None:
    names = [r.prover for r in outcome.replies]
    if unknown := sorted(set(names) - set(provers)):
        raise UserError(f"{outcome.id}: {unknown[0]} replied, which is none of the tools", str(path), AGAIN)
    if len(set(names)) != len(names):
        raise UserError(
            f"{outcome.id}: one prover replied twice, which makes no second proof", str(path), AGAIN
        )
    if any(r.verdict == "valid" and not r.task for r in outcome.replies):
        raise UserError(f"{outcome.id}: an answer without a task proves nothing", str(path), AGAIN)
    derived = outcome.derived_status(provers)
    if derived != outcome.status:
        said = ", ".join(f"{r.prover} {r.verdict}" for r in outcome.replies) or "nobody replied"
        what = f"{outcome.id} is stated as `{outcome.status}`, its replies say `{derived}` ({said})"
        raise UserError(what, str(path), AGAIN)
