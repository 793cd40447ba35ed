"""A graph that a runtime was asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.contexts.candidates import Candidates, distinct, exactly
from sonnx_clip.contexts.meaning import of_stage, of_term, rearranged
from sonnx_clip.runtimes.calls import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.contexts.context import Context
    from sonnx_clip.contexts.context_plan import AskedGraph
    from sonnx_clip.contexts.graphs import Graphs
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_runs import ChainOutcome


@dataclass(frozen=True)
class ContextMeaning:
    """What the composed meanings of a context allow.

    Args:
        x: the entries of X, shape (entries,), or (graphs, entries).
        right: the results, of as many graphs.
        origin: the entry of X that each entry of the result comes from, shape (entries,).
    """

    x: Array
    right: Candidates
    origin: Array

    def at(self, graph: int) -> ContextMeaning:
        """That of one graph of several."""
        # Where entries go does not depend on the bounds: the origin is that of every graph.
        return ContextMeaning(self.x[graph], self.right.at(graph), self.origin)

    def __or__(self, other: ContextMeaning) -> ContextMeaning:
        """What this one or another one of the same entries allows; the expected results are of this one."""
        rows = (*self.right.rows, *other.right.rows)
        # Where one of both leaves the result open, any is right.
        right = distinct(rows, self.right.defined & other.right.defined)
        return ContextMeaning(self.x, right, self.origin)

    def x_of(self, entry: int) -> int:
        """The entry of X that an entry of the result comes from."""
        return int(self.origin[entry])


@dataclass
class GraphAnswer:
    """A graph that was asked, and what came of it.

    Args:
        asked: its bounds and operator set.
        models: the whole and its parts.
        meaning: its X, and what is right.
        whole: the whole graph, as the runtime opens it by default.
        parts: its nodes, one at a time.
        plain: the whole graph without optimisation.
        parts_optimised: its nodes one at a time, with optimisation.
        with_inputs: the whole graph with its bounds as inputs.
    """

    asked: AskedGraph
    models: Graphs
    meaning: ContextMeaning
    whole: ChainOutcome
    parts: ChainOutcome
    plain: ChainOutcome | None = None
    parts_optimised: ChainOutcome | None = None
    with_inputs: ChainOutcome | None = None

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
        return ~self.meaning.right.allow(self.got)


@dataclass(frozen=True)
class Replacement:
    """A term in place of the steps from `first` to before `end`, with its constants by name."""

    first: int
    end: int
    term: Expr
    constants: Mapping[str, Array]


def meaning_of_graphs(
    context: Context,
    etype: str,
    bounds: Mapping[str, Array],
    x: Array,
    replacement: Replacement | None = None,
) -> ContextMeaning:
    """The meaning of a context, perhaps with some of its steps replaced.

    Args:
        context: the context.
        etype: the element type of X.
        bounds: of a shape that broadcasts to that of X.
        x: X, shape (entries,), or (graphs, entries) with bounds of shape (graphs, 1).
        replacement: what an optimiser may have made of some steps.
    """
    stages = context.stages(etype)
    results = exactly(x)
    places = np.arange(x.shape[-1])
    for place, stage in enumerate(stages):
        if replacement is None or not replacement.first <= place < replacement.end:
            results = of_stage(stage, results, bounds)
            # An entry that is added comes from no X: any place does for it.
            if stage.step.moves is not None:
                places = rearranged(stage, places, places[0])
        elif place == replacement.first:
            # Once, in the place of all the steps that it replaces.
            constants = replacement.constants
            results = of_term(replacement.term, results, constants, stage.given.etype)
    origin = places
    if context.entry.fork:
        # The first step keeps its second consumer, whatever becomes of the others.
        results = _side_by_side(results, of_stage(stages[0], exactly(x), bounds))
        origin = np.concatenate([origin, np.arange(x.shape[-1])])
    return ContextMeaning(x, results, origin)


def _side_by_side(left: Candidates, right: Candidates) -> Candidates:
    """The results of two nodes, one after the other; entries are judged one by one."""
    # The side with fewer rows repeats its last one: a set may hold a result twice.
    count = max(len(left.rows), len(right.rows))
    rows = []
    for place in range(count):
        left_row = left.rows[min(place, len(left.rows) - 1)]
        right_row = right.rows[min(place, len(right.rows) - 1)]
        rows.append(np.concatenate([left_row, right_row], axis=-1))
    defined = np.concatenate([left.defined, right.defined], axis=-1)
    return Candidates(tuple(rows), defined)
