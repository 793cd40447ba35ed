"""`sonnx-clip verify`: what the records state is computed again, and a sample of it is asked again.

The checks are those of `evidence`, but Why3 prints every task anew and every generated file is rendered. The
sample is drawn by a seed, so that whoever repeats the run asks the same questions.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.conform.repeat import answers_again
from sonnx_clip.evidence.collect import read_inputs
from sonnx_clip.evidence.read import require_installed
from sonnx_clip.prove.prove_all import limits_of
from sonnx_clip.prove.provers import ask, find_provers
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import Running
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.runtime import KNOWN
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.evidence.collect import Inputs
    from sonnx_clip.evidence.proof_records import OutcomeRecord, ReplyRecord

    _T = TypeVar("_T")

SEED = 12
_NO_ANSWER = "unknown", "timeout"  # neither shows anything, and which of them comes depends on the machine


@dataclass(frozen=True)
class Verified:
    """What a run of `verify` did.

    Args:
        replies: how many replies of provers are borne out by what they state.
        replayed: how many of them were asked again and answered alike.
        deviations: how many deviations are recorded.
        repeated: how many of them were called again and came out alike.
        absent: runtimes that are not installed here, whose deviations cannot be repeated.
    """

    replies: int
    replayed: int
    deviations: int
    repeated: int
    absent: tuple[str, ...]

    @property
    def line(self) -> str:
        """The counts in one line."""
        text = (
            f"borne out: {self.replies} replies of provers, {self.replayed} of them asked again; "
            f"{counted(self.deviations, 'recorded deviation')}, {self.repeated} of them called again"
        )
        return text + (f"; not installed here: {', '.join(self.absent)}" if self.absent else "")


def verify(build: Path, replay: float, say: Callable[[str], None] = lambda _: None) -> Verified:
    """Compute again what the records in `build` state, and ask a part of it again.

    Args:
        build: the folder of proofs.json, the ledger and verdicts/.
        replay: the part of the replies and of the recorded deviations that is asked again, 0 to 1.
        say: called with what is being done.

    Raises:
        UserError: the first statement that is not borne out, with its place.
    """
    spec = load_spec()
    wanted = tuple(all_obligations(spec))
    say("printing every task, rendering every file, counting again")
    texts: dict[str, str] = {}
    return ask_again(
        build, read_inputs(build, spec, wanted, repo_file("generated"), texts), texts, replay, say
    )


def ask_again(
    build: Path, found: Inputs, texts: Mapping[str, str], replay: float, say: Callable[[str], None]
) -> Verified:
    """Ask a part of what the records state again.

    Args:
        build: as for `verify`.
        found: what the records state.
        texts: the tasks by their digests.
        replay: as for `verify`.
        say: likewise.

    Raises:
        UserError: the first answer that is another one.
    """
    absent = require_installed(found.reports, "")
    replies = [(o, r) for o in found.proofs.outcomes for r in o.replies if r.task]
    deviations = [
        (name, of_type.type, klass.id, deviation)
        for name, report in found.reports.items()
        for of_type in report.types
        for klass in of_type.classes
        for deviation in klass.deviations
    ]
    asked = sample(replies, replay)
    say(f"asking provers again: {len(asked)} replies of {len(replies)}")
    _ask_again(build, asked, texts)
    # A record may name any file or program as its runtime; only the adapters of this package are started.
    here = [d for d in deviations if d[0] in KNOWN and d[0] not in absent and d[3].got is not None]
    called = sample(here, replay)
    say(f"calling runtimes again: {counted(len(called), 'deviation')} of {len(deviations)}")
    for name, type_id, klass, deviation in called:
        _call_again(build, name, type_id, klass, deviation)
    return Verified(len(replies), len(asked), len(deviations), len(called), absent)


def sample(every: Sequence[_T], part: float) -> list[_T]:
    """A part of a list, drawn by the seed, in the order of the list; at least one if the part is not 0."""
    size = min(len(every), max(1, round(len(every) * part))) if part > 0 else 0
    chosen = sorted(random.Random(SEED).sample(range(len(every)), size))  # noqa: S311 - no secret
    return [every[index] for index in chosen]


def _ask_again(
    build: Path, asked: Sequence[tuple[OutcomeRecord, ReplyRecord]], texts: Mapping[str, str]
) -> None:
    """UserError if a prover now says otherwise of a task than is recorded; `texts`: by digest."""
    provers = {prover.name: prover for prover in find_provers()}
    with tempfile.TemporaryDirectory() as folder, Running() as running:
        for outcome, reply in asked:
            o, text = outcome.obligation, texts[reply.task]
            answer = ask(provers[reply.prover], text, reply.task, limits_of(o), Path(folder), running)
            if answer.verdict != reply.verdict and {answer.verdict, reply.verdict} != {*_NO_ANSWER}:
                what = (
                    f"{o.id}: {reply.prover} is stated as {reply.verdict}, asked again it is {answer.verdict}"
                )
                raise UserError(what, str(build / "proofs.json"), "run `sonnx-clip prove`")


def _call_again(build: Path, name: str, type_id: str, klass: str, deviation: Deviation) -> None:
    """UserError if the runtime, called with the recorded operands, does not give the recorded answer."""
    where = f"{type_id}, {klass}"
    path = str(build / "verdicts" / f"{name}.json")
    todo = f"run `sonnx-clip check --runtime {name} --again`"
    try:
        answers = answers_again(name, type_id, deviation)
    except ValueError as error:
        raise UserError(f"{where}: its operands or layout cannot be read: {error}", path, todo) from None
    if deviation.got not in answers:
        found = ", ".join(answers)[:160]
        raise UserError(f"{where}: {deviation.got} is recorded, called again it answers {found}", path, todo)
