"""A graph that a runtime was asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.contexts.meaning import Candidates, exactly, of_stage
from sonnx_clip.runtimes.calls import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.contexts.graphs import Graphs
    from sonnx_clip.contexts.model import Context
    from sonnx_clip.contexts.plan import Asked
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_runs import Outcome


@dataclass
class Answer:
    """A graph that was asked, and what came of it.

    Args:
        asked: its bounds and operator set.
        models: the whole and its parts.
        x: the entries of X, flat.
        origin: for each entry of the result, the entry of X that it comes from.
        right: what the composed meanings allow.
        whole: the whole graph, as the runtime opens it by default.
        parts: its nodes, one at a time.
        plain: the whole graph without optimisation.
        parts_optimised: its nodes one at a time, with optimisation.
        with_inputs: the whole graph with its bounds as inputs.
    """

    asked: Asked
    models: Graphs
    x: Array
    origin: Array
    right: Candidates
    whole: Outcome
    parts: Outcome
    plain: Outcome | None = None
    parts_optimised: Outcome | None = None
    with_inputs: Outcome | None = None

    @property
    def is_served(self) -> bool:
        """Whether the whole graph gave a result."""
        return self.whole.failure is None

    @property
    def got(self) -> Array:
        """The result of the whole graph."""
        assert not isinstance(self.whole.last, Failure)
        return self.whole.last

    @property
    def wrong(self) -> Array:
        """Which entries of the whole graph's result are wrong."""
        return ~self.right.allow(self.got)


def meaning_of_graph(
    context: Context, etype: str, bounds: Mapping[str, Array], x: Array
) -> tuple[Candidates, Array]:
    """What the steps may give for X, and the entry of X from which each entry of the result comes."""
    found = exactly(x)
    origin = exactly(np.arange(len(x)))
    after_first: Candidates | None = None
    for stage in context.stages(etype):
        found = of_stage(stage, found, bounds)
        if stage.step.moves is not None:
            origin = of_stage(stage, origin, bounds)
        after_first = after_first or found
    places = origin.expected
    if context.entry.fork:
        assert after_first is not None
        found = _side_by_side(found, after_first)
        places = np.concatenate([places, np.arange(len(x))])
    return found, places


def _side_by_side(one: Candidates, other: Candidates) -> Candidates:
    """The results of two nodes, one after the other; entries are judged one by one."""
    count = max(len(one.rows), len(other.rows))
    rows = []
    for place in range(count):
        left = one.rows[min(place, len(one.rows) - 1)]
        right = other.rows[min(place, len(other.rows) - 1)]
        rows.append(np.concatenate([left, right]))
    return Candidates(tuple(rows), np.concatenate([one.defined, other.defined]))
