"""The runtime behind ``onnx:module:open``: a function that opens serialised ONNX models.

It takes bytes, and returns a function of the inputs of the model (arrays, in the order of the graph) that
returns the output, or a list or tuple of all outputs. Such a runtime is judged in every form of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.runtimes.find_runtime import named, quoted, split_name
from sonnx_clip.runtimes.models import runtime_of_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.runtime import ModelFunction, OpenModel, Runtime


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name such as ``onnx:module:open``; it raises as `named`, and a TypeError."""
    version = named(split_name(name)[2])[1]
    return runtime_of_models(
        opened(name), version, f"from {__name__} import opened", f"opened({quoted(name)})"
    )


def opened(name: str) -> OpenModel:
    """How the runtime of a name opens a model, for `open_named` and reproducers."""
    target = split_name(name)[2]
    theirs, _ = named(target)
    if not callable(theirs):
        raise TypeError(f"{target} is no function")

    def open_model(model: bytes) -> ModelFunction:
        function = theirs(model)
        kind = None if callable(function) else type(function).__name__

        def run(inputs: Mapping[str, Any]) -> Any:
            if kind is not None:  # a mistake of every call, and no refusal of the model
                what = f"{target} returned {kind}"
                raise AssertionError(f"{what}, not a function of the inputs of the model")
            found = function(*inputs.values())
            # Clip has one output; what else is returned is judged as it is.
            return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found

        return run

    return open_model
