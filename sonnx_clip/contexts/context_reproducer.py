"""Python that repeats what a graph gave, in a new process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.contexts.graphs import array_text
from sonnx_clip.root.dtypes import bits_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.contexts.graphs import Model
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_runs import ModelWorker


def graph_reproducer(
    worker: ModelWorker,
    model: Model,
    feeds: Mapping[str, Array],
    entry: int,
) -> str:
    """Lines of Python that run a model, and print the bits of an entry of its result; empty if none can."""
    # By whether they optimise; a wrong result of the whole is one with optimisation.
    if True not in worker.texts:
        return ""
    set_up, result = worker.texts[True]
    lines = ["import numpy as np, onnx", worker.imports, *model.statements()]
    if set_up:
        lines.append(set_up)
    inputs = ", ".join(f'"{name}": {array_text(feeds[name])}' for name in model.inputs)
    lines.append(f"d = {{{inputs}}}")
    lines.append(f"y = {result}")
    # The bits, too: a decimal shows neither the sign of a NaN nor its payload.
    entries = "np.asarray(y).reshape(-1)"
    bits = f"{entries}.view(np.{bits_type(model.etype).name})"
    lines.append(f"print({entries}[{entry}], hex({bits}[{entry}]))")
    return "\n".join(lines)
