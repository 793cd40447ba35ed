"""build/proofs.json: what a run of the provers found. A status is derived from the answers, never read."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from sonnx_clip.prove.outcome import Outcome, Reply
from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file, read_regular
from sonnx_clip.root.folders import BUILD, repo_file
from sonnx_clip.root.stored import Excerpt, read_record
from sonnx_clip.whyml.rendered_goals import is_rendered

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

RECORD = "proofs.json"

TrustedKind: TypeAlias = Literal["axiom", "assumption", "symbol", "assertion", "setting", "refused"]


class StaleRecordError(UserError):
    """A record of another specification or of other files than the present ones."""


@dataclass(frozen=True)
class TrustedItem:
    """One assumption of the proofs.

    Args:
        kind: an axiom, a theory whose axioms are assumed, or a symbol that the driver gives to the provers.
        name: its full name.
        where: the file.
        statement: what is taken for granted: a formula, or SMT-LIB text.
        justification: why, in the words of the comment beside it.
        discharged_by: the obligations that show it where it is used.
    """

    kind: TrustedKind
    name: str
    where: str
    statement: str
    justification: str
    discharged_by: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line in the golden list."""
        return f"{self.kind} {self.name}: {self.statement}"


class OutcomeRecord(BaseModel):
    """The answers about one obligation.

    What it states and its status stand beside them for people. Neither is used: the theories say what is
    stated, and the status follows from the answers.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    replies: tuple[Reply, ...]


class ProofsAbout(Excerpt):
    """Who wrote the file, of which specification; the digests of the files that the proofs rest on."""

    tool: str
    spec_digest: str
    files: dict[str, str]


class ProofsRecord(Excerpt):
    """What a run of the provers found, as it is written and read."""

    format: int = 1
    about: ProofsAbout
    tools: dict[str, str]
    programs: dict[str, str] = Field(default_factory=dict)
    why3_drivers: dict[str, str] = Field(default_factory=dict)
    commands: dict[str, str] = Field(default_factory=dict)
    limits: dict[str, dict[str, int]] = Field(default_factory=dict)
    complete: bool = True
    outcomes: tuple[OutcomeRecord, ...]
    canaries: tuple[OutcomeRecord, ...] = ()
    strays: tuple[str, ...] = ()
    trusted: tuple[TrustedItem, ...] = ()

    @property
    def provers(self) -> tuple[str, ...]:
        """The provers that had to answer: every tool but Why3 itself."""
        return tuple(name for name in self.tools if name.lower() != "why3")

    def outcomes_of(self, obligations: Iterable[Obligation]) -> tuple[Outcome, ...]:
        """Each obligation with one answer of each prover; one that nobody answered has none.

        An answer without a task is none. A smoke obligation that not every prover answered has none.
        """
        # By id, whatever the order of the record is, and whatever else it has answers about.
        replies = {outcome.id: outcome.replies for outcome in (*self.outcomes, *self.canaries)}
        provers = set(self.provers)
        outcomes: list[Outcome] = []
        for obligation in obligations:
            answers = _answer_of_each(provers, replies.get(obligation.id, ()))
            # That a smoke obligation holds is shown by those who did not find false: by all of them.
            if obligation.kind == "smoke" and answers.keys() != provers:
                answers = {}
            outcomes.append(Outcome(obligation=obligation, replies=tuple(answers.values())))
        return tuple(outcomes)


def _answer_of_each(provers: set[str], replies: Iterable[Reply]) -> dict[str, Reply]:
    """The last answer of each prover to a task: two of one prover must not count as those of two."""
    answers: dict[str, Reply] = {}
    for reply in replies:
        if reply.task and reply.prover in provers:
            answers[reply.prover] = reply
    return answers


def theory_digests(root: Path | None = None) -> dict[str, str]:
    """SHA-256 of every file that the proofs use or are about, by its path: theories, drivers, C.

    Args:
        root: the folder that holds generated/ of another operator than Clip; the repository by default.
    """
    repository = repo_file("")
    folders = [(repository, "why3")]  # the hand-written theories, which every operator uses
    if root is None:
        folders += [(repository, "generated/why3"), (repository, "generated/c")]
    else:
        folders += [(root, "generated/why3")]
    digests: dict[str, str] = {}
    for above, folder in folders:
        for path in sorted((above / folder).rglob("*")):
            if path.is_file():
                digests[path.relative_to(above).as_posix()] = digest_of_file(path)
    return digests


def read_proofs(build: Path, spec: Spec) -> ProofsRecord:
    """The record of the last run that proved an operator.

    Raises:
        StaleRecordError: it is about another specification or other theories.
        UserError: it is missing or damaged.
    """
    folder, root = results_of(spec, build)
    path = folder / RECORD
    todo = f"run: {prove_command(spec, build)}"
    record = read_record(path, ProofsRecord, todo)
    require_digest(record.about.spec_digest, spec, path, todo)
    proved = record.about.files
    now = theory_digests(root)
    # Of both, since a file that is new or gone makes a record stale as one that changed does.
    for name in sorted(now.keys() | proved.keys()):
        if now.get(name) != proved.get(name):
            message = f"stale: {name} has changed since the proofs"
            raise StaleRecordError(message, str(path), todo)
    return record


def require_digest(digest: str, spec: Spec, path: Path, todo: str) -> None:
    """StaleRecordError if a record is about another specification."""
    if digest != spec.digest:
        message = f"stale: it is about {spec.file} {digest[:12]}…, not {spec.digest[:12]}…"
        raise StaleRecordError(message, str(path), todo)


def prove_command(spec: Spec, build: Path = BUILD) -> str:
    """The command that writes the record of a specification into a build folder."""
    words = ["sonnx-clip", "prove"]
    # Without the option `prove` is about the operator whose theories are in generated/.
    if not is_rendered(spec):
        words += ["--operator", spec.signature.function]
    if build != BUILD:
        words += ["--build", str(build)]
    return shlex.join(words)


def results_of(spec: Spec, build: Path) -> tuple[Path, Path | None]:
    """The folder in which `prove` leaves the results of a specification, and that above its theories.

    Those of Clip are in the repository; of any other operator both are a folder of its name.
    """
    if is_rendered(spec):
        return build, None
    own = build / spec.signature.function
    return own, own


def known(build: Path, spec: Spec, obligations: Iterable[Obligation]) -> dict[str, Outcome]:
    """What is recorded of obligations, by id; nothing if there is no record of these theories.

    Args:
        build: the build folder.
        spec: the specification that is explained.
        obligations: those that are asked for.
    """
    folder, root = results_of(spec, build)
    obligation_by_id = {obligation.id: obligation for obligation in obligations}
    try:
        with without_collection():
            document = json.loads(read_regular(folder / RECORD))
        # A record has thousands of answers, and each that is read as a model takes its time. Canaries say
        # nothing of an entry.
        rows = [row for row in document["outcomes"] if row["id"] in obligation_by_id]
        record = ProofsRecord.model_validate({**document, "outcomes": rows, "canaries": []})
    except (OSError, ValueError, KeyError, TypeError):
        # An explanation does without a record. What is wrong with it, the evidence says.
        return {}
    if record.about.spec_digest != spec.digest:
        return {}
    # Last, since every theory is read for it.
    if record.about.files != theory_digests(root):
        return {}
    recorded = [obligation_by_id[outcome.id] for outcome in record.outcomes]
    return {outcome.obligation.id: outcome for outcome in record.outcomes_of(recorded)}
