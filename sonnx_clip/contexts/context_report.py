"""What a runtime makes of a context, as it is stored."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from sonnx_clip.rewrites.decide import Shown
from sonnx_clip.root.stored import Stored

ContextVerdict: TypeAlias = Literal[
    "crashed", "invalid", "context", "neighbour", "alone", "refused", "conforms"
]
"""The verdict on a runtime in a context, the worst first.

- ``crashed``: the runtime died or hung.
- ``invalid``: it gave something else than a result or a refusal: an optimiser wrote a model that is not
  valid, or has other inputs; a result had another shape or type.
- ``context``: the whole graph gives a wrong result which its nodes, run one at a time, do not give.
- ``neighbour``: a node other than Clip is wrong by itself, alone or alone with optimisation.
- ``alone``: Clip is wrong by itself, as the verdict on one node says, or the runtime of an optimiser is
  without it.
- ``refused``: it was served for no bounds.
"""
CONTEXT_VERDICTS: tuple[ContextVerdict, ...] = get_args(ContextVerdict)
FAILING_IN_CONTEXT: frozenset[ContextVerdict] = frozenset(
    {"crashed", "invalid", "context", "neighbour"}
)
"""The verdicts that make a run fail; ``alone`` is counted in the verdict on one node."""


class ContextDeviation(Stored):
    """Wrong results of one kind and of one cause, and the first of them.

    Args:
        kind: see `ContextVerdict`.
        asked: the graph with its bounds: ``Relu → Clip(nan, 1)``.
        bounds_bits: the bits of the bounds, by their names in spec/contexts.yaml.
        opset: the operator set.
        bounds_as: how the model has its bounds.
        x: the entry of X.
        got: of the whole graph.
        expected: of the composed meanings.
        one_by_one: of its nodes, run one at a time.
        plain: of the whole graph without optimisation; None if the runtime does not offer that.
        with_inputs: of the whole graph with the bounds as inputs; None where they cannot be.
        step: the step that is wrong by itself, where one is.
        pairs: for how many bounds and operator sets it was seen.
        results: how many results were wrong.
        without: optimisers; each alone, if left out, makes all of these results right.
        graph: the nodes that ran, if the runtime tells.
        rewrite: the id of a rewrite of spec/rewrites.yaml that gives every result of these graphs.
        legal_when: when that rewrite is legal, exactly.
        reproduce: Python that runs the whole graph on X, and prints the result.
    """

    kind: ContextVerdict
    asked: str
    bounds_bits: dict[str, str]
    opset: int
    bounds_as: str
    x: Shown
    got: Shown
    expected: Shown
    one_by_one: Shown
    plain: Shown | None = None
    with_inputs: Shown | None = None
    step: str = ""
    pairs: int
    results: int
    without: tuple[str, ...] = ()
    graph: str = ""
    rewrite: str = ""
    legal_when: str = ""
    reproduce: str = ""


Way: TypeAlias = Literal[
    "crashed", "invalid", "optimised", "not optimised", "whole", "one node", "always"
]
"""How a graph gives no result: see `ContextRefusal`."""


class ContextRefusal(Stored):
    """Graphs that gave no result in one way: how many, and the words on the first.

    Args:
        when: ``invalid`` and ``crashed`` as verdicts; else a refusal: ``optimised`` if the graph runs without
            optimisation; ``not optimised`` if it runs with it alone; ``whole`` if its nodes run one by one;
            ``one node`` if it runs, but not one of its nodes alone; ``always``.
        graphs: how many.
        words: the runtime's own.
        asked: the first, with its bounds.
        opset: of the first.
    """

    when: Way
    graphs: int
    words: str
    asked: str
    opset: int


class ContextReport(Stored):
    """A context in one element type.

    Args:
        chain: its operators in order.
        graphs: how many were asked: bounds and operator sets. A runtime that fails for each of
            the first graphs (runtimes/first_graphs.py) is asked none; its one refusal says how.
        served: how many gave results.
        compared: results that were compared.
        opsets: the operator sets.
        alone: results that are wrong because Clip is, by itself, or the runtime of an optimiser.
        better: results that are right, although one node at a time gives a wrong one.
        runs: models that were run in all.
    """

    id: str
    title: str
    chain: str
    verdict: ContextVerdict
    graphs: int
    served: int
    compared: int
    opsets: tuple[int, ...] = ()
    alone: int = 0
    better: int = 0
    runs: int = 0
    deviations: tuple[ContextDeviation, ...] = ()
    refusals: tuple[ContextRefusal, ...] = ()

    @property
    def was_asked(self) -> bool:
        """Whether a graph of it was asked."""
        return self.graphs > 0
