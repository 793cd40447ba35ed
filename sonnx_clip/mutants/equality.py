"""Has the provers show that mutants mean the same as what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.prove.provers import ProverLimits, ask, find_provers
from sonnx_clip.prove.tasks import print_tasks
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.backends.theory import Module
    from sonnx_clip.prove.snapshot import Why3

_RESOURCES = {"Z3": 15_000_000, "cvc5": 250_000}  # of each prover for a question: some seconds


def proved_by_all(module: Module, why3: Why3, folder: Path) -> frozenset[str]:
    """The goals of a module that every prover proves; UserError if Why3 rejects the module."""
    file = folder / "equal.mlw"
    file.write_text(module.text, encoding="utf-8")
    running = Running()
    # Each prover is asked only what those before it have proved.
    proved = {goal.name for goal in module.goals}
    for prover in find_provers():
        # In steps of the prover, so that the answer is the same on every machine.
        limits = ProverLimits(_RESOURCES[prover.name])
        printed = print_tasks(why3, prover, (str(file),))[str(file)]
        if printed.complaint:
            raise UserError(f"Why3 rejects the task of a mutant: {printed.complaint}", str(file))
        tasks = {goal: task for (_, goal), task in printed.tasks.items()}
        proved &= tasks.keys()
        for goal in sorted(proved):
            task = tasks[goal]
            reply = ask(prover, task.text, task.digest, limits, folder, running)
            if reply.verdict != "valid":
                proved.remove(goal)
    return frozenset(proved)
