"""The first graphs that a runtime or an optimiser is asked: one that fails on each of them is asked no other.

An optimiser that hangs, crashes or writes gigabytes does so for every model. The first graphs are the same in
every process, so that a report does not depend on how contexts were distributed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, model_text
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, Chain, ModelRun
from sonnx_clip.runtimes.worker import RuntimeDiedError

if TYPE_CHECKING:
    from typing import Literal

    from sonnx_clip.runtimes.model_runs import ModelWorker

# Every element type of Clip has these operators.
_NODES = ("y = Identity (x)", "y = Clip (x)", "t = Min (x, x) y = Clip (t)")
SHOWN: Final = "Identity; Clip; Min → Clip"
"""The first graphs, for reports."""


@dataclass(frozen=True)
class FirstGraphs:
    """What came of the first graphs.

    Args:
        newest_opset: the newest operator set of the installed onnx that is served.
        failure: how each of them failed, if they all crashed, or all gave no usable result.
        words: of the first failure.
    """

    newest_opset: int
    failure: Literal["", "crashed", "invalid"] = ""
    words: str = ""


def ask_first_graphs(worker: ModelWorker, etype: str) -> FirstGraphs:
    """Run the first graphs of an element type; a refusal is an answer, and no failure."""
    newest = _newest_served(worker)
    kinds = []
    reasons = []
    for nodes in _NODES:
        kind_of_failure, reason = _failure(worker, nodes, etype)
        kinds.append(kind_of_failure)
        reasons.append(reason)
    # One graph that is served, or refused, is enough: then contexts are worth asking.
    for kind in ("crashed", "invalid"):
        if set(kinds) == {kind}:
            return FirstGraphs(newest, kind, reasons[0])
    return FirstGraphs(newest)


def _failure(worker: ModelWorker, nodes: str, etype: str) -> tuple[str, str]:
    """How a graph fails, and the words: both are empty for a result and for a refusal."""
    worker.forget_deaths()  # a runtime that hangs on each of them remains usable
    try:
        (outcome,) = worker.run([_chain(nodes, etype, FIRST_OPSET, OPTIMISED)])
    except RuntimeDiedError as error:
        return "crashed", str(error)
    last = outcome.last
    if not isinstance(last, Failure):
        return "", ""
    if outcome.died:
        return "crashed", last.words
    return ("", "") if last.refusal else ("invalid", last.words)


def _newest_served(worker: ModelWorker) -> int:
    """The newest operator set of the installed onnx that a runtime serves, tried with an identity."""
    from sonnx_clip.runtimes.opsets import newest_opset

    # Not optimised: an optimiser that fails on every graph says nothing of the runtime behind it.
    how = PLAIN if worker.has_plain else OPTIMISED
    # Downwards, because the newest that is served is mostly one of the last.
    for opset in range(newest_opset(), FIRST_OPSET, -1):
        # float32 has been in Identity from the first operator set on.
        (outcome,) = worker.run([_chain(_NODES[0], "float32", opset, how)])
        if outcome.failure is None:
            return opset
    return FIRST_OPSET


def _chain(nodes: str, etype: str, opset: int, how: str) -> Chain:
    """A graph of one entry."""
    import onnx.parser

    text = model_text(etype, opset, {"x": "[1]"}, nodes)
    model = onnx.parser.parse_model(text).SerializeToString()
    run = ModelRun(model, ("x",), "y", etype, (1,), how)
    return Chain((run,), {"x": np.zeros(1, numpy_type(etype))})
