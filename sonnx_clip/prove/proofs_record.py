"""build/proofs.json as a model. A status is derived from the provers' answers, never read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from sonnx_clip.claims.claim import Obligation
from sonnx_clip.prove.outcome import Outcome, ProverReply, Status
from sonnx_clip.prove.proofs_report import theory_digests
from sonnx_clip.prove.provers import ProverAnswer, ProverVerdict
from sonnx_clip.prove.trusted import TrustedKind
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Excerpt, read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sonnx_clip.spec import Spec

RECORD = "proofs.json"
AGAIN = "run `sonnx-clip prove`"


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
    """The answers about one obligation. What the obligation states is not read: the theories say it."""

    id: str
    replies: tuple[ReplyRecord, ...]


class TrustedRecord(Excerpt):
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


class ProofsRecord(Excerpt):
    """What a run of the provers found."""

    about: ProofsAbout
    tools: dict[str, str]
    programs: dict[str, str] = Field(default_factory=dict)
    why3_drivers: dict[str, str] = Field(default_factory=dict)
    limits: dict[str, dict[str, int]] = Field(default_factory=dict)
    outcomes: tuple[OutcomeRecord, ...]
    canaries: tuple[OutcomeRecord, ...] = ()
    strays: tuple[str, ...] = ()
    trusted: tuple[TrustedRecord, ...] = ()

    @property
    def provers(self) -> tuple[str, ...]:
        """The provers that had to answer: every tool but Why3 itself."""
        return tuple(name for name in self.tools if name.lower() != "why3")

    def outcomes_of(self, obligations: Iterable[Obligation]) -> tuple[Outcome, ...]:
        """Each obligation with one answer of each prover; one that nobody answered has none.

        An answer without a task is none. A smoke obligation that not every prover answered has none.
        """
        replies = {outcome.id: outcome.replies for outcome in (*self.outcomes, *self.canaries)}
        found = []
        for o in obligations:
            given = replies.get(o.id, ())
            answers = {r.prover: _reply(r) for r in given if r.task and r.prover in self.provers}
            if o.kind == "smoke" and answers.keys() != set(self.provers):
                answers = {}
            found.append(Outcome(o, tuple(answers.values())))
        return tuple(found)


def _reply(r: ReplyRecord) -> ProverReply:
    return ProverReply(r.prover, r.version, r.task, ProverAnswer(r.verdict, r.words, r.cpu), r.from_ledger)


def read_proofs(build: Path, spec: Spec) -> ProofsRecord:
    """The record of the last run.

    Raises:
        UserError: it is missing or damaged, or speaks of another specification or of other theories.
    """
    path = build / RECORD
    record = read_record(path, ProofsRecord, AGAIN)
    require_digest(record.about.spec_digest, spec, path, AGAIN)
    proved, now = record.about.files, theory_digests()
    for name in sorted(now.keys() | proved.keys()):
        if now.get(name) != proved.get(name):
            raise UserError(f"stale: {name} has changed since the proofs", str(path), AGAIN)
    return record


def require_digest(found: str, spec: Spec, path: Path, todo: str) -> None:
    """UserError if a record speaks of another specification."""
    if found != spec.digest:
        what = f"stale: it speaks of a spec/clip.yaml {found[:12]}…, this one is {spec.digest[:12]}…"
        raise UserError(what, str(path), todo)


@dataclass(frozen=True)
class Known:
    """What the provers showed of an obligation: its status, and the names of those that proved it."""

    status: Status
    proved_by: tuple[str, ...]


def known(build: Path, spec_digest: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Known]:
    """What is recorded of obligations, by id; nothing if there is no record of these theories.

    Args:
        build: the folder that holds proofs.json.
        spec_digest: SHA-256 of the specification that is explained.
        rows: the obligations, as in generated/why3/obligations.json.
    """
    try:
        record = read_record(build / RECORD, ProofsRecord, AGAIN)
    except UserError:
        return {}
    if record.about.spec_digest != spec_digest or record.about.files != theory_digests():
        return {}
    ids = {outcome.id for outcome in record.outcomes}
    names = Obligation.__dataclass_fields__
    wanted = [Obligation(**{name: row[name] for name in names}) for row in rows if row["id"] in ids]
    return {o.obligation.id: Known(o.status, o.proved_by) for o in record.outcomes_of(wanted)}
