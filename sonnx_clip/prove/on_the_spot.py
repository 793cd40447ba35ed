"""Proves of two terms that the critical points decide whether one may take the place of the other.

The question is a command's, so the answer is not recorded: nothing is left in the build folder.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from sonnx_clip.backends.drivers import PROOF_RESOURCES
from sonnx_clip.backends.rewrites_of_integers import critical_points_suffice_in
from sonnx_clip.backends.rewrites_theory import critical_points_suffice, lacks
from sonnx_clip.prove.outcome import Outcome
from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.rewrites.critical_points import OPPOSITES
from sonnx_clip.rewrites.terms import functions_in, type_of_clip
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.backends.theory import Module
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.prove.outcome import ProverVerdict, Reply
    from sonnx_clip.prove.provers import Prover
    from sonnx_clip.prove.snapshot import Why3

SECONDS: Final = 30
"""What all of it may take, Why3 included. Usual terms take two seconds on a quiet machine."""
_PROGRAMS: Final = {"Why3": "why3", "Z3": "z3", "cvc5": "cvc5"}
_WORDS: Final[Mapping[ProverVerdict, str]] = {
    "valid": "proved",
    "countermodel": "refuted, without the neighbours of constants",
    "unknown": "unknown",
    "timeout": "out of time",
    "failed": "failed",
}


@dataclass(frozen=True)
class Sufficiency:
    """What the provers show of two terms.

    Args:
        provers: those that prove that the critical points suffice, if no other one contradicts them.
        reason: why they are not all; empty if they are.
    """

    provers: tuple[str, ...] = ()
    reason: str = ""

    @property
    def status(self) -> Literal["proved", "proved by one", "argued"]:
        """How well it is known; without a proof it is argued in docs/rewrites.md."""
        if not self.provers:
            return "argued"
        return "proved by one" if self.reason else "proved"


def prove_sufficiency(
    before: Expr,
    after: Expr,
    type_id: str,
    seconds: float | None = None,
) -> Sufficiency:
    """Have Z3 and cvc5 prove that the critical points suffice for two terms, for all constants.

    Args:
        before: the term that is replaced.
        after: the term that replaces it.
        type_id: the element type. Of integers the answer is about this type if a term has an opposite, and
            else, as of floats, about all types of the family.
        seconds: what it may take; `SECONDS` by default.
    """
    seconds = SECONDS if seconds is None else seconds
    for name, program in _PROGRAMS.items():
        if shutil.which(program) is None:
            return Sufficiency(reason=f"{name} is not installed")
    etype = type_of_clip(type_id)
    missing = lacks(etype.family, before, after)
    if missing:
        reason = f"the abstract theory of the family {etype.family} has no {missing}"
        return Sufficiency(reason=reason)
    # The abstract integers have no opposite, so that terms with one are stated in the element type.
    if etype.family == "int" and functions_in(before, after) & OPPOSITES:
        module = critical_points_suffice_in(etype, before, after)
    else:
        module = critical_points_suffice(before, after, etype.family)
    with tempfile.TemporaryDirectory() as folder, Running() as running:
        # One limit for all programs together; that of a prover is for it alone.
        guard = threading.Timer(seconds, running.stop)
        guard.start()
        # Whatever goes wrong is a reason why it is argued only: the decision itself stands.
        try:
            outcomes = _outcomes(module, Path(folder), running, seconds)
        except UserError as error:  # a tool does not run, or Why3 does not accept the statement
            answer = Sufficiency(reason=error.what)
        else:
            answer = _summary(outcomes)
        finally:
            guard.cancel()
        if running.stopped:  # what a tool says that was killed is not why
            return Sufficiency(reason=f"Why3, Z3 and cvc5 had no answer within {seconds:g} s")
    return answer


def _outcomes(
    module: Module,
    folder: Path,
    running: Running,
    seconds: float,
) -> list[Outcome]:
    """The goals of a module with the replies of the provers, which run side by side."""
    why3 = configure(folder)
    provers = find_provers()
    file = folder / "critical_points.mlw"
    file.write_text(module.text, encoding="utf-8")

    expected = {goal.name for goal in module.goals}

    def replies_of(prover: Prover) -> dict[str, Reply]:
        return _replies(why3, prover, file, expected, running, seconds)

    with ThreadPoolExecutor(len(provers)) as pool:
        replies_by_prover = list(pool.map(replies_of, provers))
    outcomes = []
    for obligation in module.obligations("rewrites", str(file)):
        replies = [by_goal[obligation.goal] for by_goal in replies_by_prover]
        outcomes.append(Outcome(obligation=obligation, replies=tuple(replies)))
    return outcomes


def _replies(
    why3: Why3,
    prover: Prover,
    file: Path,
    expected: set[str],
    running: Running,
    seconds: float,
) -> dict[str, Reply]:
    """What a prover answers to each goal of a file; UserError if Why3 prints others than expected."""
    path = str(file)
    printed = print_tasks(why3, prover, (path,), running)[path]
    goals = {goal for _, goal in printed.tasks}
    # As in `prove`: a task that is not accounted for may assert anything.
    if printed.complaint or printed.account.refused or goals != expected:
        raise UserError("Why3 does not print the statement")
    whole_seconds = max(1, int(seconds))
    limits = ProverLimits(PROOF_RESOURCES[prover.name], seconds=whole_seconds)
    replies = {}
    for (_, goal), task in printed.tasks.items():
        replies[goal] = ask(
            prover,
            task.text,
            task.digest,
            limits,
            file.parent,
            running,
        )
    return replies


def _summary(outcomes: list[Outcome]) -> Sufficiency:
    """The provers that prove every goal; none if a goal is refuted by one, or one failed."""
    # Of each prover, its first verdict that is no proof, if there is one.
    verdicts: dict[str, ProverVerdict] = {}
    for outcome in outcomes:
        for reply in outcome.replies:
            if verdicts.get(reply.prover, "valid") == "valid":
                verdicts[reply.prover] = reply.verdict

    answers = [f"{name}: {_WORDS[verdict]}" for name, verdict in verdicts.items()]
    reason = ", ".join(answers)
    # A prover that proves every goal does not count where the other refutes one.
    if any(outcome.status == "not proved" for outcome in outcomes):
        return Sufficiency(reason=reason)
    provers = tuple(name for name, verdict in verdicts.items() if verdict == "valid")
    if len(provers) == len(verdicts):
        return Sufficiency(provers)
    return Sufficiency(provers, reason)
