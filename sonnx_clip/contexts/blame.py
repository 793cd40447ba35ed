"""Who is to blame for each wrong result of a graph: Clip alone, another node alone, or no node alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.contexts.candidates import alike, exactly
from sonnx_clip.contexts.meaning import of_stage, rearranged
from sonnx_clip.runtimes.calls import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.contexts.answer import GraphAnswer
    from sonnx_clip.contexts.context import Context
    from sonnx_clip.contexts.context_report import ContextVerdict
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_runs import ChainOutcome

_NOBODY = -1


@dataclass(frozen=True)
class Wrong:
    """Wrong results of a graph with one to blame.

    Args:
        answer: the graph.
        kind: ``alone`` if Clip alone gives them, or the runtime of an optimiser without it; ``neighbour`` if
            another node does; else ``context``.
        step: the step that gives them alone; empty in a context.
        entries: which entries of the result, shape (n,).
    """

    answer: GraphAnswer
    kind: ContextVerdict
    step: str
    entries: Array

    @property
    def count(self) -> int:
        """How many results."""
        return int(self.entries.sum())

    @property
    def first(self) -> int:
        """The first of these entries."""
        return int(np.flatnonzero(self.entries)[0])

    @property
    def considered(self) -> Array:
        """The entries that a cause must explain: these, and those that are right."""
        return self.entries | ~self.answer.wrong


def wrong_results(
    context: Context,
    answer: GraphAnswer,
    etype: str,
    *,
    of_optimiser: bool,
) -> Iterator[Wrong]:
    """The wrong results of a graph, by who is to blame.

    Nodes that are wrong one at a time without an optimiser are no fault of that, but of its runtime.
    """
    # Entry by entry: one graph can be wrong for two reasons, a neighbour that loses a NaN and an
    # optimiser that merges zeros. Nodes without optimisation come first, since what they give wrong
    # is no fault of an optimiser.
    left = answer.wrong
    for outcome in (answer.parts, answer.parts_optimised):
        if outcome is None or isinstance(outcome.last, Failure) or not left.any():
            continue
        # A node that gives another wrong result than the whole does not explain it. The sign of a
        # zero may differ.
        same_value = alike(outcome.last, answer.got) | (outcome.last == answer.got)
        blamed = _wrong_steps(context, answer, outcome, etype)
        for place in np.unique(blamed[left & same_value]):
            if place == _NOBODY:
                continue
            step = context.steps[place]
            if outcome is answer.parts_optimised and len(step.op_types) > 1:
                continue  # an optimiser has joined nodes of one step: none of them is wrong alone
            entries = left & same_value & (blamed == place)
            is_of_its_runtime = of_optimiser and outcome is answer.parts
            is_alone = step.op_type == "Clip" or is_of_its_runtime
            kind: ContextVerdict = "alone" if is_alone else "neighbour"
            yield Wrong(answer, kind, step.id, entries)
            left = left & ~entries
    if left.any():
        yield Wrong(answer, "context", "", left)


def _wrong_steps(context: Context, answer: GraphAnswer, outcome: ChainOutcome, etype: str) -> Array:
    """For each entry of the result, the first node that is wrong for its actual input; -1 if none is."""
    given = answer.meaning.x
    blamed = np.full(len(given), _NOBODY)
    after_first = blamed
    readings = answer.asked.bounds.readings()
    # Where the result of the first step is used twice, a last part joins both, and has no stage.
    results = zip(context.stages(etype), outcome.results, strict=False)
    for place, (stage, result) in enumerate(results):
        assert not isinstance(result, Failure)
        # Wrong for what the node was given, not for what it should have been given: so a mistake is
        # blamed on the node that makes it, and not on those that hand it on.
        wrong = np.ones(len(result), bool)
        for bounds in readings:
            right = of_stage(stage, exactly(given), bounds)
            wrong &= ~right.allow(result)
        if stage.step.moves is not None:
            blamed = rearranged(stage, blamed, _NOBODY)
        is_first_mistake = wrong & (blamed == _NOBODY)
        blamed = np.where(is_first_mistake, place, blamed)
        given = result
        if place == 0:
            after_first = blamed
    if context.entry.fork:
        return np.concatenate([blamed, after_first])
    return blamed
