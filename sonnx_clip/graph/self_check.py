"""A model run before and after normalise: equal bits, or where they differ first, or why nothing was run.

The runs are those of `self_check_runs`, in a process of their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sonnx_clip.graph.declared_tensors import shown
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto

SECONDS = 120.0
NOT_KNOWN = "whether a runtime gives equal results before and after was not tried"


class SelfCheckOutcome(StrEnum):
    """How the comparison ended."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_RUN = "not run"
    SWITCHED_OFF = "switched off"
    UNCHANGED = "nothing changed"


@dataclass(frozen=True)
class SelfCheck:
    """What the comparison found.

    Attributes:
        outcome: how it ended.
        runs: by which runtimes, at which levels of optimisation, on how many inputs, for people.
        what: where the first difference is, or why nothing was run.
        lost: why a runtime that runs the model does not run the result; None where it does.
    """

    outcome: SelfCheckOutcome
    runs: tuple[str, ...] = ()
    what: str = ""
    lost: str | None = None

    @property
    def decided(self) -> bool:
        """The models were compared, or it was the user who did without; and no runtime was lost."""
        return self.outcome is not SelfCheckOutcome.NOT_RUN and self.lost is None

    def lines(self) -> list[str]:
        """For people."""
        if self.outcome is SelfCheckOutcome.EQUAL:
            found = [f"self-check: equal bits by {'; '.join(self.runs)}"]
        elif self.outcome is SelfCheckOutcome.DIFFERENT:
            found = [f"self-check: the result differs: {self.what}"]
        elif self.outcome is SelfCheckOutcome.UNCHANGED:
            found = []
        else:
            reason = f": {self.what}" if self.what else " (--no-self-check)"
            found = [f"self-check: {self.outcome}{reason}; not known: {NOT_KNOWN}"]
        return found + ([f"self-check: {self.lost}"] if self.lost else [])


OFF = SelfCheck(SelfCheckOutcome.SWITCHED_OFF)
UNCHANGED = SelfCheck(SelfCheckOutcome.UNCHANGED)


def self_check(
    before: ModelProto,
    after: ModelProto,
    path: Path,
    sizes: Mapping[str, Sequence[int]] | None = None,
    seconds: float = SECONDS,
) -> SelfCheck:
    """Run two models on the same inputs and compare every bit of their outputs.

    Args:
        before: the model that was read; data that `skim` passed over is read from its file.
        after: the result, which may refer to data of the same file.
        path: the file, in whose folder external data lies.
        sizes: shapes of inputs whose sizes the model leaves open.
        seconds: how long this may take.
    """
    done = run_isolated(_compared, before, after, path, dict(sizes or {}), seconds=seconds)
    if done.failure is not None:
        return SelfCheck(SelfCheckOutcome.NOT_RUN, what=shown(done.failure))
    found = json.loads(done.result)
    return SelfCheck(
        SelfCheckOutcome(found["outcome"]),
        tuple(map(shown, found["runs"])),
        shown(found["what"]),
        None if found["lost"] is None else shown(found["lost"]),
    )


def _compared(before: ModelProto, after: ModelProto, path: Path, sizes: dict[str, Sequence[int]]) -> bytes:
    # Runtimes are heavy, and only the process that runs them loads them.
    from sonnx_clip.graph.self_check_runs import compare

    return json.dumps(compare(before, after, path, sizes)).encode("ascii")
