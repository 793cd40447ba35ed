"""The runtime behind ``onnx:module:open``: a function that opens serialised ONNX models.

It takes bytes, and returns a function of the inputs of the model (arrays, in the order of the graph) that
returns the output, or a list or tuple of all outputs. Such a runtime is judged in every form of a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.runtimes.adapter import runtime_of_models
from sonnx_clip.runtimes.calls import failure_of
from sonnx_clip.runtimes.find_runtime import named, quoted, target_of
from sonnx_clip.runtimes.form_caller import form_function
from sonnx_clip.runtimes.model_forms import SYMBOLIC
from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.runtime import ClipFunction, ModelFunction, Runtime


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name such as ``onnx:module:open``; it raises as `find_runtime.named`, and a TypeError.

    Where it rejects the model whose X has no rank, each rank has a model, whose X has a symbolic shape.
    """
    opener, theirs = opened(name), f"opened({quoted(name)})"
    texts = f"from {__name__} import opened", theirs
    found = runtime_of_models(opener, named(opener.target)[1], texts)
    by_rank: set[str] = set()

    def open_(etype: str) -> ClipFunction:
        try:
            return found.open(etype)
        except Exception as error:
            if not failure_of(error).refusal:
                raise
            try:
                clip = opener.by_rank(etype)
            except Exception:  # noqa: BLE001 - it refuses both
                raise error from None
            by_rank.add(etype)
            return clip

    def call(etype: str) -> str:
        if etype in by_rank:
            return f'{theirs}.by_rank("{etype}")({CLIP_NODE.call})'
        return found.call(etype)

    return replace(found, open=open_, call=call)


@dataclass(frozen=True)
class Opener:
    """Opens a model by a function of a user's, as an `OpenModel` does; `target` is its name."""

    theirs: Callable[[bytes], Any]
    target: str

    def __call__(self, model: bytes) -> ModelFunction:
        """A function of the inputs of a serialised model, by their names."""
        function = self.theirs(model)
        kind = None if callable(function) else type(function).__name__

        def run(inputs: Mapping[str, Any]) -> Any:
            if kind is not None:  # a mistake of every call, and no refusal of the model
                what = f"{self.target} returned {kind}"
                raise AssertionError(f"{what}, not a function of the inputs of the model")
            found = function(*inputs.values())
            # Clip has one output; what else is returned is judged as it is.
            return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found

        return run

    def by_rank(self, etype: str) -> ClipFunction:
        """A function (x, min, max) by models with a symbolic shape of X, whose rank is that of the call.

        One of rank 1 is opened at once: what this raises is the refusal of the element type.
        """
        clip, two = form_function(self, SYMBOLIC, etype), np.zeros(2, numpy_type(etype))
        clip(two, two[0, ...], two[1, ...])
        return clip


def opened(name: str) -> Opener:
    """How the runtime of a name opens a model, for `open_named` and reproducers."""
    _, target = target_of(name, "onnx")
    their, _ = named(target)
    if not callable(their):
        raise TypeError(f"{target} is no function")
    return Opener(their, target)
