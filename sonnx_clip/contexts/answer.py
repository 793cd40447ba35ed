"""A graph that a runtime was asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.contexts.candidates import Candidates, exactly
from sonnx_clip.contexts.meaning import of_stage
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


@dataclass(frozen=True)
class Meaning:
    """What the composed meanings of a context allow.

    Args:
        right: the results, shape (graphs, entries).
        origin: the entry of X that each entry of the result comes from, shape (entries,).
    """

    right: Candidates
    origin: Array


def meaning_of_graphs(
    context: Context, etype: str, bounds: Mapping[str, Array], x: Array
) -> Meaning:
    """The meaning of a context for X of shape (graphs, entries), and bounds of shape (graphs, 1)."""
    results = exactly(x)
    places = exactly(np.arange(x.shape[-1]))
    after_first: Candidates | None = None
    for stage in context.stages(etype):
        results = of_stage(stage, results, bounds)
        if stage.step.moves is not None:
            places = of_stage(stage, places, bounds)
        after_first = after_first or results
    origin = places.expected
    if context.entry.fork:
        assert after_first is not None
        results = _side_by_side(results, after_first)
        origin = np.concatenate([origin, np.arange(x.shape[-1])])
    return Meaning(results, origin)


def _side_by_side(left: Candidates, right: Candidates) -> Candidates:
    """The results of two nodes, one after the other; entries are judged one by one."""
    count = max(len(left.rows), len(right.rows))
    rows = []
    for place in range(count):
        left_row = left.rows[min(place, len(left.rows) - 1)]
        right_row = right.rows[min(place, len(right.rows) - 1)]
        rows.append(np.concatenate([left_row, right_row], axis=-1))
    defined = np.concatenate([left.defined, right.defined], axis=-1)
    return Candidates(tuple(rows), defined)
